// SPDX-License-Identifier: Apache-2.0
// What a profiler that listens to ITT sees of workers. The profiler is played: see itt/ittnotify.h.
#include <sukima/sukima.hpp>

#include <gtest/gtest.h>
#include <ittnotify.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

struct shown {
  std::thread::id thread;
  std::string what;
  std::string name;
  unsigned argument;
};
std::mutex showing;
std::vector<shown> seen;

void listen(const char* what, const char* name, unsigned argument) {
  const std::lock_guard hold(showing);
  seen.push_back({std::this_thread::get_id(), what, name, argument});
}

/// Its forks let the worker reply to thieves.
long fibonacci(sukima::context c, int n) {
  if (n < 2) return n;
  auto [a, b] = sukima::fork2(
      c, [=](sukima::context below) { return fibonacci(below, n - 1); },
      [=](sukima::context below) { return fibonacci(below, n - 2); });
  return a + b;
}

/// One branch waits for the other: a worker must split it off, and another one must steal it. Then the
/// runtime ends.
void steal_once() {
  std::atomic<bool> begun{false};
  sukima::settings two;
  two.workers = 2;
  two.elastic = false;
  sukima::runtime runtime(two);
  runtime.run([&](sukima::context c) {
    sukima::fork2(
        c,
        [&](sukima::context below) {
          while (!begun.load()) fibonacci(below, 8);
          return 0;
        },
        [&](sukima::context) {
          begun.store(true);
          return 0;
        });
  });
}

class itt : public testing::Test {
 protected:
  itt() {
    setenv("INTEL_LIBITTNOTIFY64", "played", 1);  // read by the first worker
    seen.clear();
    played_itt.store(listen);
    steal_once();
    played_itt.store(nullptr);
  }
};

TEST_F(itt, tasks_of_each_thread_are_nested) {
  const std::vector<std::string> states{"working", "searching", "sleeping"};
  std::map<std::thread::id, std::vector<std::string>> open;
  for (const shown& s : seen) {
    std::vector<std::string>& tasks = open[s.thread];
    if (s.what == "begin") {
      EXPECT_LE(tasks.size(), 1u) << s.name;
      const bool is_state = std::ranges::find(states, s.name) != states.end();
      EXPECT_TRUE(is_state ? tasks.empty() : tasks.size() <= 1) << s.name;
      tasks.push_back(s.name);
    } else if (s.what == "end") {
      EXPECT_EQ(s.name, "sukima");
      ASSERT_FALSE(tasks.empty());
      tasks.pop_back();
    }
  }
  EXPECT_EQ(open.size(), 2u);
  EXPECT_TRUE(open[std::this_thread::get_id()].empty()) << "this thread has left the runtime";
}

TEST_F(itt, a_thief_and_its_victim_are_shown) {
  const auto with_argument = [](const std::string& name) {
    std::vector<shown> found;
    for (std::size_t i = 0; i + 1 < seen.size(); ++i) {
      if (seen[i].what != "begin" || seen[i].name != name) continue;
      const auto next = std::find_if(seen.begin() + static_cast<std::ptrdiff_t>(i) + 1, seen.end(),
                                     [&](const shown& s) { return s.thread == seen[i].thread; });
      EXPECT_EQ(next->what, "metadata");
      found.push_back({seen[i].thread, "", "", next->argument});
    }
    return found;
  };
  const std::vector<shown> steals = with_argument("steal");
  ASSERT_FALSE(steals.empty());
  for (const shown& s : steals)
    EXPECT_EQ(s.argument, s.thread == std::this_thread::get_id() ? 1u : 0u) << "the other worker";
  EXPECT_FALSE(with_argument("split").empty());
}

TEST_F(itt, a_thread_of_the_runtime_has_its_name) {
  const auto named = std::ranges::find(seen, std::string("name"), &shown::what);
  ASSERT_NE(named, seen.end());
  EXPECT_EQ(named->name, "sukima-1");
  EXPECT_NE(named->thread, std::this_thread::get_id());
}

}  // namespace
