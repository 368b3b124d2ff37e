// SPDX-License-Identifier: Apache-2.0
// Shared parts of the runtime's tests: runtimes of several sizes, waiting with an end, objects that count
// themselves.
#pragma once

#include "invariants/at_rest.hpp"

#include <sukima/sukima.hpp>

#include <gtest/gtest.h>

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace support {

using namespace std::chrono_literals;

#if defined(SUKIMA_SANITIZED)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

/// Longer than any wait of a test that works, shorter than ctest's own limit.
inline constexpr auto patience = 500s;

/// Asks the kernel: pthread_self, which std::this_thread::get_id calls, is a constant function for the
/// compiler, which calls it once and keeps the answer.
inline pid_t this_thread() { return static_cast<pid_t>(syscall(SYS_gettid)); }

inline sukima::settings with_workers(unsigned workers) {
  sukima::settings s;
  s.workers = workers;
  s.elastic = false;  // as many as asked for: tests need them at the same time
  return s;
}

/// Tests that are done with several numbers of workers, fewer and more than the CPUs.
class runtimes : public testing::TestWithParam<unsigned> {
 protected:
  /// A result that is right says nothing of a worker that stays asleep or a fiber that was lost.
  void TearDown() override { sukima::detail::check_at_rest_if_built(runtime); }
  sukima::runtime runtime{with_workers(GetParam())};
};
inline auto worker_counts() { return testing::Values(1u, 2u, 4u, 16u); }
inline std::string name_of_count(const testing::TestParamInfo<unsigned>& info) {
  return std::to_string(info.param) + "_workers";
}

/// Forks again and again, so that thieves are served, until the condition holds. False: it took too long.
template <class Condition> bool poll_until(sukima::context c, Condition condition) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    sukima::fork2(c, [] {}, [] {});
    std::this_thread::yield();
  }
  return true;
}

/// Sleeps until the condition holds. False: it took too long.
template <class Condition> bool sleep_until(Condition condition) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(100us);
  }
  return true;
}

/// Ends the process if what follows in its block hangs: nothing in it waits with an end of its own.
class must_end {
 public:
  explicit must_end(const char* subject) : thread_([this, subject] { watch(subject); }) {}
  must_end(const must_end&) = delete;
  must_end& operator=(const must_end&) = delete;
  ~must_end() {
    {
      const std::lock_guard hold(lock_);
      ended_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }

 private:
  void watch(const char* subject) {
    std::unique_lock hold(lock_);
    if (changed_.wait_for(hold, patience, [this] { return ended_; })) return;
    std::fprintf(stderr, "%s has not ended after %lld s\n", subject,
                 static_cast<long long>(patience.count()));
    std::abort();
  }
  std::mutex lock_;
  std::condition_variable changed_;
  bool ended_ = false;
  std::thread thread_;
};

/// Suspends all that arrive but the last one, which resumes the others: each has to begin before any can end.
class suspending_barrier {
 public:
  explicit suspending_barrier(std::size_t expected) : missing_(expected) {}
  void arrive(sukima::context c) {
    std::vector<sukima::resumer> others;
    {
      std::unique_lock hold(lock_);
      if (--missing_ != 0) {
        hold.unlock();
        sukima::suspend(c, [this](sukima::resumer r) { add(r); });
        return;
      }
    }
    {
      const std::lock_guard hold(lock_);
      complete_ = true;
      others.swap(waiting_);
    }
    for (const sukima::resumer& r : others) r.resume();
  }

 private:
  /// The last one may have come between the count and this.
  void add(sukima::resumer r) {
    {
      const std::lock_guard hold(lock_);
      if (!complete_) {
        waiting_.push_back(r);
        return;
      }
    }
    r.resume();
  }
  std::mutex lock_;
  std::size_t missing_;
  bool complete_ = false;
  std::vector<sukima::resumer> waiting_;
};

/// Forks until it is aborted; for branches that a sibling's exception or a canceller has to end.
[[noreturn]] inline void fork_for_ever(sukima::context c) {
  if (poll_until(c, [] { return false; })) throw std::logic_error("the condition cannot hold");
  throw std::runtime_error("this branch was not aborted");
}

/// Memory of this process that is in no file, in RAM or swapped out; none: this kernel does not report it.
/// Counted page by page: VmRSS is a guess if there are many CPUs, and shrinks if others need memory.
inline std::optional<std::size_t> private_bytes() {
  std::optional<std::size_t> bytes;
  std::ifstream all("/proc/self/smaps_rollup");
  for (std::string line; std::getline(all, line);)
    for (const std::string field : {"Anonymous:", "Swap:"})
      if (line.starts_with(field)) bytes = bytes.value_or(0) + std::stoul(line.substr(field.size())) * 1024;
  return bytes;
}

/// Counts its objects, and notices two destructions of one.
class counted {
 public:
  explicit counted(int value = 0) : value_(value) { ++alive_; }
  counted(const counted& other) : value_(other.value()) {
    ++alive_;
    ++copies_;
  }
  counted(counted&& other) noexcept : value_(other.value()) { ++alive_; }
  counted& operator=(const counted&) = default;
  counted& operator=(counted&&) = default;
  ~counted() {
    if (life_ != living) ++errors_;
    life_ = 0;
    --alive_;
  }
  int value() const {
    if (life_ != living) ++errors_;
    return value_;
  }

  static void reset() {
    alive_ = 0;
    copies_ = 0;
    errors_ = 0;
  }
  static int alive() { return alive_; }
  static int copies() { return copies_; }
  static int errors() { return errors_; }

 private:
  static constexpr unsigned living = 0x600DF00D;
  inline static std::atomic<int> alive_{0};
  inline static std::atomic<int> copies_{0};
  inline static std::atomic<int> errors_{0};
  volatile unsigned life_ = living;
  int value_;
};

/// An exception with the number of the code that threw it.
struct test_error : std::runtime_error {
  explicit test_error(int n) : std::runtime_error("error " + std::to_string(n)), number(n) {}
  int number;
};

inline long fib(sukima::context c, int n) {
  if (n < 2) return n;
  auto [a, b] = sukima::fork2(
      c, [=](sukima::context below) { return fib(below, n - 1); },
      [=](sukima::context below) { return fib(below, n - 2); });
  return a + b;
}

/// Calls of a user's that may fail: those that say so (`may_fail`), of which one does.
class failing_call {
 public:
  /// The call after so many others fails from now on; below 0: none.
  static void is(long k) {
    left_ = k;
    failed_ = 0;
  }
  static void may_fail() {
    if (left_.fetch_sub(1) != 0) return;
    ++failed_;
    throw test_error(-1);
  }
  static int failed() { return failed_; }

 private:
  inline static std::atomic<long> left_{-1};
  inline static std::atomic<int> failed_{0};
};

/// Copied and moved by calls that may fail; each object is counted.
class fragile {
 public:
  explicit fragile(int value = 0) : value_(value) {}
  fragile(const fragile& other) : value_((failing_call::may_fail(), other.value_)) {}
  fragile(fragile&& other) noexcept(false) : value_((failing_call::may_fail(), std::move(other.value_))) {}
  fragile& operator=(const fragile& other) {
    failing_call::may_fail();
    value_ = other.value_;
    return *this;
  }
  ~fragile() = default;
  int value() const { return value_.value(); }

 private:
  counted value_;
};

/// Runs `compute(runtime)` again and again with one call failing, the first, the second, … up to the call
/// `most`; then as often as it takes until one has failed, because some are made for thieves only. Either the
/// result is right or the failure arrives, no object is left, and the runtime works and is at rest
/// afterwards.
/// \param compute  returns whether its result is right
template <class Compute> void fail_each_call(long most, Compute compute) {
  sukima::runtime four(with_workers(4));
  long failed = 0;
  for (long k = 0; k < most || failed == 0; ++k) {
    counted::reset();
    failing_call::is(k % most);
    bool threw = false;
    try {
      EXPECT_TRUE(compute(four)) << "call " << k % most;
    } catch (const test_error&) {
      threw = true;
    }
    EXPECT_TRUE(!threw || failing_call::failed() == 1) << "call " << k % most << ": nothing had failed";
    failed += failing_call::failed();
    failing_call::is(-1);
    EXPECT_EQ(counted::alive(), 0) << "call " << k % most;
    EXPECT_EQ(counted::errors(), 0) << "call " << k % most;
    EXPECT_EQ(four.run([](sukima::context c) { return fib(c, 12); }), 144) << "after call " << k % most;
    sukima::detail::check_at_rest_if_built(four);
  }
}

/// The text of the exception that f throws; "none" if it throws none.
template <class E = std::exception, class F> std::string message_of(F&& f) {
  try {
    std::forward<F>(f)();
  } catch (const E& e) {
    return e.what();
  }
  return "none";
}

inline long plain_fib(int n) { return n < 2 ? n : plain_fib(n - 1) + plain_fib(n - 2); }

}  // namespace support
