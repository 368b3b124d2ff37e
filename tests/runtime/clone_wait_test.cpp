// SPDX-License-Identifier: Apache-2.0
// How long a worker that wants work waits for clones that have none to give.
#include "clones.hpp"

#include "constants.hpp"
#include "fiber/fiber.hpp"
#include "park/park.hpp"
#include "runtime_core.hpp"
#include "worker.hpp"

#include <sukima/detail/clone.h>
#include <sukima/detail/ticks.hpp>

namespace {

using sukima::context;
using support::second_ns;
using support::with_clones;

/// Calls f(fiber, poll) while another worker wants work that this fiber does not have. `poll` is a clone's
/// poll with a request.
template <class F> void beside_an_idle_worker(unsigned clones_ns, F f) {
  const support::must_end watch("a clone beside an idle worker");
  sukima::runtime runtime(with_clones(2, clones_ns));
  runtime.run([&](context c) {
    sukima::detail::fiber& s = sukima::detail::fiber_of(c.top);
    f(s, [&] {
      s.limit.request_poll();
      return sukima_poll_in_clone(c.top) != 0;
    });
  });
}

/// The other worker may just have found something else to do, so a test repeats until it sees what it waits
/// for.
template <class Seen> void repeat_until(Seen seen) {
  while (!seen()) std::this_thread::yield();
}

TEST(clone_wait, begins_with_the_first_request_that_is_not_served) {
  beside_an_idle_worker(second_ns, [](sukima::detail::fiber& s, auto poll) {
    repeat_until([&] {
      s.unserved_since = 0;
      return !poll() && s.unserved_since != 0;
    });
  });
}

TEST(clone_wait, lets_a_short_clone_end) {
  beside_an_idle_worker(second_ns, [](sukima::detail::fiber& s, auto poll) {
    repeat_until([&] {
      const std::uint64_t since = sukima::detail::ticks();
      s.unserved_since = since;
      return !poll() && s.unserved_since == since;
    });
  });
}

TEST(clone_wait, ends_when_the_worker_has_waited_long_enough) {
  beside_an_idle_worker(second_ns, [](sukima::detail::fiber& s, auto poll) {
    repeat_until([&] {
      s.unserved_since = sukima::detail::ticks() - s.runtime->tuned.clone_patience;
      return poll();
    });
    EXPECT_EQ(s.unserved_since, 0u);
  });
}

TEST(clone_wait, is_no_longer_than_a_clone) {
  beside_an_idle_worker(1, [](sukima::detail::fiber& s, auto poll) {
    repeat_until([&] {
      s.unserved_since = sukima::detail::ticks() - s.pool->shortest_clone_grain();
      return poll();
    });
  });
}

TEST(clone_wait, ends_when_the_request_is_served) {
  sukima::runtime runtime(with_clones(1, second_ns));
  runtime.run([](context c) {
    sukima::detail::fiber& s = sukima::detail::fiber_of(c.top);
    s.unserved_since = 1;  // long ago, so that the poll looks
    s.limit.request_poll();
    EXPECT_EQ(sukima_poll_in_clone(c.top), 0);
    EXPECT_EQ(s.unserved_since, 0u);
  });
}

/// Flags are answered at once. The owner clears this one at its poll.
TEST(clone_wait, is_not_for_aborts) {
  sukima::runtime runtime(with_clones(1, second_ns));
  runtime.run([](context c) {
    sukima::detail::fiber& s = sukima::detail::fiber_of(c.top);
    s.runtime->tuned.clone_patience = s.pool->shortest_clone_grain();
    s.unserved_since = sukima::detail::ticks();
    // pairs with: poll_slow
    s.on->flags.fetch_or(sukima::detail::flag_check_abort, std::memory_order_seq_cst);
    s.limit.request_poll();
    EXPECT_EQ(sukima_poll_in_clone(c.top), 0);
    EXPECT_EQ(s.on->flags.load(std::memory_order_seq_cst), 0u);  // no partner: the thread's own flags
  });
}

}  // namespace
