// SPDX-License-Identifier: Apache-2.0
// Parking: workers that fall asleep race with threads that wake them. A wake-up that is lost is a hang.
#include "park/park.hpp"

#include "park/call_home.hpp"
#include "race.hpp"
#include "support.hpp"

#include <gtest/gtest.h>

namespace {

using sukima::wait_point;
using sukima::wait_policy;
using sukima::detail::learned_spin;
using sukima::detail::parking;
using sukima::detail::worker;
using support::jitter;
using support::race;
using support::race_rounds;

constexpr unsigned rounds = race_rounds / 5;  // each has some system calls

class wake_epochs : public testing::TestWithParam<wait_policy> {};

TEST_P(wake_epochs, an_advance_after_the_last_look_is_not_lost) {
  sukima::detail::wake_epoch epoch(GetParam() == wait_policy::condvar, GetParam() == wait_policy::inherit);
  std::atomic<bool> there{false};
  race(
      13, rounds, [&] { there.store(false); },
      {[&](jitter& delay) {
         for (;;) {
           const std::uint32_t seen = epoch.read();
           if (there.load(std::memory_order_relaxed)) break;
           delay();
           epoch.wait(GetParam(), seen);
         }
       },
       [&](jitter&) {
         there.store(true, std::memory_order_relaxed);
         epoch.advance();
       }},
      [] {});
}

INSTANTIATE_TEST_SUITE_P(policies, wake_epochs,
                         testing::Values(wait_policy::block, wait_policy::condvar, wait_policy::adaptive));

class parking_workers : public testing::Test {
 protected:
  /// As the loop of a worker that looks for one piece of work.
  void find_one(worker& w, jitter& delay) {
    std::uint64_t timeout_ns = 0;
    for (;;) {
      const std::uint32_t seen = w.epoch.read();
      unsigned there = work_.load(std::memory_order_relaxed);
      if (there != 0 && work_.compare_exchange_strong(there, there - 1, std::memory_order_relaxed)) break;
      delay();
      park_.park(w, wait_point::idle, nullptr, seen, timeout_ns);
    }
    park_.end_search();
  }
  void check_idle() {
    const sukima::detail::worker_counts now = park_.counts();
    ASSERT_EQ(now.entries, 0);
    ASSERT_EQ(now.searching, 0);
    ASSERT_EQ(now.parked, 0);
    for (const worker& w : bench_.core.workers.all()) ASSERT_FALSE(w.parked.load());
  }

  support::workbench bench_;
  parking& park_ = bench_.core.park;
  std::atomic<unsigned> work_{0};
};

TEST_F(parking_workers, an_entry_calls_up_the_last_worker_that_parks) {
  race(
      14, rounds,
      [&] {
        park_.entry_begins();
        park_.entry_ends(0);  // long ago: the last searching worker may park
        park_.begin_search();
      },
      {[&](jitter& delay) { find_one(bench_.worker(0), delay); },
       [&](jitter& delay) {
         park_.entry_begins();
         delay();
         work_.store(1, std::memory_order_relaxed);
         park_.wake_sentinel();
       }},
      [&] {
        park_.entry_ends(0);
        check_idle();
      });
}

/// Both workers are called up in turn: by the third, and by the first one that wakes. A worker that leaves by
/// itself, because its thread is wanted at home, passes on a call that was meant for the other one.
TEST_F(parking_workers, a_call_is_passed_on_by_a_worker_that_leaves_by_itself) {
  worker& leaves = bench_.worker(0);
  const auto sleep = [&](worker& w, jitter& delay) {
    std::uint64_t timeout_ns = 0;
    const std::uint32_t seen = w.epoch.read();
    delay();
    park_.park(w, wait_point::idle, nullptr, seen, timeout_ns);
    park_.end_search();
  };
  race(
      15, rounds,
      [&] {
        park_.entry_begins();
        for (int i = 0; i < 3; ++i) park_.begin_search();
      },
      {[&](jitter& delay) { sleep(leaves, delay); }, [&](jitter& delay) { sleep(bench_.worker(1), delay); },
       [&](jitter& delay) {
         while (park_.counts().parked != 2) std::this_thread::yield();
         delay();
         sukima::detail::call_home(leaves);
         delay();
         park_.end_search();
       }},
      [&] {
        sukima::detail::answer_call_home(leaves);
        park_.entry_ends(0);
        check_idle();
      });
}

/// Whether a search goes on after a millisecond if its worker has learned to search for long.
class searches : public testing::Test {
 protected:
  bool go_on() {
    learned_spin learned;
    learned.note_sleep(0, hour_);
    return bench_.core.park.spins(wait_point::idle, sukima::detail::ticks() - millisecond_, learned);
  }
  support::workbench bench_{3, sukima::wait_policy::adaptive};
  const sukima::detail::tuned_ticks& tuned_ = bench_.core.tuned;
  const std::uint64_t millisecond_ = tuned_.late_wake_up * 2;
  const std::uint64_t hour_ = millisecond_ * 3'600'000;
  const std::uint64_t later_ =
      sukima::detail::ticks() + hour_;  // so that the mark lasts longer than the test
};

TEST_F(searches, are_short_after_one_has_lost_its_cpu) {
  EXPECT_TRUE(go_on());
  bench_.core.park.note_look(later_ - tuned_.lost_turn + 1, later_);
  bench_.core.park.note_look(later_ + hour_, later_);  // another CPU's counter was ahead
  EXPECT_TRUE(go_on());
  bench_.core.park.note_look(later_ - tuned_.lost_turn, later_);
  EXPECT_FALSE(go_on());
}

TEST_F(searches, are_short_after_a_late_wake_up) {
  worker& w = bench_.worker(0);
  bench_.core.park.note_wake_up(w, later_);  // no other worker has unparked it
  w.unparked_at.store(later_ - tuned_.late_wake_up + 1, std::memory_order_relaxed);
  bench_.core.park.note_wake_up(w, later_);
  w.unparked_at.store(later_ + hour_, std::memory_order_relaxed);
  bench_.core.park.note_wake_up(w, later_);
  EXPECT_TRUE(go_on());
  w.unparked_at.store(later_ - tuned_.late_wake_up, std::memory_order_relaxed);
  bench_.core.park.note_wake_up(w, later_);
  EXPECT_FALSE(go_on());
}

}  // namespace
