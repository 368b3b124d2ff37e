// SPDX-License-Identifier: Apache-2.0
// Tables, JSON lines, CSV and files.
#include "bench/report.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "bench/compiler_note.hpp"
#include "shared/console.hpp"

namespace sukima::cli::bench {
namespace {

summary make_summary(const std::string& system, int workers, double seconds) {
  summary s{};
  s.task.benchmark = "fib";
  s.task.size = 40;
  s.task.system = system;
  s.task.compiler = "gcc";
  s.task.workers = workers;
  s.task.scenario = "alone";
  s.repetitions = 5;
  s.seconds = {0.9 * seconds, seconds, 1.1 * seconds};
  s.slowest = 1.25 * seconds;
  s.cpu_seconds = seconds * workers;
  s.ratio = seconds;
  s.cpu_ratio = seconds * workers;
  return s;
}

std::string slurp(const std::filesystem::path& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

class temporary_folder {
 public:
  temporary_folder() {
    std::string name = (std::filesystem::temp_directory_path() / "sukima-report-XXXXXX").string();
    path = mkdtemp(name.data());
  }
  ~temporary_folder() { std::filesystem::remove_all(path); }
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;
  std::filesystem::path path;
};

TEST(json, has_the_documented_fields_in_order) {
  summary s = make_summary("sukima", 2, 0.123456789);
  s.ratio = 1.0 / 3;
  s.more["bytes"] = 4096;
  s.paired["tbb"] = {0.5, 0.4, 0.6};
  EXPECT_EQ(
      json_line(s),
      R"({"benchmark":"fib","size":40,"system":"sukima","compiler":"gcc","scenario":"alone","workers":2,)"
      R"("repetitions":5,"seconds":{"q1":0.111111,"median":0.123457,"q3":0.135802,"max":0.154321},)"
      R"("cpu_seconds":0.246914,"ratio":0.333333,"cpu_ratio":0.246914,"bytes":4096,)"
      R"("paired":{"tbb":{"ratio":0.5,"low":0.4,"high":0.6}}})");
}

TEST(json, says_null_for_what_is_not_known) {
  summary s = make_summary("lace", 1, 1);
  s.task.size.reset();
  s.task.compiler.clear();
  s.ratio.reset();
  s.cpu_ratio.reset();
  const auto json = nlohmann::json::parse(json_line(s));
  EXPECT_TRUE(json.at("size").is_null());
  EXPECT_TRUE(json.at("compiler").is_null());
  EXPECT_TRUE(json.at("ratio").is_null());
  EXPECT_TRUE(json.at("cpu_ratio").is_null());
  EXPECT_FALSE(json.contains("paired"));
}

TEST(json, does_not_let_a_program_replace_its_own_fields) {
  summary s = make_summary("lace", 1, 1);
  s.more["workers"] = 99;
  EXPECT_EQ(nlohmann::json::parse(json_line(s)).at("workers"), 1);
}

TEST(table, is_aligned_and_marks_the_best_peer) {
  summary peer = make_summary("tbb", 1, 12.5);
  peer.best_peer = true;
  peer.own_ratio = 0.08;
  const std::vector<summary> figures{make_summary("sequential", 1, 1), make_summary("sukima", 1, 1.25), peer};
  EXPECT_EQ(table_text(figures, {}),
            "fib, size 40, alone (nothing else runs on the machine)\n"
            "  system            workers  median s          [q1 - q3]  / sequential  sukima / it   CPU s  "
            "CPU / seq.\n"
            "  sequential (gcc)        1     1.000    [0.900 - 1.100]          1.00            -   1.000     "
            "   1.00\n"
            "  sukima (gcc)            1     1.250    [1.125 - 1.375]          1.25            -   1.250     "
            "   1.25\n"
            "* tbb (gcc)               1    12.500  [11.250 - 13.750]         12.50         0.08  12.500     "
            "  12.50\n");
}

TEST(table, chooses_a_unit_that_shows_digits) {
  const auto unit_of = [](double seconds) {
    const std::string text = table_text(std::vector<summary>{make_summary("sukima", 1, seconds)}, {});
    const std::size_t start = text.find("median ") + 7;
    return text.substr(start, text.find(' ', start) - start);
  };
  EXPECT_EQ(unit_of(3), "s");
  EXPECT_EQ(unit_of(0.2), "s");
  EXPECT_EQ(unit_of(0.05), "ms");
  EXPECT_EQ(unit_of(0.00005), "us");
  EXPECT_EQ(unit_of(1.5e-9), "ns");
  EXPECT_EQ(unit_of(0), "s");
}

TEST(table, is_one_for_each_benchmark_and_scenario) {
  summary busy = make_summary("sukima", 8, 1);
  busy.task.scenario = "overworked";
  summary other = make_summary("sukima", 1, 1);
  other.task.benchmark = "lu";
  const std::string text = table_text(std::vector<summary>{make_summary("sukima", 1, 1), busy, other}, {});
  EXPECT_NE(text.find("fib, size 40, alone"), std::string::npos);
  EXPECT_NE(text.find("\n\nfib, size 40, overworked (four times as many workers as CPUs)\n"),
            std::string::npos);
  EXPECT_NE(text.find("\n\nlu, size 40, alone"), std::string::npos);
}

TEST(table, shows_further_numbers_and_paired_ratios) {
  summary own = make_summary("sukima", 2, 1);
  own.more["bytes"] = 1024;
  own.paired["tbb"] = {0.5, 0.4, 0.6};
  own.paired["rayon"] = {0.9, 0.8, 1.0};
  summary rayon = make_summary("rayon", 2, 1);
  rayon.task.compiler = "rustc";
  const std::vector<summary> figures{own, make_summary("tbb", 2, 2), make_summary("tbb", 1, 2), rayon};
  const std::string text = table_text(figures, {.paired = true});
  EXPECT_NE(text.find("1024"), std::string::npos);
  EXPECT_NE(text.find("0.500 [0.400, 0.600]\n"), std::string::npos);
  EXPECT_NE(text.find("0.900 [0.800, 1.000]\n"), std::string::npos);
  EXPECT_EQ(text.find("0.500 [", text.find("0.500 [") + 1), std::string::npos) << "only with as many workers";
}

TEST(table, shows_the_slowest_repetitions_if_asked) {
  const std::vector<summary> figures{make_summary("sukima", 2, 1)};
  EXPECT_EQ(table_text(figures, {}).find("max / median"), std::string::npos);
  const std::string text = table_text(figures, {.slowest = true});
  EXPECT_NE(text.find("  max / median\n"), std::string::npos) << text;
  EXPECT_NE(text.find(" 1.25\n"), std::string::npos) << text;
}

TEST(table, is_coloured_only_if_asked) {
  const std::vector<summary> figures{make_summary("sukima", 1, 1)};
  EXPECT_EQ(table_text(figures, {}).find('\033'), std::string::npos);
  EXPECT_NE(table_text(figures, {.colour = true}).find("\033[1;32m"), std::string::npos);
}

TEST(csv, has_a_header_and_one_line_a_row) {
  summary with_bytes = make_summary("we,ird \"name\"", 2, 1);
  with_bytes.more["bytes"] = 4096;
  with_bytes.ratio.reset();
  const std::string text =
      csv_text(std::vector<summary>{make_summary("sukima", 1, 0.5), with_bytes}, {{"cpu", "Some CPU"}});
  EXPECT_EQ(
      text,
      "# cpu: Some CPU\n"
      "benchmark,size,system,compiler,scenario,workers,repetitions,seconds_q1,seconds_median,seconds_q3,"
      "cpu_seconds,ratio,bytes\n"
      "fib,40,sukima,gcc,alone,1,5,0.45,0.5,0.55,0.5,0.5,\n"
      "fib,40,\"we,ird \"\"name\"\"\",gcc,alone,2,5,0.9,1,1.1,2,,4096\n");
}

TEST(output_file, appears_whole_and_leaves_nothing_else) {
  const temporary_folder folder;
  const output_file file(folder.path / "x.csv");
  EXPECT_TRUE(std::filesystem::is_empty(folder.path))
      << "nothing is written before there is something to write";
  file.write("text\n");
  EXPECT_EQ(slurp(folder.path / "x.csv"), "text\n");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path), {}), 1);
}

TEST(output_file, that_cannot_be_is_refused_at_once) {
  const temporary_folder folder;
  EXPECT_THROW(output_file(folder.path / "missing" / "x.csv"), process::usage_error);
  EXPECT_THROW(output_file{folder.path}, process::usage_error);
}

TEST(machine, is_described_in_pairs) {
  EXPECT_EQ(lab::one_line({{"cpu", "Some CPU"}, {"kernel", "Linux 6"}}), "Some CPU; kernel Linux 6");
  const lab::machine_facts facts = lab::describe_machine();
  for (const char* name : {"cpu", "cpus", "memory", "kernel", "date"}) {
    EXPECT_TRUE(std::ranges::any_of(facts, [&](const auto& fact) { return fact.first == name; })) << name;
  }
}

TEST(usable_cpus, obeys_the_override_and_names_a_wrong_one) {
  setenv("SUKIMA_CPUS", "2.5", 1);
  EXPECT_EQ(lab::usable_cpus(), 3);
  setenv("SUKIMA_CPUS", "many", 1);
  EXPECT_THROW(lab::usable_cpus(), process::usage_error);
  unsetenv("SUKIMA_CPUS");
  EXPECT_GE(lab::usable_cpus(), 1);
}

TEST(compiler_version, is_read_from_what_compilers_write) {
  using namespace std::string_view_literals;
  constexpr auto comment =
      "GCC: (Debian 12.2.0-14+deb12u1) 12.2.0\0Debian clang version 19.1.7 (3~deb12u1)\0"
      "rustc version 1.85.0 (4d91de4e4 2025-02-17)\0"sv;
  EXPECT_EQ(version_in_comment(comment, "gcc"), "12.2.0");
  EXPECT_EQ(version_in_comment(comment, "clang"), "19.1.7");
  EXPECT_EQ(version_in_comment(comment, "rustc"), "1.85.0");
  EXPECT_EQ(version_in_comment(comment, ""), "");
  EXPECT_EQ(version_in_comment("GCC: (broken", "gcc"), "");
  EXPECT_EQ(version_in_comment("", "clang"), "");
}

TEST(compiler_version, of_this_very_program_is_its_compiler) {
#if defined(__clang__)
  EXPECT_EQ(compiler_version("/proc/self/exe", "clang").substr(0, 3), fmt::format("{}.", __clang_major__));
#else
  EXPECT_EQ(compiler_version("/proc/self/exe", "gcc").substr(0, 3), fmt::format("{}.", __GNUC__));
#endif
}

TEST(compiler_version, of_no_elf_file_is_empty) {
  EXPECT_EQ(compiler_version("/no/such/file", "gcc"), "");
  EXPECT_EQ(compiler_version("/etc/passwd", "gcc"), "");
  const temporary_folder folder;
  std::ofstream(folder.path / "cut") << slurp("/proc/self/exe").substr(0, 64);
  EXPECT_EQ(compiler_version(folder.path / "cut", "gcc"), "");
}

}  // namespace
}  // namespace sukima::cli::bench
