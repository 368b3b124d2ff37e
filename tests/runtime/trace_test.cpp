// SPDX-License-Identifier: Apache-2.0
// SUKIMA_TRACE: the contents of the file, and failures to write it. The variable is read once in a process,
// so each run is a process of its own.
#include "../comma_locale.hpp"
#include "support.hpp"

#include <nlohmann/json.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace {

using nlohmann::json;
using sukima::context;
using support::with_workers;
using testing::ExitedWithCode;
namespace fs = std::filesystem;

/// One state of a worker; times in microseconds.
struct state {
  double from;
  double to;
  std::string name;
};

/// A death test runs its statement in a fresh process of this program, which finds the folder in the
/// environment.
class trace_death_test : public testing::Test {
 protected:
  static constexpr const char* variable = "SUKIMA_TEST_FOLDER";

  void SetUp() override {
    GTEST_FLAG_SET(death_test_style, SUKIMA_DEATH_TEST_STYLE);
    if (const char* given = std::getenv(variable)) {
      folder = given;
      return;
    }
    std::string name = (fs::temp_directory_path() / "sukima-trace-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder = name;
    setenv(variable, folder.c_str(), 1);
  }
  void TearDown() override {
    unsetenv(variable);
    fs::remove_all(folder);
  }

  std::string file() const { return (folder / "trace.json").string(); }
  /// From here on this process writes a trace. Only for the process of a death test.
  void begin_trace() const {
    alarm(500);
    setenv("SUKIMA_TRACE", file().c_str(), 1);
  }

  json events() const {
    std::ifstream stream(file());
    return json::parse(stream).at("traceEvents");
  }

  fs::path folder;
};

/// Two functions of which another worker must run one.
void share(sukima::runtime& r) {
  r.run([](context c) {
    std::atomic<bool> begun{false};
    sukima::fork2(
        c, [&](context below) { EXPECT_TRUE(support::poll_until(below, [&] { return begun.load(); })); },
        [&] { begun = true; });
  });
}

/// Goes on until each worker has run some of it.
void share_among_all(sukima::runtime& r) {
  r.run([&](context c) {
    std::atomic<unsigned> seen{0};
    EXPECT_TRUE(support::poll_until(c, [&] {
      sukima::parallel_for(c, 0, 64, [&](context below, int) {
        support::fib(below, 10);
        seen |= 1U << static_cast<unsigned>(sukima::worker_id());
      });
      return seen == (1U << r.workers()) - 1;
    }));
  });
}

bool is_decision(const json& e) { return e.value("cat", "") == "decision"; }
bool is_state(const json& e) { return e.at("ph") == "X" && e.value("cat", "") != "cpu"; }

/// The threads that are named as workers: tid → number.
std::map<int, int> workers_in(const json& events) {
  std::map<int, int> workers;
  for (const json& e : events)
    if (e.at("name") == "thread_name")
      workers[e.at("tid")] = std::stoi(e.at("args").at("name").get<std::string>().substr(sizeof "worker"));
  return workers;
}

std::vector<state> states_of(const json& events, int thread) {
  std::vector<state> states;
  for (const json& e : events)
    if (is_state(e) && e.at("tid") == thread) {
      const double from = e.at("ts");
      states.push_back({from, from + e.at("dur").get<double>(), e.at("name")});
    }
  std::ranges::sort(states, {}, [](const state& s) { return std::pair(s.from, s.to); });
  return states;
}

TEST_F(trace_death_test, writes_through_a_link_instead_of_replacing_it) {
  EXPECT_EXIT(
      {
        fs::create_symlink("target.json", file());
        begin_trace();
        {
          sukima::runtime r(with_workers(2));
          share(r);
        }
        std::exit(HasFailure() ? 1 : 0);
      },
      ExitedWithCode(0), "");
  EXPECT_TRUE(fs::is_symlink(file()));
  EXPECT_FALSE(events().empty());
  fs::remove(file());
  EXPECT_TRUE(fs::is_regular_file(folder / "target.json"));
}

TEST_F(trace_death_test, is_written_to_the_folder_in_which_the_program_began) {
  EXPECT_EXIT(
      {
        begin_trace();
        setenv("SUKIMA_TRACE", "trace.json", 1);
        fs::current_path(folder);
        {
          sukima::runtime r(with_workers(1));
          r.run([] {});
        }
        fs::create_directory("other");
        fs::current_path("other");
        std::exit(HasFailure() ? 1 : 0);
      },
      ExitedWithCode(0), "");
  EXPECT_TRUE(fs::exists(file()));
  EXPECT_FALSE(fs::exists(folder / "other/trace.json"));
}

TEST_F(trace_death_test, is_json_in_each_locale) {
  EXPECT_EXIT(
      {
        const support::comma_locale set;
        begin_trace();
        {
          sukima::runtime r(with_workers(2));
          share(r);
        }
        std::exit(HasFailure() ? 1 : 0);
      },
      ExitedWithCode(0), "");
  EXPECT_FALSE(events().empty());
}

TEST_F(trace_death_test, states_cover_each_workers_time_without_overlap) {
  EXPECT_EXIT(
      {
        begin_trace();
        {
          sukima::runtime r(with_workers(3));
          share_among_all(r);
          for (int i = 1; i < 20; ++i) {
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
            share(r);
          }
        }
        std::exit(HasFailure() ? 1 : 0);
      },
      ExitedWithCode(0), "");
  const json all = events();
  const auto workers = workers_in(all);
  ASSERT_EQ(workers.size(), 3U);
  constexpr double rounding = 0.0021;  // times are written in nanoseconds
  for (const auto& [thread, number] : workers) {
    const std::vector<state> states = states_of(all, thread);
    ASSERT_FALSE(states.empty()) << number;
    int gaps = 0;
    for (std::size_t i = 0; i < states.size(); ++i) {
      EXPECT_TRUE(states[i].name == "working" || states[i].name == "searching" ||
                  states[i].name == "sleeping");
      EXPECT_GE(states[i].to, states[i].from);
      if (i == 0) continue;
      EXPECT_GE(states[i].from, states[i - 1].to - rounding) << "overlap on worker " << number;
      if (states[i].from > states[i - 1].to + rounding) ++gaps;
    }
    // Worker 0 is the thread that enters and leaves 20 times; the others are inside all the time.
    EXPECT_EQ(gaps, number == 0 ? 19 : 0) << "worker " << number;
    // The threads of the others may begin at any time.
    if (number == 0) {
      EXPECT_GT(states.back().to - states.front().from, 19 * 2000);
    }
  }
}

TEST_F(trace_death_test, steals_have_victims) {
  EXPECT_EXIT(
      {
        begin_trace();
        sukima::settings asking = with_workers(2);
        asking.published_tasks = 0;
        sukima::runtime taking_from_slots(with_workers(2));
        sukima::runtime asking_for_work(asking);
        for (int i = 0; i < 20; ++i) {
          share(taking_from_slots);
          share(asking_for_work);
        }
        std::exit(HasFailure() ? 1 : 0);
      },
      ExitedWithCode(0), "");
  const json all = events();
  const auto workers = workers_in(all);
  std::map<int, int> steals_of_runtime;
  for (const json& e : all) {
    if (e.at("name") != "steal") continue;
    const int thief = e.at("tid");
    const int victim = e.at("args").at("victim");
    ASSERT_TRUE(workers.contains(thief));
    EXPECT_TRUE(victim == 0 || victim == 1) << victim;
    EXPECT_NE(victim, workers.at(thief)) << "a worker stole from itself";
    ++steals_of_runtime[thief / 10'000];
    // A worker that finds something at its very first look was in no state before.
    const double at = e.at("ts");
    EXPECT_TRUE(std::ranges::any_of(states_of(all, thief), [&](const state& s) {
      return s.name == "working" && s.to + 0.01 >= at;
    })) << "the thief did not work afterwards";
  }
  EXPECT_EQ(steals_of_runtime.size(), 2U) << "one of the protocols left no trace of its steals";
}

TEST_F(trace_death_test, each_decision_is_there_with_its_reason) {
  EXPECT_EXIT(
      {
        begin_trace();
        sukima::runtime r(with_workers(2));
        r.limit_workers(1);
        r.limit_workers(0);
        std::exit(r.decisions().size() == 3 ? 0 : 1);
      },
      ExitedWithCode(0), "");
  std::vector<json> found;
  double before = 0;
  for (const json& e : events()) {
    if (!is_decision(e)) continue;
    EXPECT_EQ(e.at("ph"), "i");
    EXPECT_GE(e.at("ts").get<double>(), before);
    before = e.at("ts").get<double>();
    found.push_back(e.at("args"));
  }
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(
      found[0],
      json::parse(R"({"what":"workers","before":2,"after":2,"reason":"the settings allow that many"})"));
  EXPECT_EQ(found[1],
            json::parse(R"({"what":"workers","before":2,"after":1,"reason":"the program set a limit"})"));
  EXPECT_EQ(
      found[2],
      json::parse(R"({"what":"workers","before":1,"after":2,"reason":"the program removed its limit"})"));
}

TEST_F(trace_death_test, of_two_runtimes_is_one_file) {
  EXPECT_EXIT(
      {
        begin_trace();
        sukima::runtime first(with_workers(2));
        share(first);
        {
          sukima::runtime second(with_workers(3));
          share(second);
        }
        share(first);
        std::exit(HasFailure() ? 1 : 0);
      },
      ExitedWithCode(0), "");
  const json all = events();
  std::map<int, int> workers_of;
  std::set<int> decided;  // more than once, where a wait takes long
  for (const json& e : all) {
    if (e.at("name") == "thread_name") ++workers_of[e.at("args").at("runtime")];
    if (is_decision(e)) decided.insert(e.at("tid").get<int>() / 10'000);
  }
  EXPECT_EQ(workers_of, (std::map<int, int>{{1, 2}, {2, 3}}));
  EXPECT_EQ(decided, (std::set<int>{1, 2}));
  std::map<int, int> seen_of;  // a third worker may come too late for anything
  for (const auto& [thread, number] : workers_in(all))
    seen_of[thread / 10'000] += !states_of(all, thread).empty();
  EXPECT_GE(seen_of[1], 2);
  EXPECT_GE(seen_of[2], 2);
}

TEST_F(trace_death_test, without_a_cpu_is_a_period_of_its_own) {
  if (!fs::exists("/proc/thread-self/schedstat")) GTEST_SKIP() << "this kernel does not report it";
  EXPECT_EXIT(
      {
        begin_trace();
        // Four workers on one CPU wait for it three quarters of the time.
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(static_cast<unsigned>(sched_getcpu()), &one);
        sched_setaffinity(0, sizeof one, &one);
        sukima::runtime r(with_workers(4));
        // The same samples go to the trace, and decide in the end that CPU is short.
        const auto is_short = [&] {
          return std::ranges::any_of(r.decisions(), [](const auto& d) { return d.setting == "spinning"; });
        };
        r.run([&](context c) {
          do {
            sukima::parallel_for(c, 0, 64, [](int) {
              const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(5);
              while (std::chrono::steady_clock::now() < end) {
              }
            });
          } while (!is_short());
        });
        std::exit(0);
      },
      ExitedWithCode(0), "");
  const json all = events();
  const auto workers = workers_in(all);
  double waited = 0;
  for (const json& e : all) {
    if (e.value("cat", "") != "cpu") continue;
    EXPECT_TRUE(workers.contains(e.at("tid").get<int>() - 5'000));
    EXPECT_GT(e.at("dur").get<double>(), 0);
    waited += e.at("dur").get<double>();
  }
  EXPECT_GT(waited, 0) << "microseconds";
}

TEST_F(trace_death_test, that_cannot_be_written_is_a_bad_setting) {
  EXPECT_EXIT(
      {
        alarm(500);
        setenv("SUKIMA_TRACE", "/nonexistent/folder/trace.json", 1);
        const std::string message =
            support::message_of<sukima::bad_setting>([] { sukima::runtime r(with_workers(2)); });
        std::fputs(message.c_str(), stderr);
        _exit(message == "none" ? 1 : 0);
      },
      ExitedWithCode(0), "SUKIMA_TRACE='/nonexistent/folder/trace.json' cannot be written: No such file");
}

// A child of a process with threads: ThreadSanitizer refuses; AddressSanitizer's own locks may be taken, and
// its search for leaks misses what only the parent's other threads know.
#if !defined(SUKIMA_SANITIZED)

TEST_F(trace_death_test, of_a_process_is_not_overwritten_by_its_child) {
  EXPECT_EXIT(
      {
        begin_trace();
        sukima::runtime r(with_workers(2));
        share(r);
        const pid_t child = fork();
        if (child == 0) {
          alarm(500);
          {
            sukima::runtime own(with_workers(3));
            own.run([] {});
          }
          std::exit(0);  // as at the end of main
        }
        int status = -1;
        waitpid(child, &status, 0);
        if (status != 0) std::exit(1);
        if (fs::exists(file())) std::exit(2);
        std::exit(0);
      },
      ExitedWithCode(0), "");
  const json all = events();
  EXPECT_EQ(workers_in(all).size(), 2U);
}

TEST_F(trace_death_test, is_not_locked_in_a_child_that_was_forked_while_something_was_recorded) {
  EXPECT_EXIT(
      {
        begin_trace();
        sukima::runtime r(with_workers(2));
        std::atomic<bool> ended{false};
        std::atomic<bool> forks{false};  // else the decisions of a long wait would fill the memory
        std::atomic<unsigned> decided{0};
        std::thread decider([&] {
          while (!ended)
            if (forks)
              r.limit_workers(1 + decided++ % 2);
            else
              std::this_thread::yield();
        });
        int failed = 0;
        for (int i = 0; i < 100 && failed == 0; ++i) {
          forks = true;
          for (const unsigned before = decided; decided == before;) std::this_thread::yield();
          const pid_t child = fork();
          if (child == 0) {
            alarm(500);
            {
              const sukima::runtime own(with_workers(1));
            }  // choice points its decision
            _exit(0);
          }
          forks = false;
          int status = -1;
          waitpid(child, &status, 0);
          failed = status;
        }
        ended = true;
        decider.join();
        std::exit(failed == 0 ? 0 : 1);
      },
      ExitedWithCode(0), "");
}

#endif

}  // namespace
