// SPDX-License-Identifier: Apache-2.0
// The mailbox for steal requests: a thief races with its victim.
#include "steal/request.hpp"

#include "race.hpp"

#include <gtest/gtest.h>

namespace {

using sukima::detail::steal_mailbox;
using sukima::detail::steal_request;
using sukima::detail::task;
using sukima::detail::worker;
using support::jitter;
using support::message_task;
using support::race;
using support::race_rounds;

class mailbox : public testing::Test {
 protected:
  support::workbench bench_{0};  // nothing is published: thieves ask
  worker& thief_ = bench_.worker(0);
  worker& victim_ = bench_.worker(1);
};

TEST_F(mailbox, a_request_is_withdrawn_or_taken_out) {
  steal_mailbox box;
  bool was_withdrawn = false;
  worker* taken = nullptr;
  race(
      7, race_rounds,
      [&] {
        box.open();
        ASSERT_TRUE(box.put(thief_));
        taken = nullptr;
      },
      {[&](jitter&) { was_withdrawn = box.withdraw(thief_); }, [&](jitter&) { taken = box.take(); }},
      [&] {
        ASSERT_EQ(was_withdrawn, taken == nullptr);
        ASSERT_TRUE(taken == nullptr || taken == &thief_);
        ASSERT_EQ(box.close(), nullptr);
      });
}

TEST_F(mailbox, a_request_is_refused_or_found_by_the_victim_that_closes_its_mailbox) {
  steal_mailbox box;
  bool was_put = false;
  worker* found = nullptr;
  race(
      8, race_rounds, [&] { box.open(); },
      {[&](jitter&) { was_put = box.put(thief_); }, [&](jitter&) { found = box.close(); }},
      [&] {
        ASSERT_EQ(was_put, found == &thief_);
        ASSERT_TRUE(box.is_closed());
        ASSERT_FALSE(box.has_request());
      });
}

TEST_F(mailbox, there_is_room_for_one_request) {
  steal_mailbox box;
  worker& other = bench_.worker(2);
  bool first = false;
  bool second = false;
  race(
      9, race_rounds, [&] { box.open(); },
      {[&](jitter&) { first = box.put(thief_); }, [&](jitter&) { second = box.put(other); }},
      [&] {
        ASSERT_NE(first, second);
        ASSERT_EQ(box.close(), first ? &thief_ : &other);
      });
}

/// The whole protocol: the thief asks, gives up, and waits for the reply if one is on its way.
TEST_F(mailbox, each_task_that_was_given_arrives) {
  message_task given;
  task* got = nullptr;
  std::atomic<bool> is_over{false};
  bool was_given = false;
  race(
      10, race_rounds,
      [&] {
        victim_.mailbox.open();
        got = nullptr;
        was_given = false;
        is_over.store(false, std::memory_order_relaxed);
      },
      {[&](jitter& delay) {
         steal_request request;
         while (got == nullptr && !request.is_pending()) got = request.poll(thief_);
         delay();
         if (got == nullptr) got = request.poll(thief_);
         if (got == nullptr) got = request.withdraw(thief_);
         if (got != nullptr) static_cast<message_task*>(got)->message -= 1;
         is_over.store(true, std::memory_order_release);
       },
       [&](jitter& delay) {
         while (!is_over.load(std::memory_order_acquire)) {
           if (worker* const asks = sukima::detail::take_request(victim_)) {
             given.message += 1;
             sukima::detail::reply_to_thief(*asks, std::exchange(was_given, true) ? nullptr : &given);
           }
           delay();
         }
       }},
      [&] {
        ASSERT_EQ(got != nullptr, was_given);
        ASSERT_TRUE(!was_given || given.message == 0);
        given.message = 0;
        ASSERT_EQ(thief_.reply.load(), nullptr);
        ASSERT_EQ(victim_.mailbox.close(), nullptr);
      });
}

}  // namespace
