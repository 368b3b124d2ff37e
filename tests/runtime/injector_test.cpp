// SPDX-License-Identifier: Apache-2.0
// The injector queue: threads that push race with threads that take.
#include "steal/injector.hpp"

#include "race.hpp"

#include <gtest/gtest.h>

#include <array>

namespace {

using sukima::detail::fiber;
using sukima::detail::permitted_work;
using sukima::detail::queue_end;
using sukima::detail::task;
using sukima::detail::work;
using support::jitter;
using support::message_task;
using support::race;
using support::race_rounds;

constexpr unsigned pushed = 4;

class injector : public testing::Test {
 protected:
  message_task* take() {
    const work found = queue_.take(nullptr, permitted_work::anything);
    EXPECT_EQ(found.runnable, nullptr);
    return static_cast<message_task*>(found.fresh);
  }

  support::workbench bench_;
  sukima::detail::injector_queue& queue_ = bench_.core.injector;
  std::array<message_task, pushed> tasks_;
};

TEST_F(injector, tasks_are_taken_in_the_order_in_which_they_were_pushed) {
  std::array<message_task*, pushed> order{};
  race(
      11, race_rounds, [] {},
      {[&](jitter& delay) {
         for (message_task& t : tasks_) {
           ++t.message;
           queue_.push(&t);
           delay();
         }
       },
       [&](jitter& delay) {
         for (message_task*& t : order)
           for (t = nullptr; t == nullptr; delay())
             if ((t = take()) != nullptr) --t->message;
       }},
      [&] {
        for (unsigned i = 0; i < pushed; ++i) {
          ASSERT_EQ(order[i], &tasks_[i]);
          ASSERT_EQ(tasks_[i].message, 0);
        }
        ASSERT_TRUE(queue_.is_empty());
      });
}

TEST_F(injector, each_task_is_taken_once) {
  std::atomic<unsigned> next{0};
  const support::racer both = [&](jitter& delay) {
    queue_.push(&tasks_[next.fetch_add(1) % pushed]);
    delay();
    queue_.push(&tasks_[next.fetch_add(1) % pushed]);
    // Two for each side, of either side: they are there, or will be.
    for (int i = 0; i < 2; delay())
      if (message_task* const t = take()) {
        t->taken.fetch_add(1, std::memory_order_relaxed);
        ++i;
      }
  };
  race(
      12, race_rounds,
      [&] {
        for (message_task& t : tasks_) t.taken.store(0, std::memory_order_relaxed);
      },
      {both, both},
      [&] {
        for (const message_task& t : tasks_) ASSERT_EQ(t.taken.load(std::memory_order_relaxed), 1);
        ASSERT_TRUE(queue_.is_empty());
      });
}

TEST_F(injector, a_fiber_goes_before_tasks_and_a_task_at_the_front_before_others) {
  fiber* const ready = bench_.core.fibers.take();
  ASSERT_NE(ready, nullptr);
  queue_.push(&tasks_[0]);
  queue_.push(&tasks_[1], queue_end::front);
  queue_.push(ready);
  EXPECT_EQ(queue_.take(&tasks_[2], permitted_work::thread_bound).fresh, nullptr);  // none descends from it
  EXPECT_EQ(queue_.take(nullptr, permitted_work::anything).runnable, ready);
  EXPECT_EQ(take(), &tasks_[1]);
  EXPECT_EQ(queue_.take_runnable(), nullptr);
  EXPECT_EQ(take(), &tasks_[0]);
  EXPECT_EQ(take(), nullptr);
  bench_.core.fibers.give(ready);
}

}  // namespace
