// SPDX-License-Identifier: Apache-2.0
// The program `sukima bench`: reports, choices, wrong programs and wrong requests.
#include "bench_command.hpp"

#include <algorithm>

#include "ended_process.hpp"

namespace sukima::cli::bench {
namespace {

TEST_F(bench_command, prints_one_json_object_for_each_row) {
  add_usual_programs();
  const process::child_result result = run(
      {"bench", "fib", "--json", "--scenario", "alone,overworked", "--repetitions", "3", "--workers", "1,2"});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  const auto rows = rows_of(result);
  EXPECT_EQ(rows.size(), lines_of(result.output).size());
  EXPECT_EQ(rows.size(), 11U);
  const nlohmann::json& row = rows.at("sukima 2 alone");
  EXPECT_EQ(row.at("benchmark"), "fib");
  EXPECT_EQ(row.at("size"), 40);
  EXPECT_EQ(row.at("repetitions"), 3);
  EXPECT_DOUBLE_EQ(row.at("seconds").at("q1"), 0.6);
  EXPECT_DOUBLE_EQ(row.at("seconds").at("median"), 0.6);
  EXPECT_DOUBLE_EQ(row.at("seconds").at("q3"), 0.6);
  EXPECT_DOUBLE_EQ(row.at("cpu_seconds"), 0.6);
  EXPECT_DOUBLE_EQ(row.at("ratio"), 1.2);
  EXPECT_DOUBLE_EQ(row.at("paired").at("tbb").at("ratio"), 0.5);
  EXPECT_DOUBLE_EQ(rows.at("tbb 8 overworked").at("ratio"), 2.4);
  EXPECT_DOUBLE_EQ(rows.at("sequential 1 overworked").at("ratio"), 1);
  EXPECT_EQ(rows.at("rayon 1 alone").at("compiler"), "rustc");
}

TEST_F(bench_command, calls_each_program_once_a_round_in_interleaved_order) {
  add_usual_programs();
  ASSERT_EQ(run({"bench", "fib", "--json", "--repetitions", "4", "--workers", "2", "--size", "30"}).exit_code,
            0);
  const std::vector<std::string> calls = log();
  ASSERT_EQ(calls.size(), 16U);
  std::vector<std::string> rounds;
  for (std::size_t round = 0; round < 4; ++round) {
    std::vector<std::string> one(calls.begin() + static_cast<long>(4 * round),
                                 calls.begin() + static_cast<long>(4 * round + 4));
    rounds.push_back(one[0] + one[1] + one[2]);
    std::sort(one.begin(), one.end());
    EXPECT_EQ(one, (std::vector<std::string>{"bench-rayon fib --size 30 --workers 2 --repetitions 1",
                                             "bench-sequential-gcc fib --size 30 --workers 1 --repetitions 1",
                                             "bench-sukima-gcc fib --size 30 --workers 2 --repetitions 1",
                                             "bench-tbb-gcc fib --size 30 --workers 2 --repetitions 1"}));
  }
  EXPECT_FALSE(rounds[0] == rounds[1] && rounds[1] == rounds[2] && rounds[2] == rounds[3]);
}

TEST_F(bench_command, prints_a_table_by_default) {
  add_usual_programs();
  const process::child_result result = run({"bench", "fib", "lu", "--repetitions", "2", "--verbose"});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_NE(result.output.find("kernel Linux"), std::string::npos);
  EXPECT_NE(result.output.find("fib, size 40, alone (nothing else runs on the machine)\n"),
            std::string::npos);
  EXPECT_NE(result.output.find("\nlu, size "), std::string::npos);
  EXPECT_NE(result.output.find("\n* rayon (rustc) "), std::string::npos);
  EXPECT_NE(result.output.find("0.500 [0.500, 0.500]"), std::string::npos);
  EXPECT_EQ(result.output.find('\033'), std::string::npos);
}

TEST_F(bench_command, says_once_which_peers_are_missing) {
  add_usual_programs();
  const process::child_result all = run({"bench", "fib", "lu", "--repetitions", "1"});
  EXPECT_EQ(all.exit_code, 0);
  EXPECT_EQ(lines_of(all.errors).size(), 1U) << all.errors;
  EXPECT_NE(all.errors.find("left out, because not installed: tascell, openmp-gcc, "), std::string::npos)
      << all.errors;
  const process::child_result some = run({"bench", "fib", "--repetitions", "1", "--peers", "tbb,chili"});
  EXPECT_EQ(some.exit_code, 0);
  EXPECT_NE(some.errors.find("left out, because not installed: chili\n"), std::string::npos) << some.errors;
  const process::child_result none = run({"bench", "fib", "--repetitions", "1", "--peers", "none", "--json"});
  EXPECT_EQ(none.errors, "");
  EXPECT_EQ(rows_of(none).size(), 3U);
}

TEST_F(bench_command, reports_a_wrong_result_and_prints_the_other_rows) {
  add_usual_programs();
  add_program("bench-tbb-gcc", "1.2", "answer 8");
  const process::child_result result =
      run({"bench", "fib", "--json", "--repetitions", "2", "--workers", "2"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(
      result.errors.find("sukima: fib by tbb (gcc) with 2 workers, alone: has the result '8', but sequential "
                         "has '7'\n"),
      std::string::npos)
      << result.errors;
  const auto rows = rows_of(result);
  EXPECT_EQ(rows.size(), 3U);
  EXPECT_FALSE(rows.contains("tbb 2 alone"));
}

struct broken_program {
  const char* name;
  const char* body;
  const char* complaint;
};

void PrintTo(const broken_program& program, std::ostream* out) { *out << program.body; }

class bench_command_with_broken_program : public bench_command,
                                          public testing::WithParamInterface<broken_program> {};

TEST_P(bench_command_with_broken_program, reports_it_and_prints_the_other_rows) {
  add_usual_programs();
  add_program("bench-tbb-gcc", "1.2", GetParam().body);
  const process::child_result result =
      run({"bench", "fib", "--json", "--repetitions", "2", "--workers", "2", "--peers", "tbb,rayon"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(lines_of(result.errors).size(), 1U) << result.errors;
  EXPECT_NE(result.errors.find("fib by tbb (gcc) with 2 workers, alone: "), std::string::npos);
  EXPECT_NE(result.errors.find(GetParam().complaint), std::string::npos) << result.errors;
  EXPECT_EQ(rows_of(result).size(), 3U);
  const std::vector<std::string> calls = log();
  EXPECT_EQ(
      std::count_if(calls.begin(), calls.end(), [](const auto& c) { return c.starts_with("bench-tbb"); }), 1);
}

INSTANTIATE_TEST_SUITE_P(
    all, bench_command_with_broken_program,
    testing::Values(broken_program{"crash", "kill -SEGV $$", "was killed by signal 11 (Segmentation fault)"},
                    broken_program{"garbage", "echo hello", "did not print the expected JSON line"},
                    broken_program{"silence", "true", "did not print the expected JSON line"},
                    broken_program{"failure", "echo 'out of luck' >&2; exit 3",
                                   "exit code 3; it printed: 'out of luck'"},
                    broken_program{"other_size", "size=39; answer 7", "ran size 39 instead of 40"}),
    [](const auto& instance) { return instance.param.name; });

TEST_F(bench_command, leaves_out_a_program_that_cannot_list_its_benchmarks) {
  add_usual_programs();
  std::ofstream(folder / "bin" / "bench-tbb-gcc") << "#!/bin/sh\nexit 9\n";
  const process::child_result result =
      run({"bench", "fib", "--json", "--repetitions", "1", "--peers", "tbb", "--workers", "2"});
  EXPECT_NE(result.errors.find("bench-tbb-gcc is left out: "), std::string::npos) << result.errors;
  EXPECT_NE(result.errors.find("--list' ended with exit code 9"), std::string::npos) << result.errors;
  EXPECT_EQ(rows_of(result).size(), 2U);
}

TEST_F(bench_command, chooses_the_faster_compiler_or_shows_both) {
  add_usual_programs();
  add_program("bench-sequential-clang", "0.4");
  add_program("bench-sukima-clang", "0.8");
  const auto best =
      rows_of(run({"bench", "fib", "--json", "--repetitions", "2", "--workers", "2", "--peers", "none"}));
  EXPECT_EQ(best.at("sequential 1 alone").at("compiler"), "clang");
  EXPECT_EQ(best.at("sukima 2 alone").at("compiler"), "gcc");
  EXPECT_DOUBLE_EQ(best.at("sukima 2 alone").at("ratio"), 1.5);
  const process::child_result both = run({"bench", "fib", "--json", "--repetitions", "2", "--workers", "2",
                                          "--peers", "none", "--compiler", "both"});
  std::map<std::string, double> ratios;
  for (const std::string& line : lines_of(both.output)) {
    const auto row = nlohmann::json::parse(line);
    ratios[row.at("system").get<std::string>() + " " + row.at("compiler").get<std::string>()] =
        row.at("ratio");
  }
  EXPECT_EQ(ratios,
            (std::map<std::string, double>{
                {"sequential gcc", 1}, {"sequential clang", 1}, {"sukima gcc", 1.2}, {"sukima clang", 2}}));
  const auto gcc =
      rows_of(run({"bench", "fib", "--json", "--repetitions", "2", "--peers", "none", "--compiler", "gcc"}));
  EXPECT_EQ(gcc.at("sequential 1 alone").at("compiler"), "gcc");
}

TEST_F(bench_command, takes_external_programs_into_the_same_rounds) {
  add_usual_programs();
  const std::string command = "echo external {benchmark} {size} {workers} $SUKIMA_WORKERS >> '" +
                              (folder / "log").string() + "'; echo time: 0.3 s";
  const process::child_result result =
      run({"bench", "fib", "--json", "--repetitions", "2", "--workers", "2", "--peers", "none", "--external",
           "lace=" + command, "--external", "other=echo 3"});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  const auto rows = rows_of(result);
  EXPECT_DOUBLE_EQ(rows.at("lace 2 alone").at("seconds").at("median"), 0.3);
  EXPECT_DOUBLE_EQ(rows.at("lace 2 alone").at("ratio"), 0.6);
  EXPECT_DOUBLE_EQ(rows.at("sukima 2 alone").at("paired").at("lace").at("ratio"), 2);
  EXPECT_DOUBLE_EQ(rows.at("other 2 alone").at("seconds").at("median"), 3);
  const std::vector<std::string> calls = log();
  EXPECT_EQ(std::count(calls.begin(), calls.end(), "external fib 40 2 2"), 2);
}

TEST_F(bench_command, fails_clearly_if_an_external_program_prints_no_number) {
  add_usual_programs();
  const process::child_result result =
      run({"bench", "fib", "--json", "--repetitions", "2", "--workers", "2", "--peers", "none", "--external",
           "lace=echo done", "--external", "gone=/no/such/program"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.errors.find("fib by lace with 2 workers, alone: printed no number on stdout"),
            std::string::npos);
  EXPECT_NE(result.errors.find("fib by gone with 2 workers, alone: ended with exit code 127"),
            std::string::npos);
  EXPECT_EQ(rows_of(result).size(), 2U);
}

TEST_F(bench_command, passes_its_settings_on_and_nothing_else) {
  add_usual_programs();
  add_program("bench-sukima-gcc", "1", "env >> '" + (folder / "env").string() + "'; answer 7");
  process::child_request with_settings =
      request({"bench", "fib", "--repetitions", "1", "--peers", "none", "--workers", "1"});
  with_settings.environment.emplace_back("SUKIMA_WAIT", "spin");
  with_settings.environment.emplace_back("OMP_NUM_THREADS", "3");
  ASSERT_EQ(process::run_child(with_settings).exit_code, 0);
  std::ifstream stream(folder / "env");
  const std::string seen(std::istreambuf_iterator<char>(stream), {});
  EXPECT_NE(seen.find("SUKIMA_WAIT=spin"), std::string::npos);
  EXPECT_EQ(seen.find("OMP_NUM_THREADS"), std::string::npos);
}

TEST_F(bench_command, refuses_wrong_requests_in_one_sentence) {
  add_usual_programs();
  expect_refused({"bench"}, "no benchmark was named; give 'all' or some of fib and lu");
  expect_refused({"bench", "fob"}, "unknown benchmark 'fob': choose fib or lu");
  expect_refused({"bench", "fib", "--peers", "cilk"}, "unknown peer 'cilk': choose tascell, tbb, ");
  expect_refused({"bench", "fib", "--scenario", "asleep"}, "unknown scenario 'asleep': choose alone");
  expect_refused({"bench", "fib", "--workers", "0"}, "--workers has '0'");
  expect_refused({"bench", "fib", "--repetitions", "0"}, "--repetitions");
  expect_refused({"bench", "fib", "--repetitions", "many"}, "--repetitions");
  expect_refused({"bench", "fib", "--time-limit", "0"}, "--time-limit");
  expect_refused({"bench", "fib", "--size", "big"}, "--size is 'big'");
  expect_refused({"bench", "fib", "--external", "lace"}, "give NAME='COMMAND'");
  expect_refused({"bench", "fib", "--external", "x='"},
                 "--external x: the shell cannot read the command \"'\": ");
  expect_refused({"bench", "fib", "--external", "x=./fib $(nproc"}, "correct its quotes and brackets");
  expect_refused({"bench", "fib", "--wrokers", "1"},
                 "unknown option '--wrokers' of sukima bench: the options are ");
  expect_refused({"bench", "fib", "--workers"}, "--workers");
  expect_refused({"bench", "fib", "--size", ""}, "--size is ''");
  expect_refused({"bench", "fib", "--csv", ""}, "'' does not name a file");
  expect_refused({"bench", "fib", "--csv", "-"}, "'-' does not name a file");
  expect_refused({"bench", "fib", "--plot", "/tmp/"}, "--plot is '/tmp/', which ends without a name");
  expect_refused({"bench", "fib", "--csv", "/no/such/folder/x.csv"},
                 "the folder '/no/such/folder' does not exist");
  expect_refused({"bench", "fib", "--plot", "/no/such/folder/x"},
                 "the folder '/no/such/folder' does not exist");
}

TEST_F(bench_command, refuses_to_go_without_programs) {
  expect_refused({"bench", "fib"}, "there are no benchmark programs in '" + (folder / "bin").string() + "'");
  process::child_request wrong = request({"bench", "fib"});
  wrong.environment[0].second = "/no/such/folder";
  const process::child_result result = process::run_child(wrong);
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.errors.find("SUKIMA_BENCH_DIR names '/no/such/folder', which is not a directory"),
            std::string::npos);
  wrong = request({"bench", "fib"});
  wrong.environment[1].second = "some";
  add_usual_programs();
  EXPECT_NE(process::run_child(wrong).errors.find("SUKIMA_CPUS is 'some', which is not a number of CPUs"),
            std::string::npos);
}

TEST_F(bench_command, writes_csv) {
  add_usual_programs();
  const fs::path file = folder / "result.csv";
  ASSERT_EQ(run({"bench", "fib", "lu", "--repetitions", "1", "--csv", file.string()}).exit_code, 0);
  std::ifstream stream(file);
  const auto lines = lines_of({std::istreambuf_iterator<char>(stream), {}});
  EXPECT_EQ(std::count_if(lines.begin(), lines.end(), [](const auto& l) { return l.starts_with("fib,40,"); }),
            7);
  EXPECT_EQ(std::count_if(lines.begin(), lines.end(), [](const auto& l) { return l.starts_with("lu,"); }), 7);
  EXPECT_TRUE(lines.at(0).starts_with("# cpu: ")) << lines.at(0);
}

TEST_F(bench_command, draws_plots_or_says_what_is_missing) {
  add_usual_programs();
  const fs::path prefix = folder / "plot";
  const process::child_result result = run({"bench", "fib", "lu", "--repetitions", "2", "--scenario",
                                            "alone,overworked", "--plot", prefix.string()});
  if (result.exit_code == 2 && result.errors.find("python3-matplotlib") != std::string::npos)
    GTEST_SKIP() << "no Python with matplotlib here";
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_GT(fs::file_size(prefix.string() + ".png"), 10'000U);
  std::ifstream svg(prefix.string() + ".svg");
  const std::string text(std::istreambuf_iterator<char>(svg), {});
  EXPECT_NE(text.find("<svg"), std::string::npos);
  EXPECT_NE(text.find("</svg>"), std::string::npos);
}

TEST_F(bench_command, refuses_a_python_without_matplotlib_before_it_measures) {
  add_usual_programs();
  process::child_request wrong = request({"bench", "fib", "--plot", (folder / "plot").string()});
  wrong.environment.emplace_back("SUKIMA_PYTHON", "/bin/false");
  const process::child_result result = process::run_child(wrong);
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.errors.find("SUKIMA_PYTHON='/bin/false'"), std::string::npos) << result.errors;
  EXPECT_TRUE(log().empty());
}

TEST_F(bench_command, takes_its_programs_along_when_it_is_ended) {
  add_usual_programs();
  const fs::path marker = folder / "pid";
  add_program("bench-sukima-gcc", "1", "echo $$ > '" + marker.string() + "'; sleep 1000");
  // The shell ends sukima as soon as the benchmark program runs, and reports how sukima ended.
  const std::string script = std::string("'") + SUKIMA_PROGRAM +
                             "' bench fib --peers none --time-limit 400 & sukima=$!; " + "while ! [ -s '" +
                             marker.string() + "' ]; do sleep 0.05; done; " +
                             "kill -TERM $sukima; wait $sukima; echo $?";
  process::child_request shell = request({});
  shell.arguments = {"/bin/sh", "-c", script};
  const process::child_result result = process::run_child(shell);
  EXPECT_EQ(lines_of(result.output).back(), "143") << result.errors;
  std::ifstream stream(marker);
  pid_t program = 0;
  ASSERT_TRUE(stream >> program);
  wait_until_ended(program);
}

TEST_F(bench_command, shows_colours_and_progress_on_terminals_only) {
  add_usual_programs();
  // Progress is shown after two seconds: as long as `wait` is there, the program ends when that has happened.
  const std::string wait = (folder / "wait").string(), screen = (folder / "screen").string();
  std::ofstream(wait).close();
  add_program(
      "bench-tbb-gcc", "1.2",
      "while [ -e '" + wait + "' ] && ! grep -q ' of 3' '" + screen + "'; do sleep 0.05; done; answer 7");
  const std::string bench = std::string("TERM=xterm '") + SUKIMA_PROGRAM +
                            "' bench fib --repetitions 1 --workers 1 --peers tbb --time-limit 400";
  const auto on_terminal = [&](const std::string& command) {
    process::child_request script = request({});
    script.arguments = {"/usr/bin/script", "-qefc", command, screen};
    return process::run_child(script).output;
  };
  if (!fs::exists("/usr/bin/script"))
    GTEST_SKIP() << "script (of bsdutils), which makes a terminal, is not here";
  const std::string shown = on_terminal(bench);
  EXPECT_NE(shown.find("\033[1;32m"), std::string::npos);
  EXPECT_NE(shown.find("run "), std::string::npos) << shown;
  EXPECT_NE(shown.find(" of 3"), std::string::npos) << shown;
  fs::remove(wait);
  EXPECT_EQ(on_terminal("NO_COLOR=1 " + bench + " 2>/dev/null").find("\033[1"), std::string::npos);
  const process::child_result piped =
      run({"bench", "fib", "--repetitions", "1", "--workers", "1", "--peers", "tbb"});
  EXPECT_EQ((piped.output + piped.errors).find('\033'), std::string::npos);
}

TEST_F(bench_command, lists_what_there_is) {
  add_usual_programs();
  const process::child_result result = run({"bench", "--list"});
  EXPECT_EQ(result.exit_code, 0);
  for (const char* part : {"benchmarks", "\n  fib ", "\n  lu ", "systems:", "\n  tbb ", "(not installed)",
                           "scenarios:\n", "\n  alone ", "\n  overworked "}) {
    EXPECT_NE(result.output.find(part), std::string::npos) << part;
  }
}

TEST_F(bench_command, lists_without_names_and_other_options) {
  add_usual_programs();
  for (const auto& surplus : std::vector<std::vector<std::string>>{{"fib"}, {"--json"}, {"--workers", "1"}}) {
    std::vector<std::string> words{"bench", "--list"};
    words.insert(words.end(), surplus.begin(), surplus.end());
    const process::child_result result = run(words);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_NE(result.errors.find("--list prints everything that there is: leave out " +
                                 (surplus[0] == "fib" ? "NAME" : surplus[0])),
              std::string::npos)
        << result.errors;
  }
}

TEST_F(bench_command, has_help_with_examples) {
  const process::child_result result = run({"bench", "--help"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_NE(result.output.find("Examples:\n  sukima bench fib"), std::string::npos);
  EXPECT_EQ(result.errors, "");
  EXPECT_EQ(run({"--version"}).output, "sukima " SUKIMA_VERSION "\n");
  EXPECT_NE(run({"--help"}).output.find("bench"), std::string::npos);
}

TEST_F(bench_command, is_one_of_the_commands) {
  expect_refused({}, "no command was given: choose bench");
  expect_refused({"bnech"}, "unknown command 'bnech': choose bench");
  expect_refused({"--verison"}, "unknown option '--verison' of sukima: the options are --help and --version");
}

}  // namespace
}  // namespace sukima::cli::bench
