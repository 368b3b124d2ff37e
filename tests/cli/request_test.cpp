// SPDX-License-Identifier: Apache-2.0
// Understanding the options of `sukima bench`, and the runs that they ask for.
#include "bench/request.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "bench/catalogue.hpp"
#include "bench/plan.hpp"
#include "shared/console.hpp"

namespace sukima::cli::bench {
namespace {

/// The message of the usage_error that an action throws; empty if it throws none.
std::string complaint_of(const auto& action) {
  try {
    action();
  } catch (const process::usage_error& error) {
    return error.what();
  }
  return {};
}

std::vector<installed_system> some_systems() {
  std::vector<installed_system> installed;
  for (const char* name : {"sequential", "sukima", "tbb", "openmp-gcc", "openmp-clang", "rayon", "chili"}) {
    installed.push_back({name, {}});
  }
  installed[0].programs = {{"/s-gcc", "gcc", {"fib", "lu"}}, {"/s-clang", "clang", {"fib", "lu"}}};
  installed[1].programs = {{"/k-gcc", "gcc", {"fib", "lu"}}, {"/k-clang", "clang", {"fib"}}};
  installed[2].programs = {{"/t-gcc", "gcc", {"fib"}}};
  installed[4].programs = {{"/o-clang", "clang", {"fib"}}};
  installed[5].programs = {{"/r", "rustc", {"fib"}}};
  return installed;
}

bench_request understood(const bench_options& options, int cpus = 2) {
  std::vector<std::string> missing;
  return parse_request(options, some_systems(), cpus, missing);
}

bench_options options_for(const std::vector<std::string>& benchmarks) {
  bench_options options;
  options.benchmarks = benchmarks;
  return options;
}

TEST(join_words, reads_like_a_sentence) {
  EXPECT_EQ(join_words(std::vector<std::string>{}), "");
  EXPECT_EQ(join_words(std::vector<std::string>{"a"}), "a");
  EXPECT_EQ(join_words(std::vector<std::string>{"a", "b"}), "a or b");
  EXPECT_EQ(join_words(std::vector<std::string>{"a", "b", "c"}, " and "), "a, b and c");
}

TEST(workers, are_numbers_without_repetition) {
  EXPECT_EQ(parse_workers({"2", "1", "2", "1024"}), (std::vector<int>{2, 1, 1024}));
}

TEST(workers, of_other_kinds_are_named) {
  for (const char* word : {"0", "-1", "1025", "x", "", "1.5", "2 ", "99999999999999999999"}) {
    const std::string complaint = complaint_of([&] { parse_workers({"1", word}); });
    EXPECT_EQ(complaint, std::string("--workers has '") + word +
                             "': give numbers from 1 to 1024, such as --workers 1,2");
  }
}

TEST(externals, have_a_name_and_a_command) {
  const external_system external = parse_external("lace-1.4=./fib --n={size}");
  EXPECT_EQ(external.name, "lace-1.4");
  EXPECT_EQ(external.command, "./fib --n={size}");
  for (const char* text : {"", "lace", "=x", "lace=", "la ce=x", "a,b=x"}) {
    EXPECT_NE(complaint_of([&] { parse_external(text); }).find("give NAME='COMMAND'"), std::string::npos)
        << text;
  }
  EXPECT_NE(complaint_of([] { parse_external("tbb=x"); }).find("a known system"), std::string::npos);
  for (const char* text : {"x='", "x=\"", "x=$(y", "x=if", "x=y |"}) {
    const std::string complaint = complaint_of([&] { parse_external(text); });
    EXPECT_TRUE(complaint.starts_with("--external x: the shell cannot read the command ")) << complaint;
  }
}

TEST(request, has_defaults) {
  const bench_request request = understood(options_for({"fib"}), 8);
  EXPECT_EQ(request.workers, (std::vector<int>{1, 8}));
  EXPECT_EQ(request.scenarios, std::vector<std::string>{"alone"});
  EXPECT_EQ(request.systems,
            (std::vector<std::string>{"sequential", "sukima", "tbb", "openmp-clang", "rayon"}));
  EXPECT_FALSE(request.size.has_value());
  EXPECT_EQ(understood(options_for({"fib"}), 1).workers, std::vector<int>{1});
}

TEST(request, names_peers_that_are_missing) {
  bench_options options = options_for({"fib"});
  options.peers = {"chili", "tbb"};
  std::vector<std::string> missing;
  const bench_request request = parse_request(options, some_systems(), 2, missing);
  EXPECT_EQ(missing, std::vector<std::string>{"chili"});
  EXPECT_EQ(request.systems, (std::vector<std::string>{"sequential", "sukima", "tbb"}));
}

TEST(request, takes_no_peers) {
  bench_options options = options_for({"fib"});
  options.peers = {"none"};
  EXPECT_EQ(understood(options).systems, (std::vector<std::string>{"sequential", "sukima"}));
  options.peers = {"none", "tbb"};
  EXPECT_NE(complaint_of([&] { understood(options); }).find("'all', 'none' or a list"), std::string::npos);
}

TEST(request, knows_all_benchmarks_of_its_programs) {
  EXPECT_EQ(understood(options_for({"all"})).benchmarks, (std::vector<std::string>{"fib", "lu"}));
  EXPECT_EQ(understood(options_for({"lu", "fib", "lu"})).benchmarks, (std::vector<std::string>{"lu", "fib"}));
}

TEST(request, with_an_external_system_knows_the_whole_table) {
  bench_options options = options_for({"nqueens"});
  EXPECT_EQ(complaint_of([&] { understood(options); }), "unknown benchmark 'nqueens': choose fib or lu");
  options.externals = {"lace=./lace"};
  EXPECT_EQ(understood(options).benchmarks, std::vector<std::string>{"nqueens"});
}

TEST(request, complains_in_one_sentence_that_names_what_is_accepted) {
  const auto with = [](auto change) {
    return complaint_of([&] {
      bench_options options = options_for({"fib"});
      change(options);
      understood(options);
    });
  };
  EXPECT_EQ(with([](bench_options& o) { o.benchmarks = {"fob"}; }),
            "unknown benchmark 'fob': choose fib or lu");
  EXPECT_EQ(with([](bench_options& o) { o.benchmarks.clear(); }),
            "no benchmark was named; give 'all' or some of fib and lu");
  EXPECT_EQ(with([](bench_options& o) { o.scenarios = {"asleep"}; }),
            "unknown scenario 'asleep': choose " + join_words(scenario_names()));
  EXPECT_NE(
      with([](bench_options& o) { o.peers = {"cilk"}; }).find("unknown peer 'cilk': choose tascell, tbb, "),
      std::string::npos);
  EXPECT_EQ(with([](bench_options& o) { o.compiler = "icc"; }),
            "unknown compiler 'icc': choose best, gcc, clang or both");
  EXPECT_NE(with([](bench_options& o) { o.size = "1e6"; }).find("--size is '1e6'"), std::string::npos);
  EXPECT_NE(with([](bench_options& o) { o.size = "-1"; }).find("--size is '-1'"), std::string::npos);
  EXPECT_NE(with([](bench_options& o) { o.externals = {"a=x", "a=y"}; }).find("'a' twice"),
            std::string::npos);
}

TEST(contenders, are_the_programs_that_the_compiler_choice_leaves) {
  bench_options options = options_for({"fib"});
  const auto programs_of = [&](const char* compiler, const std::string& benchmark) {
    options.compiler = compiler;
    std::vector<std::string> absent;
    std::string text;
    for (const contender& c : contenders_for(understood(options), some_systems(), benchmark, absent)) {
      for (const program& p : c.programs) text += p.file.string();
    }
    for (const std::string& name : absent) text += " -" + name;
    return text;
  };
  EXPECT_EQ(programs_of("best", "fib"), "/s-gcc/s-clang/k-gcc/k-clang/t-gcc/o-clang/r");
  EXPECT_EQ(programs_of("both", "fib"), "/s-gcc/s-clang/k-gcc/k-clang/t-gcc/o-clang/r");
  EXPECT_EQ(programs_of("gcc", "fib"), "/s-gcc/k-gcc/t-gcc/o-clang/r");
  EXPECT_EQ(programs_of("clang", "fib"), "/s-clang/k-clang/t-gcc/o-clang/r");
  EXPECT_EQ(programs_of("best", "lu"), "/s-gcc/s-clang/k-gcc -tbb -openmp-clang -rayon");
}

TEST(plan, has_every_combination_once) {
  bench_options options = options_for({"fib"});
  options.workers = {"1", "3"};
  options.scenarios = {"alone", "overworked"};
  options.peers = {"rayon"};
  options.compiler = "gcc";
  options.externals = {"lace=./lace"};
  options.size = "20";
  const bench_request request = understood(options);
  std::vector<std::string> absent;
  std::vector<std::string> runs;
  for (const task& t : plan_tasks(request, request.scenarios,
                                  contenders_for(request, some_systems(), "fib", absent), "fib", 2)) {
    EXPECT_EQ(t.size, 20);
    EXPECT_EQ(t.program.empty(), t.system == "lace");
    EXPECT_EQ(t.command.empty(), t.system != "lace");
    runs.push_back(t.scenario + " " + t.system + " " + std::to_string(t.workers));
  }
  EXPECT_EQ(runs, (std::vector<std::string>{"alone sequential 1", "alone sukima 1", "alone sukima 3",
                                            "alone rayon 1", "alone rayon 3", "alone lace 1", "alone lace 3",
                                            "overworked sequential 1", "overworked sukima 8",
                                            "overworked rayon 8", "overworked lace 8"}));
}

TEST(catalogue, has_a_default_size_for_each_benchmark_of_the_table) {
  ASSERT_FALSE(known_benchmarks().empty());
  for (const benchmark_entry& entry : known_benchmarks()) {
    EXPECT_GT(entry.default_size, 0) << entry.name;
    EXPECT_FALSE(entry.about.empty()) << entry.name;
  }
  EXPECT_TRUE(default_size("fib").has_value());
  EXPECT_FALSE(default_size("no-such-benchmark").has_value());
}

}  // namespace
}  // namespace sukima::cli::bench
