// SPDX-License-Identifier: Apache-2.0
// Publication slots: a thief and the owner race for what is published.
#include "steal/publication_slots.hpp"

#include "race.hpp"

#include <gtest/gtest.h>

#include <array>

namespace {

using sukima::detail::publication_slots;
using sukima::detail::task;
using support::jitter;
using support::message_task;
using support::race;
using support::race_rounds;

constexpr unsigned slots = 3;

class publication : public testing::Test {
 protected:
  void publish(unsigned i) {
    tasks_[i].message = ++written_;
    published_.publish(&tasks_[i], published_.free_slot(slots));
  }
  /// Records that the caller received `t`; ignores null.
  void got(task* t) {
    if (t == nullptr) return;
    auto& mine = static_cast<message_task&>(*t);
    if (mine.message == 0) lost_messages_.fetch_add(1, std::memory_order_relaxed);
    mine.taken.fetch_add(1, std::memory_order_relaxed);
  }
  void set_up() {
    for (message_task& t : tasks_) t.taken.store(0, std::memory_order_relaxed);
  }
  /// Each task was taken once, and the slots are empty.
  void check() {
    for (const message_task& t : tasks_) ASSERT_EQ(t.taken.load(std::memory_order_relaxed), 1);
    ASSERT_EQ(lost_messages_.load(std::memory_order_relaxed), 0);
    ASSERT_FALSE(published_.any(slots));
    ASSERT_EQ(published_.free_slot(slots), 0u);
  }
  void steal_all(jitter& delay, const std::atomic<bool>& is_over) {
    while (!is_over.load(std::memory_order_acquire)) {
      got(published_.steal_oldest(slots));
      delay();
    }
    while (task* const t = published_.steal_oldest(slots)) got(t);
  }

  publication_slots published_;
  std::array<message_task, slots> tasks_;
  std::atomic<int> lost_messages_{0};
  int written_ = 0;
};

TEST_F(publication, a_task_goes_to_the_thief_or_back_to_its_owner) {
  std::atomic<bool> is_over{false};
  race(
      1, race_rounds,
      [&] {
        set_up();
        is_over.store(false, std::memory_order_relaxed);
      },
      {[&](jitter& delay) {
         for (unsigned i = 0; i < slots; ++i) {
           publish(i);
           delay();
         }
         for (unsigned i = slots; i-- > 0;) {
           if (published_.reclaim(&tasks_[i])) got(&tasks_[i]);
           delay();
         }
         is_over.store(true, std::memory_order_release);
       },
       [&](jitter& delay) { steal_all(delay, is_over); }},
      [&] { check(); });
}

TEST_F(publication, two_thieves_never_get_the_same_task) {
  race(
      2, race_rounds,
      [&] {
        set_up();
        for (unsigned i = 0; i < slots; ++i) publish(i);
      },
      {[&](jitter& delay) {
         while (task* const t = published_.steal_oldest(slots)) {
           got(t);
           delay();
         }
       },
       [&](jitter& delay) {
         while (task* const t = published_.steal_suiting(slots, [](std::uint16_t) { return true; })) {
           got(t);
           delay();
         }
       }},
      [&] { check(); });
}

TEST_F(publication, an_emptied_slot_was_not_stolen) {
  race(
      3, race_rounds,
      [&] {
        set_up();
        for (unsigned i = 0; i < slots; ++i) publish(i);
      },
      {[&](jitter& delay) {
         for (unsigned i = 0; i < slots; ++i) {
           got(published_.empty(i));
           delay();
         }
       },
       [&](jitter& delay) {
         while (task* const t = published_.steal_oldest(slots)) {
           got(t);
           delay();
         }
       }},
      [&] { check(); });
}

TEST_F(publication, a_thief_gets_the_oldest_task_first) {
  for (unsigned i = 0; i < slots; ++i) publish(i);
  std::thread([&] {
    EXPECT_EQ(published_.steal_oldest(slots), &tasks_[0]);
    EXPECT_EQ(published_.steal_oldest(slots), &tasks_[1]);
  }).join();
  publish(0);  // into a free slot before that of the older one
  std::thread([&] {
    EXPECT_EQ(published_.steal_oldest(slots), &tasks_[2]);
    EXPECT_EQ(published_.steal_oldest(slots), &tasks_[0]);
    EXPECT_EQ(published_.steal_oldest(slots), nullptr);
  }).join();
}

TEST_F(publication, the_owner_gets_back_the_oldest_task_that_suits) {
  for (unsigned i = 0; i < slots; ++i) publish(i);
  const auto reclaim = [&](auto suits) { return published_.reclaim_oldest(slots, suits); };
  EXPECT_EQ(reclaim([&](const task& t) { return &t != &tasks_[0]; }), &tasks_[1]);
  EXPECT_EQ(reclaim([](const task&) { return false; }), nullptr);
  EXPECT_EQ(reclaim([](const task&) { return true; }), &tasks_[0]);
  EXPECT_EQ(reclaim([](const task&) { return true; }), &tasks_[2]);
  EXPECT_EQ(reclaim([](const task&) { return true; }), nullptr);
}

}  // namespace
