// SPDX-License-Identifier: Apache-2.0
// A process with address space for one or two fibers: what needs another fiber is refused, all else works.
#include "address_space.hpp"
#include "support.hpp"

#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <optional>
#include <string>
#include <system_error>

// Sanitizers need a larger address space.
#if !defined(SUKIMA_SANITIZED)

namespace {

using sukima::context;
using support::fib;
using support::give_up_after;
using support::limit_address_space;
using support::with_workers;
using testing::ExitedWithCode;

/// Each test is a process of its own; one that hangs is killed.
class few_fibers_death_test : public testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, SUKIMA_DEATH_TEST_STYLE); }
};

/// A runtime that has memory for one fiber. \param workers  that are asked for
sukima::settings with_little_room(unsigned workers) {
  sukima::settings s = with_workers(workers);
  s.stack = std::size_t{64} << 20;
  limit_address_space(std::size_t{300} << 20);
  return s;
}

TEST_F(few_fibers_death_test, no_memory_for_a_second_fiber_lets_a_helping_thread_compute) {
  EXPECT_EXIT(
      {
        give_up_after(500);
        sukima::runtime r(with_little_room(4));
        const auto f = r.run([] { return sukima::launch([](context c) { return fib(c, 20); }); });
        _exit(f.touch(sukima::helping) == 6765 && r.workers_now() == 1 ? 0 : 1);
      },
      ExitedWithCode(0), "");
}

// Its worker would have no fiber to go on with, and only that worker could resume it.
TEST_F(few_fibers_death_test, no_memory_for_a_second_fiber_refuses_to_suspend) {
  EXPECT_EXIT(
      {
        give_up_after(500);
        sukima::runtime r(with_little_room(1));
        const std::string message = support::message_of<std::system_error>([&] {
          r.run([](context c) {
            sukima::suspend(c, [](sukima::resumer me) {
              const auto resumes = sukima::launch([me] { me.resume(); });
              static_cast<void>(resumes);
            });
          });
        });
        std::fputs(message.c_str(), stderr);
        _exit(r.run([](context c) { return fib(c, 10); }) == 55 ? 0 : 1);
      },
      ExitedWithCode(0), "SUKIMA_STACK");
}

TEST_F(few_fibers_death_test, workers_without_a_second_fiber_stand_still_but_for_the_last_one) {
  EXPECT_EXIT(
      {
        give_up_after(500);
        sukima::settings s = with_workers(2);
        s.stack = std::size_t{64} << 20;
        std::optional<sukima::runtime> r;
        for (std::size_t room = 100; !r || r->workers_now() < 2; room += 50) {
          r.reset();
          limit_address_space(room << 20);
          try {
            r.emplace(s);
          } catch (const std::system_error&) {
            r.reset();
          }
        }
        std::string message;
        r->run([&](context c) {
          sukima::resumer first;
          std::atomic<bool> began{false};
          std::atomic<bool> suspends{false};
          sukima::fork2(
              c,
              [&](context below) {
                support::poll_until(below, [&] { return began.load(); });
                sukima::suspend(below, [&](sukima::resumer me) {
                  first = me;
                  suspends = true;
                });
              },
              [&](context below) {
                began = true;
                support::sleep_until([&] { return suspends.load(); });
                message = support::message_of<std::system_error>(
                    [&] { sukima::suspend(below, [](sukima::resumer) { _exit(1); }); });
                first.resume();
              });
        });
        std::fputs(message.c_str(), stderr);
        _exit(0);
      },
      ExitedWithCode(0), "SUKIMA_STACK");
}

}  // namespace

#endif
