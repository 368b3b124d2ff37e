// SPDX-License-Identifier: Apache-2.0
// The manual pages and the shell completions know what the program's help knows, and are well-formed.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>

#include "bench/child.hpp"

namespace sukima::cli::bench {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

const fs::path source = SUKIMA_SOURCE;

std::string slurp(const fs::path& file) {
  std::ifstream stream(file);
  EXPECT_TRUE(stream) << file;
  return {std::istreambuf_iterator<char>(stream), {}};
}

child_result run(std::vector<std::string> arguments) {
  return run_child({.arguments = std::move(arguments), .environment = {}, .input = {}, .limit = 50s});
}

std::set<std::string> matches(const std::string& text, const std::string& pattern) {
  const std::regex regex(pattern);
  std::set<std::string> found;
  for (std::sregex_iterator i(text.begin(), text.end(), regex), end; i != end; ++i) found.insert((*i)[1]);
  return found;
}

/// The long options that a help text describes, without dashes.
std::set<std::string> options_in_help(const std::vector<std::string>& command) {
  std::vector<std::string> arguments{SUKIMA_PROGRAM};
  arguments.insert(arguments.end(), command.begin(), command.end());
  arguments.emplace_back("--help");
  std::set<std::string> options;
  std::istringstream lines(run(arguments).output);
  for (std::string line; std::getline(lines, line);) {
    // Only the lines that start an option: examples mention some, too.
    if (!line.starts_with("  -")) continue;
    for (const std::string& option : matches(line.substr(0, 30), "--([a-z-]+)")) options.insert(option);
  }
  return options;
}

std::set<std::string> commands_in_help() {
  const std::string help = run({SUKIMA_PROGRAM, "--help"}).output;
  return matches(help.substr(help.find("Subcommands:")), "\n  ([a-z]+) ");
}

/// The options of a manual page: those whose entries start with them.
std::set<std::string> options_in_manual(const std::string& page) {
  std::string text = slurp(source / "docs" / "man" / page);
  text = std::regex_replace(text, std::regex(R"(\\-)"), "-");
  std::set<std::string> options;
  for (const std::string& line : matches(text, "\\.TP\n(\\.B[^\n]*--[^\n]*)")) {
    for (const std::string& option : matches(line, "--([a-z-]+)")) options.insert(option);
  }
  return options;
}

std::set<std::string> joined(std::set<std::string> some, const std::set<std::string>& others) {
  some.insert(others.begin(), others.end());
  return some;
}

TEST(manual, describes_the_options_that_the_help_has) {
  EXPECT_EQ(options_in_manual("sukima.1"), options_in_help({}));
  for (const std::string& command : commands_in_help()) {
    EXPECT_EQ(options_in_manual("sukima-" + command + ".1"), options_in_help({command}));
    EXPECT_NE(slurp(source / "docs/man/sukima.1").find("\n.TP\n.B " + command + "\n"), std::string::npos)
        << command;
  }
}

TEST(manual, is_well_formed) {
  if (!fs::exists("/usr/bin/groff")) GTEST_SKIP() << "groff is not here";
  for (const auto& page : fs::directory_iterator(source / "docs" / "man")) {
    const child_result result =
        run({"/usr/bin/groff", "-man", "-Tutf8", "-ww", "-rCHECKSTYLE=3", page.path()});
    EXPECT_EQ(result.exit_code, 0) << page.path();
    EXPECT_EQ(result.errors, "") << page.path();
    EXPECT_GT(result.output.size(), 500U) << page.path();
  }
}

class completion : public testing::TestWithParam<const char*> {};

TEST_P(completion, knows_the_options_and_commands_that_the_help_has) {
  const std::string file = GetParam();
  const std::string text = slurp(source / "completions" / file);
  std::set<std::string> expected = options_in_help({});
  for (const std::string& command : commands_in_help()) {
    expected = joined(expected, options_in_help({command}));
    EXPECT_TRUE(std::regex_search(text, std::regex("\\b" + command + "\\b"))) << command;
  }
  const std::string code = std::regex_replace(text, std::regex("sukima bench --list"), "");
  EXPECT_EQ(
      matches(code, file.ends_with(".fish") ? "complete -c sukima[^\n]* -l ([a-z-]+)" : "--([a-z][a-z-]*)"),
      expected);
}

INSTANTIATE_TEST_SUITE_P(of, completion, testing::Values("sukima.bash", "_sukima", "sukima.fish"),
                         [](const auto& instance) {
                           const std::string name = instance.param;
                           return name == "_sukima" ? "zsh" : name.substr(name.find('.') + 1);
                         });

/// What bash completes the last word of a line to, on a machine with one benchmark program.
std::set<std::string> completed(const std::string& words) {
  const fs::path file = source / "completions" / "sukima.bash";
  const std::string folder = fs::path(SUKIMA_PROGRAM).parent_path();
  const std::string script =
      "PATH='" + folder + "':$PATH; export SUKIMA_BENCH_DIR=/; source '" + file.string() + "'; COMP_WORDS=(" +
      words + "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _sukima; " + "printf '%s\\n' \"${COMPREPLY[@]}\"";
  const child_result result = run({"/bin/bash", "-c", script});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(result.errors, "");
  std::istringstream lines(result.output);
  return {std::istream_iterator<std::string>(lines), {}};
}

using words = std::set<std::string>;

TEST(bash_completion, completes_what_it_should) {
  EXPECT_EQ(completed("sukima b"), words{"bench"});
  EXPECT_EQ(completed("sukima bench --wo"), words{"--workers"});
  EXPECT_EQ(completed("sukima bench --re"), words{"--repetitions"});
  EXPECT_EQ(completed("sukima bench a"), words{"all"});
  EXPECT_EQ(completed("sukima bench --compiler b"), (words{"best", "both"}));
  EXPECT_EQ(completed("sukima bench fib --scenario al"), words{"alone"});
  EXPECT_EQ(completed("sukima bench fib --scenario alone,ov"), words{"alone,overworked"});
  EXPECT_EQ(completed("sukima bench fib --peers tbb,op"), (words{"tbb,openmp-clang", "tbb,openmp-gcc"}));
  EXPECT_EQ(completed("sukima bench --peers s"), words{}) << "neither sequential nor sukima is a peer";
  EXPECT_EQ(completed("sukima bench --size x"), words{});
}

TEST(completion_files, are_accepted_by_their_shells) {
  EXPECT_EQ(run({"/bin/bash", "-n", source / "completions" / "sukima.bash"}).errors, "");
  if (fs::exists("/usr/bin/zsh")) {
    EXPECT_EQ(run({"/usr/bin/zsh", "-n", source / "completions" / "_sukima"}).errors, "");
  }
  if (fs::exists("/usr/bin/fish")) {
    EXPECT_EQ(run({"/usr/bin/fish", "-n", source / "completions" / "sukima.fish"}).errors, "");
  }
}

}  // namespace
}  // namespace sukima::cli::bench
