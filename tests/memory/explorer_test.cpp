// SPDX-License-Identifier: Apache-2.0
// Errors that the explorer finds beside outcomes: data races, ends of objects, waits for ever.
#include "atomics.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace {

using sukima::memory::atomic;
using sukima::memory::explore;
using sukima::memory::mutex;
using sukima::memory::outcome;
using sukima::memory::plain;
using sukima::memory::program;
using sukima::memory::require;

constexpr auto rlx = std::memory_order_relaxed;
constexpr auto acq = std::memory_order_acquire;
constexpr auto rel = std::memory_order_release;

bool says(const outcome& o, const std::string& part) {
  return o.error && o.error->find(part) != std::string::npos;
}

outcome pass_message(std::memory_order store, std::memory_order load) {
  plain<int> message;
  atomic<bool> ready{false};
  program p;
  p.threads = {[&] {
                 message.set(7);
                 ready.store(true, store);
               },
               [&] {
                 if (ready.load(load)) require(message.get() == 7, "the message");
               }};
  return explore(p);
}

TEST(explorer, finds_data_races) {
  EXPECT_FALSE(pass_message(rel, acq).error);
  EXPECT_TRUE(says(pass_message(rlx, acq), "data race"));
  EXPECT_TRUE(says(pass_message(rel, rlx), "data race"));
}

TEST(explorer, a_read_before_a_write_races_too) {
  plain<int> shared;
  atomic<bool> done{false};
  const auto run = [&](std::memory_order order) {
    program p;
    p.threads = {[&, order] {
                   shared.get();
                   done.store(true, order);
                 },
                 [&] {
                   if (done.load(acq)) shared.set(1);
                 }};
    return explore(p);
  };
  EXPECT_FALSE(run(rel).error);
  EXPECT_TRUE(says(run(rlx), "a write beside a read"));
}

/// A counted object, whose last user destroys it.
outcome count_users(std::memory_order order) {
  struct object {
    atomic<int> users{2};
    atomic<int> used{0};
  };
  std::optional<object> shared;
  program p;
  p.set_up = [&] { shared.emplace(); };
  const auto leave = [&] {
    shared->used.fetch_add(1, rlx);
    if (shared->users.fetch_sub(1, order) == 1) shared.reset();
  };
  p.threads = {leave, leave};
  return explore(p);
}

TEST(explorer, finds_ends_of_objects_in_use) {
  EXPECT_FALSE(count_users(std::memory_order_acq_rel).error);
  EXPECT_TRUE(says(count_users(acq), "destroyed"));
  EXPECT_TRUE(says(count_users(rel), "destroyed"));
}

TEST(explorer, finds_objects_that_are_not_ready) {
  std::optional<atomic<int>> made;
  atomic<atomic<int>*> at{nullptr};
  const auto run = [&](std::memory_order order) {
    program p;
    p.set_up = [&] { made.reset(); };
    p.threads = {[&, order] { at.store(&made.emplace(3), order); },
                 [&] {
                   if (atomic<int>* const a = at.load(acq)) require(a->load(rlx) == 3, "its first value");
                 }};
    return explore(p);
  };
  EXPECT_FALSE(run(rel).error);
  EXPECT_TRUE(says(run(rlx), "not ordered after its making"));
}

TEST(explorer, locks_order_what_they_guard) {
  plain<int> sum;
  mutex lock;
  program p;
  p.set_up = [&] { sum.set(0); };
  const auto add = [&] {
    lock.lock();
    sum.set(sum.get() + 1);
    lock.unlock();
  };
  p.threads = {add, add, add};
  p.at_end = [&] { require(sum.get() == 3, "three additions"); };
  const outcome o = explore(p);
  EXPECT_FALSE(o.error) << *o.error;
  EXPECT_EQ(o.executions, 6u);
}

TEST(explorer, waits_in_a_loop_until_the_write_comes) {
  atomic<int> flag{0};
  atomic<int> never{0};
  const auto run = [&](atomic<int>& awaited) {
    program p;
    p.threads = {[&] {
                   while (awaited.load(rlx) == 0) sukima::memory::wait_for_change();
                 },
                 [&] { flag.store(1, rlx); }};
    return explore(p);
  };
  const outcome fine = run(flag);
  EXPECT_FALSE(fine.error) << *fine.error;
  EXPECT_EQ(fine.executions, 1u);
  EXPECT_TRUE(says(run(never), "wait for ever: 0"));
}

/// A thread that sleeps until `ready`, woken by an epoch, which it reads before it looks, or too late.
outcome sleep_until_ready(bool reads_epoch_first, bool timed = false, unsigned timeouts = 0) {
  atomic<std::uint32_t> epoch{0};
  atomic<bool> ready{false};
  program p;
  p.timeouts = timeouts;
  p.threads = {[&] {
                 for (;;) {
                   std::uint32_t seen = reads_epoch_first ? epoch.load() : 0;
                   if (ready.load()) break;
                   if (!reads_epoch_first) seen = epoch.load();
                   sukima::memory::futex_wait(epoch, seen, timed);
                 }
               },
               [&] {
                 ready.store(true);
                 epoch.fetch_add(1);
                 sukima::memory::futex_wake(epoch);
               }};
  return explore(p);
}

TEST(explorer, finds_lost_wake_ups) {
  const outcome fine = sleep_until_ready(true);
  EXPECT_FALSE(fine.error) << *fine.error;
  EXPECT_GE(fine.executions, 4u);
  EXPECT_TRUE(says(sleep_until_ready(false), "wait for ever: 0"));
}

TEST(explorer, time_outs_come_where_nothing_else_happens) {
  EXPECT_TRUE(says(sleep_until_ready(false, true), "wait for ever: 0"));
  const outcome saved = sleep_until_ready(false, true, 1);
  EXPECT_FALSE(saved.error) << *saved.error;
  EXPECT_GE(saved.executions, 1u);
}

}  // namespace
