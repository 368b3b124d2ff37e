// SPDX-License-Identifier: Apache-2.0
// Roots that no other worker knows of (fiber/unannounced.hpp): what they may not notice, and what announces
// them. Every other test passes through them, too, where it enters often.
#include "cancel/abort.hpp"
#include "fiber/fiber.hpp"
#include "fiber/switch.hpp"
#include "fiber/visit.hpp"
#include "worker.hpp"

#include "support.hpp"

#include <pthread.h>
#include <sys/mman.h>
#include <unwind.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include <atomic>
#include <cfenv>
#include <cstddef>
#include <exception>
#include <functional>
#include <optional>
#include <thread>

namespace {

using sukima::context;

bool is_unannounced() {
  const sukima::detail::fiber* const s = sukima::detail::running_fiber_as_it_is();
  return s != nullptr && s->unannounced.load(std::memory_order_relaxed);
}

/// False where each root is announced.
const bool can_be = sukima::detail::can_visit();

/// Roots of one code: short ones, until the next one begins unannounced, and then those of a test.
class unannounced : public support::runtimes {
 protected:
  void enter(const std::function<void(context)>& root) {
    runtime.run([&](context c) {
      begins_unannounced = is_unannounced();
      root(c);
    });
  }
  void enter_until_unannounced(const std::function<void(context)>& root) {
    for (bool has_run = false; !has_run;)
      enter([&](context c) {
        if (begins_unannounced != can_be) return;
        has_run = true;
        root(c);
      });
  }
  /// The test's root runs at the first entry that begins unannounced, and then `after` on the same thread: a
  /// fresh one, which has learned nothing of earlier roots. How soon it comes depends on interruptions.
  void enter_unannounced(
      const std::function<void(context)>& root, const std::function<void()>& after = [] {}) {
    std::exception_ptr failure;
    std::thread([&] {
      const pid_t here = support::this_thread();
      try {
        enter_until_unannounced(root);
      } catch (...) {
        failure = std::current_exception();
      }
      EXPECT_EQ(support::this_thread(), here);
      EXPECT_EQ(std::uncaught_exceptions(), 0);
      EXPECT_FALSE(std::current_exception());
      EXPECT_EQ(sukima::worker_id(), -1) << "the thread is outside again";
      after();
    }).join();
    if (failure) std::rethrow_exception(failure);
  }

  bool begins_unannounced = false;
};

TEST_P(unannounced, stays_so_with_one_fork) {
  enter_unannounced([](context c) {
    bool first = false;
    const auto both = sukima::fork2(
        c,
        [&] {
          first = is_unannounced();
          return 1;
        },
        [] { return is_unannounced(); });
    EXPECT_EQ(first, can_be);
    EXPECT_EQ(both.second, can_be);
  });
}

// It sets a flag of each worker, also of those that no thread has.
TEST_P(unannounced, stays_so_although_something_else_was_aborted) {
  enter_unannounced([](context c) {
    sukima::detail::request_abort_checks(*sukima::detail::running_fiber_as_it_is()->runtime);
    const auto both = sukima::fork2(c, [] { return 1; }, [] { return is_unannounced(); });
    EXPECT_EQ(both.second, can_be);
  });
}

TEST_P(unannounced, looks_for_an_abort_at_its_first_fork_once_it_is_announced) {
  enter_unannounced([](context c) {
    sukima::worker_id();  // announces it
    const sukima::detail::fiber& s = *sukima::detail::running_fiber_as_it_is();
    sukima::detail::request_abort_checks(*s.runtime);
    const auto is_asked = [&] {
      return (s.on->flags.load(std::memory_order_seq_cst) & sukima::detail::flag_check_abort) != 0;
    };
    EXPECT_TRUE(is_asked());
    const auto both = sukima::fork2(c, [&] { return is_asked(); }, [] { return 1; });
    EXPECT_FALSE(both.first);
  });
}

TEST_P(unannounced, is_announced_by_the_second_fork) {
  enter_unannounced([](context c) {
    const auto [first, second] = sukima::fork2(
        c, [](context d) { return support::fib(d, 12); },
        [](context d) { return is_unannounced() ? -1 : support::fib(d, 11); });
    EXPECT_EQ(first, 144);
    EXPECT_EQ(second, 89);
    EXPECT_FALSE(is_unannounced());
  });
}

/// A loop over these iterations, in strips of two. \returns in how many of them the root was not announced
int not_announced_of(context c, int iterations) {
  std::atomic<int> unknown{0};
  std::atomic<int> sum{0};
  sukima::parallel_for(
      c, 0, iterations,
      [&](int i) {
        if (is_unannounced()) ++unknown;
        sum += i;
      },
      sukima::grain(2));
  EXPECT_EQ(sum, iterations * (iterations - 1) / 2);
  return unknown;
}

// Polls in a row, and none of them gives work away.
TEST_P(unannounced, stays_so_in_a_loop_of_four_strips) {
  for (const int iterations : {1, 2, 3, 8})
    enter_unannounced([iterations](context c) {
      EXPECT_EQ(not_announced_of(c, iterations), can_be ? iterations : 0);
      EXPECT_EQ(is_unannounced(), can_be);
    });
}

TEST_P(unannounced, is_announced_by_the_fifth_strip_of_a_loop) {
  enter_unannounced([](context c) {
    EXPECT_EQ(not_announced_of(c, 20), can_be ? 8 : 0);
    EXPECT_FALSE(is_unannounced());
    EXPECT_EQ(not_announced_of(c, 20), 0);
  });
}

TEST_P(unannounced, is_announced_by_a_fork_after_a_loop) {
  enter_unannounced([](context c) {
    EXPECT_EQ(not_announced_of(c, 2), can_be ? 2 : 0);
    const auto both = sukima::fork2(c, [] { return is_unannounced(); }, [] { return is_unannounced(); });
    EXPECT_FALSE(both.first);
    EXPECT_FALSE(both.second);
  });
}

TEST_P(unannounced, gives_the_sum_of_its_only_loop) {
  for (const int iterations : {1, 64, 1000})
    enter_unannounced([iterations](context c) {
      EXPECT_EQ(sukima::parallel_reduce(
                    c, 0, iterations, 0, [](int i) { return i; }, std::plus<>{}),
                iterations * (iterations - 1) / 2);
    });
}

TEST_P(unannounced, continues_after_an_exception_of_its_first_loop) {
  for (const int thrower : {0, 1, 5, 19})
    enter_unannounced([thrower](context c) {
      EXPECT_THROW(sukima::parallel_for(
                       c, 0, 20,
                       [thrower](int i) {
                         if (i == thrower) throw support::test_error(i);
                       },
                       sukima::grain(2)),
                   support::test_error);
      EXPECT_EQ(not_announced_of(c, 20), 0);
      EXPECT_EQ(support::fib(c, 12), 144);
    });
}

TEST_P(unannounced, knows_its_worker) {
  enter_unannounced([](context) {
    EXPECT_GE(sukima::worker_id(), 0);
    EXPECT_FALSE(is_unannounced());
  });
}

TEST_P(unannounced, comes_back_to_its_thread_with_its_work_shared) {
  if (GetParam() == 1) return;  // no worker to share with
  for (int round = 0; round < 20; ++round)
    enter_unannounced([](context c) {
      // Each branch waits for the other one, in polls.
      std::atomic<int> begun{0};
      const auto meet = [&](context d) {
        EXPECT_FALSE(is_unannounced());
        ++begun;
        EXPECT_TRUE(support::poll_until(d, [&] { return begun.load() == 2; }));
      };
      sukima::fork2(c, [](context) {}, [](context) {});
      sukima::fork2(c, meet, meet);
    });
}

TEST_P(unannounced, can_be_suspended) {
  std::thread resumes;
  enter_unannounced([&](context c) {
    sukima::suspend(c, [&](sukima::resumer r) { resumes = std::thread([r] { r.resume(); }); });
    EXPECT_EQ(support::fib(c, 10), 55);
  });
  resumes.join();
}

TEST_P(unannounced, passes_its_exception_on) {
  for (const bool announces : {false, true})
    EXPECT_THROW(enter_unannounced([=](context) {
                   if (announces) sukima::worker_id();
                   throw support::test_error(1);
                 }),
                 support::test_error);
}

TEST_P(unannounced, does_not_see_the_exception_that_its_thread_handles) {
  enter_unannounced([](context) {},
                    [this] {
                      try {
                        throw support::test_error(1);
                      } catch (const support::test_error&) {
                        for (int round = 0; round < 50; ++round) {
                          enter([](context) { EXPECT_FALSE(std::current_exception()); });
                          EXPECT_FALSE(begins_unannounced);
                        }
                        EXPECT_TRUE(std::current_exception());
                      }
                    });
}

TEST_P(unannounced, handles_exceptions_of_its_own) {
  enter_unannounced([](context c) {
    try {
      throw support::test_error(1);
    } catch (const support::test_error&) {
      EXPECT_EQ(support::fib(c, 12), 144);
      EXPECT_TRUE(std::current_exception());
    }
    EXPECT_FALSE(std::current_exception());
  });
}

TEST_P(unannounced, keeps_its_threads_rounding) {
  enter_unannounced(
      [](context) {
        std::fesetround(FE_UPWARD);
        sukima::worker_id();  // announces it
        std::fesetround(FE_TONEAREST);
      },
      [] { EXPECT_EQ(std::fegetround(), FE_TONEAREST); });
}

#if defined(__x86_64__)
unsigned short x87_control_word() {
  unsigned short word = 0;
  asm volatile("fnstcw %0" : "=m"(word));
  return word;
}

TEST_P(unannounced, leaves_each_control_word_of_its_thread_as_it_was) {
  constexpr unsigned flushes_to_zero = 0x8040;
  enter_unannounced([](context) { _mm_setcsr(_mm_getcsr() | flushes_to_zero); },
                    [] { EXPECT_EQ(_mm_getcsr() & flushes_to_zero, 0u); });
  const unsigned short before = x87_control_word();
  enter_unannounced(
      [before](context) {
        const unsigned short single = before & ~0x300;
        asm volatile("fldcw %0" : : "m"(single));
      },
      [before] { EXPECT_EQ(x87_control_word(), before); });
}
#endif

/// A thread's stack that nothing can read once the thread has ended.
class vanishing_stack {
 public:
  vanishing_stack()
      : begin_(mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    EXPECT_NE(begin_, MAP_FAILED);
  }
  vanishing_stack(const vanishing_stack&) = delete;
  vanishing_stack& operator=(const vanishing_stack&) = delete;
  ~vanishing_stack() { munmap(begin_, size); }

  void run(std::function<void()> f) {
    pthread_attr_t on_it;
    pthread_attr_init(&on_it);
    EXPECT_EQ(pthread_attr_setstack(&on_it, begin_, size), 0);
    pthread_t thread{};
    const auto call = [](void* of) -> void* {
      (*static_cast<std::function<void()>*>(of))();
      return nullptr;
    };
    ASSERT_EQ(pthread_create(&thread, &on_it, call, &f), 0);
    pthread_attr_destroy(&on_it);
    pthread_join(thread, nullptr);
    EXPECT_EQ(mprotect(begin_, size, PROT_NONE), 0);
  }

 private:
  static constexpr std::size_t size = 1024 * 1024;
  void* const begin_;
};

int frames_below() {
  int count = 0;
  _Unwind_Backtrace(
      [](_Unwind_Context*, void* counts) {
        ++*static_cast<int*>(counts);
        return _URC_NO_REASON;
      },
      &count);
  return count;
}

// The background worker ends the root and stays on its fiber. A later task there is unwound.
TEST_P(unannounced, leaves_no_way_to_the_stack_of_its_thread) {
  if (GetParam() != 2) return;  // it must be known where the root ends
  const sukima::detail::fiber* of_root = nullptr;
  vanishing_stack stack;
  std::optional<sukima::shared_future<void>> first;
  std::optional<sukima::shared_future<void>> second;
  sukima::resumer resumes;
  std::atomic<bool> is_suspended{false};
  std::atomic<bool> is_held{false};
  std::atomic<bool> ends{false};
  std::atomic<int> home{-1};
  // The root's worker runs this while the root is suspended, so the other worker goes on with the root.
  const auto hold = [&] {
    if (sukima::worker_id() != home) {
      EXPECT_TRUE(support::sleep_until([&] { return is_held.load(); }));
    } else if (!is_held.exchange(true)) {
      EXPECT_TRUE(support::sleep_until([&] { return is_suspended.load(); }));
      resumes.resume();
      EXPECT_TRUE(support::sleep_until([&] { return ends.load(); }));
    }
  };
  stack.run([&] {
    enter_until_unannounced([&](context c) {
      home = sukima::worker_id();
      of_root = sukima::detail::running_fiber_as_it_is();
      first = sukima::launch(hold);
      second = sukima::launch(hold);
      sukima::suspend(c, [&](sukima::resumer r) {
        resumes = r;
        is_suspended = true;
      });
      EXPECT_NE(sukima::worker_id(), home);
      ends = true;
    });
  });
  runtime.run([&] {
    std::atomic<int> frames{0};
    const auto unwinds = sukima::launch([&] {
      EXPECT_EQ(sukima::detail::running_fiber_as_it_is(), of_root);
      frames = frames_below();
    });
    EXPECT_TRUE(support::sleep_until([&] { return frames != 0; }));
  });
}

/// Touches `kilobytes` of stack.
int go_deep(int kilobytes) {
  volatile char room[1024];
  room[0] = static_cast<char>(kilobytes);
  return kilobytes == 0 ? 0 : go_deep(kilobytes - 1) + (room[0] == static_cast<char>(kilobytes) ? 1 : 0);
}

TEST_P(unannounced, has_the_stack_of_a_fiber) {
  enter_unannounced([](context) { EXPECT_EQ(go_deep(32 * 1024), 32 * 1024); });
  enter_unannounced([](context) {});
}

TEST_P(unannounced, enters_other_runtimes_and_its_own) {
  sukima::runtime other(support::with_workers(2));
  for (int round = 0; round < 20; ++round)
    enter_unannounced([&](context c) {
      EXPECT_EQ(other.run([](context d) { return support::fib(d, 10); }), 55);
      EXPECT_EQ(runtime.run([](context d) { return support::fib(d, 11); }), 89);
      EXPECT_EQ(support::fib(c, 12), 144);
    });
}

TEST_P(unannounced, can_be_cancelled) {
  enter_unannounced([](context c) {
    const bool ended = sukima::cancellable(c, [](context d, sukima::canceller stop) {
      stop.cancel();
      support::fib(d, 20);
    });
    EXPECT_FALSE(ended);
    EXPECT_EQ(support::fib(c, 12), 144);
  });
}

TEST_P(unannounced, is_waited_for_by_a_shutdown) {
  std::atomic<bool> is_inside{false};
  std::atomic<bool> may_end{false};
  std::atomic<bool> has_ended{false};
  std::thread enters([&] {
    enter_unannounced([&](context) {
      is_inside = true;
      while (!may_end) std::this_thread::yield();
      EXPECT_EQ(is_unannounced(), can_be);
      has_ended = true;
    });
  });
  EXPECT_TRUE(support::sleep_until([&] { return is_inside.load(); }));
  std::thread lets_it_end([&] {
    // The shutdown has begun when entries are refused.
    EXPECT_TRUE(support::sleep_until([&] {
      try {
        runtime.run([] {});
        return false;
      } catch (const sukima::usage_error&) {
        return true;
      }
    }));
    may_end = true;
  });
  runtime.shutdown();
  EXPECT_TRUE(has_ended);
  enters.join();
  lets_it_end.join();
}

TEST_P(unannounced, shares_the_runtime_with_many_threads) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([this, i] {
      for (int round = 0; round < 2000; ++round) {
        const int n = round % 64 == 0 ? 10 + i : 1;
        EXPECT_EQ(runtime.run([n](context c) { return support::fib(c, n); }), support::plain_fib(n));
      }
    });
  for (std::thread& t : threads) t.join();
}

INSTANTIATE_TEST_SUITE_P(workers, unannounced, support::worker_counts(), support::name_of_count);

}  // namespace
