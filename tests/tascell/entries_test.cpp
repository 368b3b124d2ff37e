// SPDX-License-Identifier: Apache-2.0
// Entries from C: objects of threads and workers, and the state after a tag that is not caught.
#include "emitted/emitted.h"
#include "language_support.hpp"

#include <sukima/tascell/tascell.h>

#include <gtest/gtest.h>

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <string>
#include <thread>

namespace {

/// Enters with a C++ function that takes the top.
template <class F>
void enter(F f) {
  sukima_enter([](char* top, void* frame) { (*static_cast<F*>(frame))(top); }, &f);
}

class entries : public testing::Test {
 protected:
  void SetUp() override {
    setenv("SUKIMA_ELASTIC", "off", 1);
    unsetenv("SUKIMA_STEAL");
    ASSERT_EQ(sukima_workers_set(2), 0);
  }
};

/// Polls once.
void poll_at(char* top) {
  auto* const r = reinterpret_cast<sukima_poll_point*>(top);
  r->sukima_head.sukima_kind_or_child = reinterpret_cast<std::uintptr_t>(&sukima_poll_kind);
  sukima_poll(&r->sukima_head);
}

TEST_F(entries, know_their_worker) {
  EXPECT_EQ(sukima_worker_id(), -1);
  EXPECT_EQ(sukima_worker_count(), 2);
  enter([](char*) {
    const int id = sukima_worker_id();
    const auto thread = std::this_thread::get_id();
    EXPECT_GE(id, 0);
    // From a worker through plain C to a worker again: on the same thread, before and after.
    enter([&](char*) {
      EXPECT_EQ(sukima_worker_id(), id);
      EXPECT_EQ(std::this_thread::get_id(), thread);
      EXPECT_EQ(emitted_fib(20), 6765);
      EXPECT_EQ(std::this_thread::get_id(), thread);
    });
    EXPECT_EQ(sukima_worker_id(), id);
    EXPECT_EQ(std::this_thread::get_id(), thread);
  });
}

TEST_F(entries, nest_deeply) {
  struct level {
    static long down(int n) {
      long result = 0;
      enter([&](char*) { result = n == 0 ? 0 : down(n - 1) + 1; });
      return result;
    }
  };
  EXPECT_EQ(level::down(100), 100);
}

TEST_F(entries, refuse_other_numbers_of_workers) {
  EXPECT_EQ(sukima_workers_set(0), EINVAL);
  EXPECT_EQ(sukima_workers_set(1025), EINVAL);
  enter([](char*) { EXPECT_EQ(sukima_workers_set(3), EBUSY); });
  EXPECT_EQ(sukima_worker_count(), 2);
}

TEST_F(entries, go_on_while_another_thread_sets_the_number_of_workers) {
  constexpr int changes = 30;
  std::atomic<int> changed{0};
  std::thread other([&] {
    while (changed < changes) {
      const int answer = sukima_workers_set(1 + changed % 3);
      EXPECT_TRUE(answer == 0 || answer == EBUSY) << answer;
      if (answer == 0) ++changed;
      std::this_thread::yield();
    }
  });
  while (changed < changes) {
    enter([](char*) { EXPECT_EQ(emitted_fib(8), 21); });
    EXPECT_GE(sukima_worker_count(), 1);
    std::this_thread::yield();
  }
  other.join();
}

TEST_F(entries, report_an_uncaught_tag_to_a_caller_that_asks) {
  EXPECT_EQ(sukima_last_error(), nullptr);
  enter([](char* top) { sukima_throw(top, 42, "here.tc", 17); });
  ASSERT_NE(sukima_last_error(), nullptr);
  EXPECT_STREQ(sukima_last_error(), "here.tc:17: uncaught throw of tag 42");
  enter([](char*) {
    // A call within this one that fails is the inner caller's business.
    enter([](char* top) { sukima_throw(top, 1, "inner.tc", 2); });
    EXPECT_STREQ(sukima_last_error(), "inner.tc:2: uncaught throw of tag 1");
  });
  EXPECT_EQ(sukima_last_error(), nullptr);
}

TEST_F(entries, catch_the_nearest_equal_tag) {
  struct call {
    static int throw_two(char* top, void*) { sukima_throw(top, 2, __FILE__, __LINE__); }
    static int catch_one(char* top, void*) {
      auto* const r = reinterpret_cast<sukima_try_point*>(top);
      r->sukima_head.sukima_kind_or_child = reinterpret_cast<std::uintptr_t>(&sukima_try_kind);
      r->sukima_tag = 1;
      sukima_poll(&r->sukima_head);
      sukima_try(r, throw_two, nullptr, top + sizeof *r);
      ADD_FAILURE() << "tag 2 ended the try of tag 1";
      return 0;
    }
  };
  int found = 0;
  enter([&](char* top) {
    auto* const r = reinterpret_cast<sukima_try_point*>(top);
    r->sukima_head.sukima_kind_or_child = reinterpret_cast<std::uintptr_t>(&sukima_try_kind);
    r->sukima_tag = 2;
    sukima_poll(&r->sukima_head);
    found = sukima_try(r, call::catch_one, nullptr, top + sizeof *r);
  });
  EXPECT_EQ(found, SUKIMA_THROWN);
}

sukima_worker_object counter = {sizeof(long), alignof(long),
                                [] {
                                  static const long initial = 100;
                                  return static_cast<const void*>(&initial);
                                }(),
                                nullptr};
long& local_counter() { return *static_cast<long*>(sukima_worker_local(&counter)); }
long add(long a, long b) { return a + b; }
long add_beside_another_reduction(long a, long b) {
  EXPECT_EQ(SUKIMA_REDUCE(local_counter(), +), 1 + 105 + 105);
  return a + b;
}

TEST_F(entries, have_worker_local_objects) {
  local_counter() = 1;  // the one of the code outside
  std::atomic<int> inside{0};
  const auto count = [&] {
    enter([&](char*) {
      EXPECT_EQ(local_counter(), 100);
      ++inside;
      while (inside < 2) std::this_thread::yield();
      local_counter() += 5;
    });
  };
  std::thread other(count);  // two threads that are inside at the same time are two workers
  count();
  other.join();
  EXPECT_EQ(local_counter(), 1);
  EXPECT_EQ(SUKIMA_REDUCE(local_counter(), +), 1 + 105 + 105);
  EXPECT_EQ(SUKIMA_REDUCE_WITH(local_counter(), add), 1 + 105 + 105);
  EXPECT_EQ(SUKIMA_REDUCE_WITH(local_counter(), add_beside_another_reduction), 1 + 105 + 105);
  EXPECT_EQ(local_counter(), 1);
}

TEST_F(entries, find_the_running_threads_errno) {
  errno = 0;
  *sukima_errno() = EDOM;
  EXPECT_EQ(errno, EDOM);
  enter([](char*) {
    *sukima_errno() = ERANGE;
    EXPECT_EQ(errno, ERANGE);
  });
}

using entries_death = entries;

TEST_F(entries_death, end_the_program_by_an_uncaught_tag) {
  testing::FLAGS_gtest_death_test_style = SUKIMA_DEATH_TEST_STYLE;
  EXPECT_EXIT(std::thread([] { enter([](char* top) { sukima_throw(top, 7, "file.tc", 3); }); }).join(),
              testing::ExitedWithCode(70), "^file.tc:3: uncaught throw of tag 7\n$");
}

TEST_F(entries_death, end_the_program_when_put_enters) {
  testing::FLAGS_gtest_death_test_style = SUKIMA_DEATH_TEST_STYLE;
  EXPECT_EXIT(
      {
        struct handlers {
          static void put(void*, void*, int, int) { emitted_fib(3); }
          static void exec(char*, void*) {}
        };
        alarm(500);
        static sukima_kind kind{};
        kind.size = sizeof(sukima_poll_point);
        kind.open = sukima_do_two_open;
        kind.split = sukima_do_two_split;
        kind.leave = sukima_leave;
        kind.put = handlers::put;
        kind.exec = handlers::exec;
        kind.task_size = 8;
        kind.task_align = 8;
        enter([](char* top) {
          auto* const r = reinterpret_cast<sukima_choice_point*>(top);
          r->sukima_kind_or_child = reinterpret_cast<std::uintptr_t>(&kind);
          for (;;) {  // until a thief comes
            sukima_poll(r);
            poll_at(top + sizeof(sukima_poll_point));
            usleep(10);
          }
        });
      },
      testing::ExitedWithCode(70),
      "^sukima: a worker function was called in PUT, which may call only plain functions\n$");
}

}  // namespace
