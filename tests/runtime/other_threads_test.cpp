// SPDX-License-Identifier: Apache-2.0
// Workers leave threads of other runtimes their CPUs. This program plays the preload library of `sukima run`
// and OpenMP: it has the functions that the runtime looks up.
#include "support.hpp"

#include "control/lasting_threads.hpp"
#include "control/threads_beside.hpp"
#include "fiber/fiber.hpp"
#include "fiber/switch.hpp"
#include "fiber/visit.hpp"

#include <sukima/other_threads.hpp>
#include <sukima/shared_future.hpp>
#include <sukima/suspend.hpp>

#include <capacity/shared/side_by_side.h>

#include <sys/wait.h>
#include <unistd.h>

namespace {

const cap_side_by_side* met = nullptr;
thread_local bool in_region = false;

}  // namespace

extern "C" {

[[gnu::visibility("default")]] void sukima_preload_meet(const cap_side_by_side* runtime) { met = runtime; }
[[gnu::visibility("default")]] int omp_in_parallel() { return in_region ? 1 : 0; }

}  // extern "C"

namespace {

using sukima::context;
using support::sleep_until;

/// An elastic runtime, whose number of workers follows.
class other_threads : public testing::Test {
 protected:
  void SetUp() override {
    if (all_ < 2) GTEST_SKIP() << "needs two CPUs";
  }

  bool becomes(unsigned workers) {
    return sleep_until([&] { return runtime_.workers_now() == workers; });
  }

  sukima::runtime runtime_;
  const unsigned all_ = runtime_.workers_now();
};

TEST_F(other_threads, their_begin_and_end_are_followed_while_a_thread_is_inside) {
  runtime_.run([&] {
    for (int round = 0; round < 3; ++round) {
      {
        const sukima::other_threads team(2);  // of which one is this worker
        EXPECT_EQ(sukima::detail::others.count(), 1u);
        EXPECT_TRUE(becomes(all_ - 1));
        const sukima::other_threads second(all_ + 5);
        EXPECT_TRUE(becomes(1));
      }
      EXPECT_TRUE(becomes(all_));
    }
  });
  bool is_noted = false;
  for (const sukima::decision& d : runtime_.decisions())
    is_noted = is_noted || (d.after < d.before && d.reason == "threads of another runtime compute");
  EXPECT_TRUE(is_noted);
}

TEST_F(other_threads, a_thread_that_enters_during_a_region_and_after_it_follows_it) {
  {
    const sukima::other_threads team(all_);
    runtime_.run([&] { EXPECT_TRUE(becomes(1)); });
  }
  runtime_.run([&] { EXPECT_TRUE(becomes(all_)); });
}

TEST_F(other_threads, an_outside_thread_that_computes_counts) {
  std::thread other;
  runtime_.run([&] {
    other = std::thread([&] {
      const sukima::other_threads team(2);
      EXPECT_TRUE(becomes(std::max(1u, all_ - 2)));
    });
    other.join();
    EXPECT_TRUE(becomes(all_));
  });
}

TEST_F(other_threads, a_limit_of_the_program_stays) {
  runtime_.limit_workers(1);
  runtime_.run([&] {
    {
      const sukima::other_threads team(all_);
      EXPECT_TRUE(sleep_until([] { return sukima::detail::others.count() != 0; }));
      EXPECT_TRUE(becomes(1));
    }
    EXPECT_TRUE(becomes(1));
    runtime_.limit_workers(0);
    EXPECT_TRUE(becomes(all_));
  });
}

TEST_F(other_threads, none_of_a_region_counts_while_one_of_them_enters) {
  const sukima::other_threads team(all_);
  runtime_.run([&] { EXPECT_TRUE(becomes(1)); });
  std::thread member([&] {
    in_region = true;
    runtime_.run([&] { EXPECT_TRUE(becomes(all_)); });
  });
  member.join();
  runtime_.run([&] { EXPECT_TRUE(becomes(1)); });
}

/// With four CPUs, whatever the machine has: two workers that stay for launched futures are not all.
class other_threads_of_four : public testing::Test {
 protected:
  other_threads_of_four() {
    setenv("SUKIMA_CPUS", "4", 1);
    runtime_.emplace();
  }
  ~other_threads_of_four() override {
    runtime_.reset();
    unsetenv("SUKIMA_CPUS");
  }
  bool becomes(unsigned workers) {
    return sleep_until([&] { return runtime_->workers_now() == workers; });
  }
  std::optional<sukima::runtime> runtime_;
};

TEST_F(other_threads_of_four, none_of_a_region_counts_while_one_of_them_waits_outside) {
  const sukima::other_threads team(4);
  std::atomic<bool> ends{false};
  const auto waited_for = runtime_->run([&] {
    EXPECT_TRUE(becomes(1));
    return sukima::launch([&] { sleep_until([&] { return ends.load(); }); });
  });
  std::thread member([&] {
    in_region = true;
    waited_for.touch();
  });
  EXPECT_TRUE(becomes(4)) << "it would be three with two workers for launched futures";
  ends.store(true);
  member.join();
  runtime_->run([&] { EXPECT_TRUE(becomes(1)); });
}

TEST_F(other_threads, end_while_no_thread_is_inside) {
  {
    const sukima::other_threads team(all_);
    runtime_.run([&] { EXPECT_TRUE(becomes(1)); });
  }
  EXPECT_TRUE(becomes(all_));
}

/// The thread leaves at another moment between two looks of the monitor in each round.
TEST_F(other_threads, workers_come_back_whenever_the_last_thread_leaves) {
  const sukima::other_threads team(all_);
  for (int round = 0; round < 25; ++round) {
    sukima::runtime own;
    own.run([&] {
      EXPECT_TRUE(sleep_until([&] { return own.workers_now() == 1; }));
      std::this_thread::sleep_for(std::chrono::milliseconds(round));
    });
    EXPECT_TRUE(sleep_until([&] { return own.workers_now() == all_; })) << round;
  }
}

/// Launches, and waits for the future in a way that the runtime does not see.
bool begins(sukima::runtime& in) {
  std::atomic<bool> has_begun{false};
  const auto launched = in.run([&] { return sukima::launch([&] { has_begun.store(true); }); });
  return sleep_until([&] { return has_begun.load(); });
}

TEST_F(other_threads, leave_a_worker_for_launched_futures) {
  const sukima::other_threads team(all_);
  runtime_.run([&] { EXPECT_TRUE(becomes(1)); });
  EXPECT_TRUE(begins(runtime_)) << "no thread is inside";
  runtime_.run([&] {
    EXPECT_TRUE(becomes(1));
    std::thread other([&] { EXPECT_TRUE(begins(runtime_)); });
    other.join();
  });
}

TEST_F(other_threads, a_region_keeps_its_fiber_on_its_thread) {
  runtime_.run([&] {
    const unsigned before = *sukima::detail::running_thread_bindings();
    const std::uint64_t region = met->region_begins(2);
    EXPECT_EQ(*sukima::detail::running_thread_bindings(), before + 1);
    met->region_ends(region);
    EXPECT_EQ(*sukima::detail::running_thread_bindings(), before);
  });
}

TEST_F(other_threads, take_cpus_and_not_workers) {
  if (all_ < 3) GTEST_SKIP() << "needs three CPUs";
  runtime_.limit_workers(2);
  runtime_.run([&] {
    const sukima::other_threads team(all_ - 1);  // with this worker
    EXPECT_TRUE(sleep_until([&] { return sukima::detail::others.count() == all_ - 2; }));
    EXPECT_TRUE(becomes(2));
  });
}

TEST_F(other_threads, regions_that_the_preload_library_sees_are_followed) {
  ASSERT_NE(met, nullptr);
  met->was_used();
  EXPECT_FALSE(met->was_used());
  runtime_.run([&] {
    EXPECT_TRUE(met->was_used());
    EXPECT_TRUE(met->was_used()) << "a thread is inside";
    const std::uint64_t region = met->region_begins(all_ + 1);
    EXPECT_TRUE(becomes(1));
    met->region_ends(region);
    EXPECT_TRUE(becomes(all_));
  });
  EXPECT_FALSE(met->was_used());
  runtime_.run([] {});
  EXPECT_TRUE(met->was_used()) << "since the last call";
}

TEST_F(other_threads, see_a_thread_whose_root_is_not_announced) {
  sukima::runtime other(support::with_workers(2));
  for (bool has_run = false; !has_run;)
    other.run([&] {
      const sukima::detail::fiber& s = *sukima::detail::running_fiber_as_it_is();
      if (s.unannounced.load(std::memory_order_relaxed) != sukima::detail::can_visit()) return;
      has_run = true;
      met->was_used();
      EXPECT_TRUE(met->was_used()) << "a thread is inside";
    });
  EXPECT_FALSE(met->was_used());
}

TEST_F(other_threads, a_region_of_one_thread_counts_as_none) {
  EXPECT_EQ(met->region_begins(1), 0u);
  EXPECT_EQ(met->region_begins(0), 0u);
  EXPECT_EQ(sukima::detail::others.count(), 0u);
}

TEST(lasting_threads, count_after_a_whole_sample_and_no_longer_than_they_compute) {
  const auto each = std::chrono::nanoseconds(sukima::detail::tuning::beside_sample_ns);
  const sukima::detail::lasting_threads::time_point start{std::chrono::hours(1)};
  sukima::detail::lasting_threads lasting;
  EXPECT_EQ(lasting.sample(4, 0, start), 0u) << "they have just begun";
  EXPECT_EQ(lasting.sample(4, 0, start + each / 2), 0u);
  EXPECT_EQ(lasting.sample(4, 0, start + each), 4u);
  lasting.drop_to(1);
  EXPECT_EQ(lasting.sample(1, 4, start + each + each / 2), 1u) << "the end counts at once";
  EXPECT_EQ(lasting.sample(4, 1, start + 2 * each), 1u) << "others have begun since";
  EXPECT_EQ(lasting.sample(4, 1, start + 3 * each), 4u);
}

TEST(lasting_threads, do_not_count_when_others_end_and_begin_all_the_time) {
  const auto each = std::chrono::nanoseconds(sukima::detail::tuning::beside_sample_ns);
  sukima::detail::lasting_threads::time_point now{std::chrono::hours(1)};
  sukima::detail::lasting_threads lasting;
  for (int i = 0; i < 5; ++i, now += each) {
    EXPECT_EQ(lasting.sample(4, 0, now), 0u);
    lasting.drop_to(0);
  }
}

TEST_F(other_threads, a_thread_of_a_region_may_enter_several_times) {
  const sukima::other_threads team(all_);
  std::thread member([&] {
    in_region = true;
    for (int i = 0; i < 3; ++i) runtime_.run([&] { EXPECT_TRUE(becomes(all_)); });
    in_region = false;
    runtime_.run([&] { EXPECT_TRUE(becomes(1)); });
  });
  member.join();
}

TEST_F(other_threads, regions_begin_and_end_while_threads_enter_and_runtimes_come_and_go) {
  std::atomic<bool> ends{false};
  std::vector<std::thread> regions;
  for (int i = 0; i < 3; ++i)
    regions.emplace_back([&] {
      while (!ends.load()) const sukima::other_threads team(2);
    });
  std::thread member([&] {
    in_region = true;
    while (!ends.load()) runtime_.run([] {});
  });
  for (int i = 0; i < 20; ++i) {
    sukima::runtime another;
    for (int k = 0; k < 50; ++k) another.run([] {});
    for (int k = 0; k < 50; ++k) runtime_.run([] {});
  }
  ends.store(true);
  for (std::thread& t : regions) t.join();
  member.join();
  EXPECT_EQ(sukima::detail::others.count(), 0u);
  runtime_.run([&] { EXPECT_TRUE(becomes(all_)); });
}

// ThreadSanitizer starts no threads in the child of a process with several.
#if !defined(__SANITIZE_THREAD__)

TEST_F(other_threads, the_child_of_a_fork_has_none) {
  std::optional<sukima::other_threads> team(std::in_place, all_);
  const pid_t child = fork();
  if (child == 0) {
    const bool none = sukima::detail::others.count() == 0;
    team.reset();
    const bool still_none = sukima::detail::others.count() == 0;
    sukima::runtime own;
    const bool all = own.run([&] { return sleep_until([&] { return own.workers_now() == all_; }); });
    _exit(none && still_none && all ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

#endif

}  // namespace
