// SPDX-License-Identifier: Apache-2.0
// The parts of `sukima run`: how many threads, which variables, what may be preloaded.
#include <gtest/gtest.h>
#include <unistd.h>
#include <sukima/settings.hpp>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include <base/shared/executable.hpp>
#include <base/shared/temporary_directory.hpp>
#include "capacity/decision.hpp"
#include "run/report.hpp"
#include "run/variables.hpp"
#include "shared/most_workers.hpp"

namespace sukima::cli::run {
namespace {

namespace fs = std::filesystem;

/// The CPU that k threads get under a quota of `share` CPUs.
cpu_supply supply(unsigned cap, double share) {
  return {cap, share, [share](unsigned k) { return std::min<double>(k, share); }, "because"};
}

TEST(run_decision, takes_the_ceiling_of_the_limit) {
  for (const auto& [share, threads] : std::map<double, unsigned>{{0.3, 1},
                                                                 {1.0, 1},
                                                                 {1.1, 2},
                                                                 {1.49, 2},
                                                                 {1.5, 2},
                                                                 {2.0, 2},
                                                                 {2.4, 3},
                                                                 {7.5, 8},
                                                                 {8.0, 8},
                                                                 {20.0, 8}}) {
    EXPECT_EQ(decide({}, supply(8, share)).threads, threads) << share;
  }
}

TEST(run_decision, misses_half_a_cpu_at_most_where_threads_wait_actively) {
  for (const auto& [share, threads] : std::map<double, unsigned>{
           {0.3, 1}, {1.0, 1}, {1.49, 1}, {1.5, 2}, {2.0, 2}, {2.4, 2}, {7.5, 8}, {8.0, 8}, {20.0, 8}}) {
    EXPECT_EQ(decide({}, supply(8, share)).active, threads) << share;
    EXPECT_EQ(decide({}, supply(8, share)).slots, threads) << share;
  }
}

TEST(run_decision, does_not_give_a_share_away_to_neighbours) {
  // In one group with two hogs on two CPUs: 0.67, 1, 1.2, 1.33 CPUs.
  const cpu_supply crowded{2, 2, [](unsigned k) { return 2.0 * k / (k + 2); }, ""};
  EXPECT_EQ(decide({}, crowded).threads, 2U) << "two that sleep at barriers get half as much again as one";
  EXPECT_EQ(decide({}, crowded).active, 1U);
  EXPECT_FALSE(decide({}, crowded).spinning) << "one thread gets a CPU nearly, but the neighbours take one";
}

TEST(run_decision, names_the_reason_of_the_number_that_it_chose) {
  cpu_supply crowded{2, 2, [](unsigned k) { return 2.0 * k / (k + 2); }, "neighbours", "limits"};
  EXPECT_EQ(decide({}, crowded).reason, "limits") << "the neighbours do not count";
  thread_policy p;
  p.maximum = 1;
  EXPECT_EQ(decide(p, crowded).reason, "limits");
  p.reserve = 0.5;
  EXPECT_EQ(decide(p, crowded).reason, "neighbours");
  p = {};
  p.rounding = SUKIMA_CAPACITY_FLOOR;
  EXPECT_EQ(decide(p, crowded).reason, "neighbours");
}

TEST(run_decision, is_the_same_whatever_the_estimate_is_off_by) {
  // An estimate of the same place varies from run to run; the limits do not.
  for (const double limit : {1.4, 1.48, 1.5, 1.52, 2.0, 3.5}) {
    const start_decision exact = decide({}, supply(4, limit));
    for (double off = -0.4; off <= 0.4; off += 0.01) {
      cpu_supply varying = supply(4, limit);
      varying.usable = [limit, off](unsigned k) { return std::min<double>(k, limit + off); };
      EXPECT_EQ(decide({}, varying).threads, exact.threads) << limit << " " << off;
      EXPECT_EQ(decide({}, varying).slots, exact.slots) << limit << " " << off;
    }
  }
}

TEST(run_decision, obeys_the_policy) {
  const cpu_supply s = supply(8, 3.6);
  thread_policy p;
  p.rounding = SUKIMA_CAPACITY_FLOOR;
  EXPECT_EQ(decide(p, s).threads, 3U);
  p.rounding = SUKIMA_CAPACITY_CEILING;
  EXPECT_EQ(decide(p, s).threads, 4U);
  p.reserve = 1;
  EXPECT_EQ(decide(p, s).threads, 3U);
  p.reserve = 7;
  EXPECT_EQ(decide(p, s).threads, 1U);
  p.minimum = 2;
  EXPECT_EQ(decide(p, s).threads, 2U);
  p.minimum = 1;
  p.reserve = 0;
  p.rounding.reset();
  p.maximum = 2;
  EXPECT_EQ(decide(p, s).threads, 2U);
  EXPECT_FALSE(decide(p, s).fixed);
  p.threads = 16;
  EXPECT_EQ(decide(p, s).threads, 16U);
  EXPECT_TRUE(decide(p, s).fixed);
  EXPECT_FALSE(decide(p, s).spinning) << "16 threads on 3.6 CPUs";
}

TEST(run_decision, knows_what_the_limits_alone_say_about_spinning) {
  const cpu_supply crowded{2, 2, [](unsigned k) { return 2.0 * k / (k + 2); }, ""};
  EXPECT_TRUE(decide({}, crowded).limits_allow_spinning) << "the neighbours may be gone in a moment";
  EXPECT_FALSE(decide({}, supply(2, 1.4)).limits_allow_spinning) << "a quota stays";
  cpu_supply stolen = supply(2, 2);
  stolen.stolen = true;
  EXPECT_FALSE(decide({}, stolen).limits_allow_spinning) << "threads could not see it";
}

TEST(run_decision, lets_threads_spin_only_where_nothing_is_missing) {
  EXPECT_TRUE(decide({}, supply(2, 2.0)).spinning);
  EXPECT_TRUE(decide({}, supply(2, 1.8)).spinning);
  EXPECT_FALSE(decide({}, supply(2, 1.6)).spinning);
  EXPECT_FALSE(decide({}, supply(1, 0.5)).spinning);
}

start_decision decision_with(unsigned threads, bool fixed, bool spinning, double usable) {
  start_decision decision;
  decision.threads = decision.slots = threads;
  decision.fixed = fixed;
  decision.spinning = spinning;
  decision.usable = usable;
  return decision;
}

/// An environment of the test's own.
std::map<std::string, std::string> pretended;
const char* read_pretended(const char* name) {
  const auto found = pretended.find(name);
  return found == pretended.end() ? nullptr : found->second.c_str();
}

std::map<std::string, std::string> planned(const start_decision& decision, bool preloaded = true) {
  std::map<std::string, std::string> variables;
  for (const variable& v : plan_variables(decision, preloaded, read_pretended).set)
    variables[v.name] = v.value;
  return variables;
}

class run_variables : public testing::Test {
 protected:
  void SetUp() override { pretended.clear(); }
};

TEST_F(run_variables, give_every_runtime_the_number) {
  const auto v = planned(decision_with(3, false, true, 3));
  for (const char* const name :
       {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "RAYON_NUM_THREADS",
        "GOMAXPROCS", "DOTNET_PROCESSOR_COUNT", "JULIA_NUM_THREADS", "PYTHON_CPU_COUNT",
        "OMPI_MCA_orte_set_default_slots"})
    EXPECT_EQ(v.at(name), "3") << name;
  EXPECT_FALSE(v.contains("OMP_WAIT_POLICY")) << "nothing is missing";
  EXPECT_FALSE(v.contains("SUKIMA_WORKERS")) << "the runtime is elastic";
  EXPECT_FALSE(v.contains("JAVA_TOOL_OPTIONS")) << "the JVM would print a line";
}

TEST_F(run_variables, shrink_the_pools_of_node_only_where_the_user_restricts_them) {
  start_decision decision = decision_with(3, false, true, 3);
  EXPECT_FALSE(planned(decision).contains("UV_THREADPOOL_SIZE"));
  EXPECT_FALSE(planned(decision).contains("NODE_OPTIONS"));
  decision.restricted = true;
  EXPECT_EQ(planned(decision).at("UV_THREADPOOL_SIZE"), "3");
  EXPECT_EQ(planned(decision).at("NODE_OPTIONS"), "--v8-pool-size=3");
  decision = decision_with(9, false, true, 9);
  EXPECT_EQ(planned(decision).at("UV_THREADPOOL_SIZE"), "9") << "larger than what Node would take";
  EXPECT_FALSE(planned(decision).contains("NODE_OPTIONS"));
}

TEST_F(run_variables, give_ranks_that_spin_a_number_of_their_own) {
  start_decision decision = decision_with(2, false, false, 1.4);
  decision.slots = 1;
  EXPECT_EQ(planned(decision).at("OMPI_MCA_orte_set_default_slots"), "1");
  EXPECT_EQ(planned(decision).at("OMP_NUM_THREADS"), "2");
}

TEST_F(run_variables, let_idle_threads_sleep_where_cpu_is_short) {
  const auto v = planned(decision_with(2, false, false, 1.5), false);
  EXPECT_EQ(v.at("OMP_WAIT_POLICY"), "passive");
  EXPECT_EQ(v.at("KMP_BLOCKTIME"), "0");
  EXPECT_EQ(v.at("GOMP_SPINCOUNT"), "0");
  EXPECT_EQ(v.at("OMPI_MCA_mpi_yield_when_idle"), "1");
}

TEST_F(run_variables, leave_the_waiting_of_openmp_to_the_preloaded_library) {
  const auto v = planned(decision_with(2, false, false, 1.5));
  for (const char* const name : {"OMP_WAIT_POLICY", "KMP_BLOCKTIME", "GOMP_SPINCOUNT"})
    EXPECT_FALSE(v.contains(name)) << name << " would hold for the whole run";
  EXPECT_EQ(v.at("OMPI_MCA_mpi_yield_when_idle"), "1");
}

TEST_F(run_variables, inform_java_by_its_variable_if_nothing_is_preloaded) {
  pretended["JAVA_TOOL_OPTIONS"] = "-Xmx1g";
  EXPECT_EQ(planned(decision_with(3, false, true, 3), false).at("JAVA_TOOL_OPTIONS"),
            "-Xmx1g -XX:ActiveProcessorCount=3");
  pretended["JAVA_TOOL_OPTIONS"] = "-XX:ActiveProcessorCount=7";
  EXPECT_FALSE(planned(decision_with(3, false, true, 3), false).contains("JAVA_TOOL_OPTIONS"));
}

TEST_F(run_variables, let_the_library_come_before_that_of_a_sanitizer) {
  EXPECT_FALSE(planned(decision_with(3, false, true, 3), false).contains("ASAN_OPTIONS"));
  EXPECT_EQ(planned(decision_with(3, false, true, 3)).at("ASAN_OPTIONS"), "verify_asan_link_order=0");
  pretended["ASAN_OPTIONS"] = "detect_leaks=0";
  EXPECT_EQ(planned(decision_with(3, false, true, 3)).at("ASAN_OPTIONS"),
            "detect_leaks=0 verify_asan_link_order=0");
}

TEST_F(run_variables, of_the_user_win_with_all_that_say_the_same) {
  pretended = {
      {"OMP_NUM_THREADS", "7"}, {"OMP_WAIT_POLICY", "active"}, {"GOMAXPROCS", ""}, {"BLIS_JC_NT", "2"}};
  const auto plan = plan_variables(decision_with(2, false, false, 1.5), true, read_pretended);
  std::map<std::string, std::string> set, kept;
  for (const variable& v : plan.set) set[v.name] = v.value;
  for (const variable& v : plan.kept) kept[v.name] = v.value;
  EXPECT_EQ(kept, pretended);
  for (const char* const name :
       {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "KMP_BLOCKTIME",
        "GOMP_SPINCOUNT", "OMP_WAIT_POLICY", "GOMAXPROCS"})
    EXPECT_FALSE(set.contains(name)) << name;
  EXPECT_EQ(set.at("RAYON_NUM_THREADS"), "2");
}

TEST_F(run_variables, of_the_user_are_kept_and_not_set_as_well) {
  const auto decided = decision_with(2, false, false, 1.5);
  for (const variable& v : plan_variables(decided, true, read_pretended).set) pretended[v.name] = "7";
  const auto plan = plan_variables(decided, true, read_pretended);
  EXPECT_FALSE(plan.kept.empty());
  for (const variable& kept : plan.kept)
    EXPECT_TRUE(std::ranges::none_of(plan.set, [&](const variable& v) { return v.name == kept.name; }))
        << kept.name;
}

TEST_F(run_variables, pass_on_the_users_own_number_to_sukima) {
  EXPECT_EQ(planned(decision_with(5, true, false, 2)).at("SUKIMA_WORKERS"), "5");
  static_assert(most_workers == settings::most_workers);
  EXPECT_EQ(planned(decision_with(5000, true, false, 2)).at("SUKIMA_WORKERS"), "1024") << "more are an error";
  EXPECT_FALSE(planned(decision_with(5, true, false, 2)).contains("NODE_OPTIONS"))
      << "its own pool is smaller";
}

TEST(run_executable, finds_programs_as_a_shell_does) {
  const process::temporary_directory folder("test");
  const std::string& path = folder.path();
  std::ofstream(path + "/plain") << "text";
  fs::create_directory(path + "/folder");
  EXPECT_EQ(process::find_program("sh", "/nowhere:/bin"), fs::path("/bin/sh"));
  EXPECT_EQ(process::find_program("plain", path.c_str()), std::nullopt);
  EXPECT_EQ(process::find_program("folder", path.c_str()), std::nullopt);
  EXPECT_EQ(process::find_program(path + "/plain", "/bin"), std::nullopt);
  EXPECT_EQ(process::find_program("/bin/sh", nullptr), fs::path("/bin/sh"));
}

class preloading : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& content) {
    const std::string file = folder.path() + "/" + name;
    std::ofstream(file, std::ios::binary) << content;
    fs::permissions(file, fs::perms::owner_all);
    return file;
  }
  std::string obstacle(const std::string& file) { return process::obstacle_to_preloading(file, loader); }

  process::temporary_directory folder{"test"};
  std::string loader = process::loader_of("/proc/self/exe");
};

TEST_F(preloading, works_with_ordinary_programs_and_scripts) {
  ASSERT_NE(loader, "");
  EXPECT_EQ(obstacle("/bin/sh"), "");
  EXPECT_EQ(obstacle(write("script", "#!/bin/sh\necho\n")), "");
  EXPECT_EQ(obstacle(write("through-env", "#!/usr/bin/env sh\necho\n")), "");
}

TEST_F(preloading, is_refused_for_another_c_library) {
  EXPECT_NE(process::obstacle_to_preloading("/bin/sh", "/lib/ld-musl-x86_64.so.1").find("another C library"),
            std::string::npos);
  // A script is what its interpreter is.
  EXPECT_NE(process::obstacle_to_preloading(write("script", "#!/bin/sh\n"), "/lib/ld-musl-x86_64.so.1"), "");
}

TEST_F(preloading, is_refused_for_programs_with_their_owners_rights) {
  fs::copy_file("/bin/true", folder.path() + "/su");
  fs::permissions(folder.path() + "/su", fs::perms::owner_all | fs::perms::set_uid);
  EXPECT_EQ(obstacle(folder.path() + "/su"), "the program runs with the rights of its owner");
}

TEST_F(preloading, survives_damaged_programs) {
  std::ifstream stream("/bin/true", std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(stream), {}};
  for (std::size_t length : {0U, 3U, 4U, 20U, 63U, 64U, 100U, 500U, 4000U})
    obstacle(write("cut", whole.substr(0, length)));
  for (std::size_t i = 0; i < 1200; i += 3) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(~damaged[i]);
    obstacle(write("damaged", damaged));
  }
  EXPECT_EQ(obstacle(write("other", std::string("\177ELF\3\1\1", 7) + std::string(60, '\0'))),
            "the program is for another kind of processor");
  EXPECT_EQ(obstacle(write("small", std::string("\177ELF\1\1\1", 7) + std::string(60, '\0'))),
            "the program is a 32-bit one");
  EXPECT_EQ(obstacle(write("circle", "#!" + folder.path() + "/circle\n")), "");
}

TEST(run_report, understands_the_log) {
  const auto decisions = read_log(
      "12.500000000 77 my prog: 2 -> 1 threads fit: reason\nnonsense\n\n1.0 x y: z\n13.000000000 78 b: c: "
      "d\n",
      10'000'000'000U);
  ASSERT_EQ(decisions.size(), 2U);
  EXPECT_DOUBLE_EQ(decisions[0].seconds, 2.5);
  EXPECT_EQ(decisions[0].process, 77);
  EXPECT_EQ(decisions[0].program, "my prog");
  EXPECT_EQ(decisions[0].text, "2 -> 1 threads fit: reason");
  EXPECT_EQ(decisions[1].text, "c: d");
}

TEST(run_report, prints_variables_that_a_shell_understands) {
  run_plan plan;
  plan.variables.set = {{"A", "1", ""}, {"B", "it's $HOME", ""}};
  plan.obstacle = "--no-preload was given";
  const std::string text = plan_text(plan);
  EXPECT_NE(text.find("\nA=1\nB='it'\\''s $HOME'\n"), std::string::npos) << text;
}

TEST(run_report, sends_nothing_to_the_terminal_but_text) {
  run_record record;
  record.program = {"./a\033[31m\nb"};
  record.plan.obstacle = "the path contains \033";
  record.plan.variables.kept = {{"A", "\033]0;title\a", "OpenMP"}};
  record.decisions = {{1.5, 7, "na\033me", "2 -> 1 \033[2Jthreads"}};
  const std::string text = text_of(record);
  for (const char c : text) EXPECT_TRUE(c == '\n' || (c >= ' ' && c != 127)) << text;
  EXPECT_NE(text.find("  na?me (7): 2 -> 1 ?[2Jthreads\n"), std::string::npos) << text;
  EXPECT_NE(text.find("'./a?[31m?b' ended"), std::string::npos) << text;
  EXPECT_NE(plan_text(record.plan).find("# nothing is preloaded, because the path contains ?:"),
            std::string::npos);
}

TEST(run_report, adds_the_library_unless_exactly_its_path_is_preloaded) {
  run_plan plan;
  plan.library = "/lib/libsukima-preload.so";
  const char* const before = std::getenv("LD_PRELOAD");
  const std::string kept = before == nullptr ? "" : before;
  const auto with = [&plan](const char* list) {
    setenv("LD_PRELOAD", list, 1);
    return preloaded_libraries(plan);
  };
  const std::string own = plan.library.string();
  EXPECT_EQ(with(""), own);
  EXPECT_EQ(with("/lib/a.so"), "/lib/a.so:" + own);
  EXPECT_EQ(with((own + ".old").c_str()), own + ".old:" + own);
  EXPECT_EQ(with(("/other" + own).c_str()), "/other" + own + ":" + own);
  for (const std::string& list : {own, "a.so:" + own, own + " a.so", "a.so " + own + ":b.so"})
    EXPECT_EQ(with(list.c_str()), list);
  if (before == nullptr)
    unsetenv("LD_PRELOAD");
  else
    setenv("LD_PRELOAD", kept.c_str(), 1);
}

}  // namespace
}  // namespace sukima::cli::run
