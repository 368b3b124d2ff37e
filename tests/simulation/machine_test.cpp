// SPDX-License-Identifier: Apache-2.0
// Tests of the simulated machine with small programs, with known bugs and without bugs.
#include "atomics.hpp"
#include "isolated.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>

namespace {

using namespace sukima::simulation;
using sukima::detail::atomic;
using end = outcome::end;

constexpr std::uint64_t seeds = 200;

/// The number of runs by their end, over all seeds, and one text for each end.
struct ends {
  std::map<end, int> count;
  std::map<end, std::string> text;
  bool only(end how) const { return count.size() == 1 && count.contains(how); }
};

ends run_seeds(const program& p, const limits& most = {}) {
  ends all;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const outcome o = run_isolated(seed, p, most);
    ++all.count[o.how];
    all.text[o.how] = o.text;
  }
  return all;
}

bool contains(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

/// Two threads add to a number.
template <class Add> program two_adders(Add add) {
  return [add]() -> std::string {
    atomic<int> number{0};
    std::thread other([&] { add(number); });
    add(number);
    other.join();
    return number.load() == 2 ? "" : "an addition was lost";
  };
}

/// One thread waits for a flag that another thread sets.
/// \param holds    whether the other thread holds the lock while it sets the flag
/// \param in_loop  whether the waiting thread checks the flag again after it was woken
/// \param hesitates whether the other thread takes some steps before it sets the flag
program waiter(bool holds, bool in_loop, bool hesitates = false) {
  return [=]() -> std::string {
    std::mutex lock;
    std::condition_variable changed;
    atomic<bool> is_set{false};
    bool seen = false;
    std::thread waiting([&] {
      std::unique_lock hold(lock);
      if (in_loop)
        while (!is_set.load()) changed.wait(hold);
      else if (!is_set.load())
        changed.wait(hold);
      seen = is_set.load();
    });
    {
      for (int i = 0; hesitates && i < 100; ++i) is_set.load();
      std::unique_lock hold(lock, std::defer_lock);
      if (holds) hold.lock();
      is_set.store(true);
    }
    changed.notify_one();
    waiting.join();
    return seen ? "" : "it waited for nothing";
  };
}

TEST(machine, loses_additions_that_are_not_atomic) {
  const ends found = run_seeds(two_adders([](atomic<int>& n) { n.store(n.load() + 1); }));
  EXPECT_GT(found.count.at(end::wrong), 0);
  EXPECT_GT(found.count.at(end::as_expected), 0);
}

TEST(machine, keeps_atomic_additions) {
  EXPECT_TRUE(run_seeds(two_adders([](atomic<int>& n) { n.fetch_add(1); })).only(end::as_expected));
}

TEST(machine, finds_a_lost_wake_up) {
  ends found = run_seeds(waiter(false, true));
  ASSERT_GT(found.count[end::hanging], 0);
  EXPECT_GT(found.count[end::as_expected], 0);
  const std::string& report = found.text[end::hanging];
  EXPECT_TRUE(contains(report, "no thread can run")) << report;
  EXPECT_TRUE(contains(report, "thread 0 (main) waits for the end of thread 1")) << report;
  EXPECT_TRUE(contains(report, "waits for the condition variable")) << report;
}

TEST(machine, finds_no_bug_where_there_is_none) {
  EXPECT_TRUE(run_seeds(waiter(true, true)).only(end::as_expected));
}

TEST(machine, wakes_threads_spuriously) {
  ends found = run_seeds(waiter(true, false, true));
  EXPECT_GT(found.count[end::wrong], 0);
  EXPECT_GT(found.count[end::as_expected], 0);
}

/// Returns the first seed with which the program ends in that way.
std::uint64_t first_seed(const program& p, end how) {
  std::uint64_t seed = 0;
  while (run_isolated(seed, p).how != how) ++seed;
  return seed;
}
choices record(std::uint64_t seed, const program& p, outcome& ended) {
  recording all;
  limits most;
  most.record = &all;
  ended = run_isolated(seed, p, most);
  return all.take().value();
}
outcome follow(const choices& plan, std::uint64_t seed, const program& p, recording* record = nullptr) {
  limits most;
  most.plan = &plan;
  most.record = record;
  return run_isolated(seed, p, most);
}

TEST(machine, takes_the_same_steps_with_the_recorded_choices) {
  for (const program& p : {waiter(true, true, true), waiter(true, false, true), waiter(false, true)})
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
      outcome recorded;
      const choices plan = record(seed, p, recorded);
      const outcome followed = follow(plan, seed, p);
      EXPECT_EQ(followed.how, recorded.how) << seed;
      // Compares without addresses, which differ between processes.
      EXPECT_EQ(followed.text.substr(0, followed.text.find("0x")),
                recorded.text.substr(0, recorded.text.find("0x")))
          << seed;
      EXPECT_EQ(followed.steps, recorded.steps) << seed;
    }
}

TEST(machine, loses_an_addition_by_one_choice) {
  const program p = two_adders([](atomic<int>& n) {
    for (int i = 0; i < 50; ++i) n.load();
    n.store(n.load() + 1);
  });
  const std::uint64_t seed = first_seed(p, end::wrong);
  outcome recorded;
  const choices plan = record(seed, p, recorded);
  recording steps;
  const auto run = [&](const choices& some) {
    steps.clear();
    return trial{follow(some, seed, p, &steps).how == end::wrong, steps.steps()};
  };
  const choices few = shrink(plan, run, 1000);
  ASSERT_EQ(few.size(), 1u);
  EXPECT_EQ(few[0].type, choice::kind::preempts) << describe(few[0]);
  EXPECT_EQ(follow({}, seed, p).how, end::as_expected);
}

TEST(machine, finds_a_deadlock) {
  ends found = run_seeds([]() -> std::string {
    std::mutex a;
    std::mutex b;
    std::thread other([&] {
      const std::lock_guard first(a);
      const std::lock_guard second(b);
    });
    {
      const std::lock_guard first(b);
      const std::lock_guard second(a);
    }
    other.join();
    return {};
  });
  ASSERT_GT(found.count[end::hanging], 0);
  EXPECT_TRUE(contains(found.text[end::hanging], ", which thread 1 holds")) << found.text[end::hanging];
}

TEST(machine, finds_a_loop_without_an_end) {
  limits few;
  few.steps = 10'000;
  const outcome o = run_isolated(
      1,
      []() -> std::string {
        const atomic<bool> is_set{false};
        while (!is_set.load()) std::this_thread::yield();
        return {};
      },
      few);
  EXPECT_EQ(o.how, end::hanging);
  EXPECT_TRUE(contains(o.text, "so many steps without an end")) << o.text;
}

TEST(machine, kills_a_program_that_blocks_outside_the_machine) {
  limits impatient;
  impatient.patience = 1;
  const outcome o = run_isolated(
      1,
      []() -> std::string {
        const atomic<bool> is_set{false};
        is_set.load();
        for (;;) pause();  // in the kernel, where only SIGKILL ends it
      },
      impatient);
  EXPECT_EQ(o.how, end::hanging);
  EXPECT_TRUE(contains(o.text, "no step for 1 s, after ")) << o.text;
  EXPECT_TRUE(contains(o.text, " steps: it waits or loops outside the simulated machine\n")) << o.text;
}

TEST(machine, sleeps_in_its_own_time) {
  using namespace std::chrono_literals;
  const auto program = []() -> std::string {
    const auto begun = std::chrono::steady_clock::now();
    std::thread other([] { std::this_thread::sleep_for(50s); });
    std::this_thread::sleep_for(100s);
    other.join();
    return std::chrono::steady_clock::now() - begun >= 100s ? "" : "it did not sleep";
  };
  EXPECT_EQ(run_isolated(1, program).how, end::as_expected);
  limits short_time;
  short_time.nanoseconds = 10'000'000'000;
  EXPECT_EQ(run_isolated(1, program, short_time).how, end::hanging);
}

TEST(machine, repeats_the_steps_of_a_seed) {
  std::set<std::uint64_t> hashes;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const outcome first = run_isolated(seed, waiter(true, true));
    EXPECT_EQ(first.steps, run_isolated(seed, waiter(true, true)).steps) << seed;
    hashes.insert(first.steps.hash);
  }
  EXPECT_GT(hashes.size(), 20u);
}

TEST(machine, survives_the_death_of_a_program) {
  const outcome o = run_isolated(1, []() -> std::string { std::abort(); });
  EXPECT_EQ(o.how, end::killed);
  EXPECT_EQ(o.signal, SIGABRT);
}

struct stepping {
  atomic<int>* counted;
  ~stepping() { counted->fetch_add(1); }
};

TEST(machine, ends_a_thread_after_its_thread_local_variables) {
  EXPECT_TRUE(run_seeds([]() -> std::string {
                atomic<int> ended{0};
                std::thread other([&] { static thread_local stepping last{&ended}; });
                other.join();
                return ended.load() == 1 ? "" : "a thread was joined before its end";
              }).only(end::as_expected));
}

TEST(machine, lets_one_thread_initialise) {
  EXPECT_TRUE(run_seeds([]() -> std::string {
                static atomic<int> initialised{0};
                static std::once_flag once;
                const auto use = [] {
                  std::call_once(once, [] { initialised.fetch_add(1); });
                  static const int value = initialised.fetch_add(1);
                  return value;
                };
                int seen = 0;
                std::thread other([&] { seen = use(); });
                const int mine = use();
                other.join();
                return seen == 1 && mine == 1 && initialised.load() == 2 ? "" : "it was initialised twice";
              }).only(end::as_expected));
}

}  // namespace
