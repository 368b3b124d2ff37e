// SPDX-License-Identifier: Apache-2.0
// The common part of the runtime's tests: runtimes of several sizes, waits with a time limit, objects that
// count themselves.
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

/// Longer than any wait of a working test, and shorter than ctest's time limit.
inline constexpr auto patience = 500s;

/// Calls the kernel, because std::this_thread::get_id calls pthread_self, which is a constant function for
/// the compiler. So the compiler may call it once and keep the result.
inline pid_t this_thread() { return static_cast<pid_t>(syscall(SYS_gettid)); }

inline sukima::settings with_workers(unsigned workers) {
  sukima::settings s;
  s.workers = workers;
  s.elastic = false;  // a fixed number, because tests need the workers at the same time
  return s;
}

/// Tests that run with several numbers of workers, fewer and more than the CPUs.
class runtimes : public testing::TestWithParam<unsigned> {
 protected:
  /// A right result does not exclude a worker that stays asleep, or a lost fiber.
  void TearDown() override { sukima::detail::check_at_rest_if_built(runtime); }
  sukima::runtime runtime{with_workers(GetParam())};
};
inline auto worker_counts() { return testing::Values(1u, 2u, 4u, 16u); }
inline std::string name_of_count(const testing::TestParamInfo<unsigned>& info) {
  return std::to_string(info.param) + "_workers";
}

/// Forks repeatedly, so that thieves get work, until the condition holds. \returns false: it took too long
template <class Condition> bool poll_until(sukima::context c, Condition condition) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    sukima::fork2(c, [] {}, [] {});
    std::this_thread::yield();
  }
  return true;
}

/// Sleeps until the condition holds. \returns false: it took too long
template <class Condition> bool sleep_until(Condition condition) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(100us);
  }
  return true;
}

/// Ends the process if the rest of the block hangs, because no wait in it has its own time limit.
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

/// Suspends all fibers that arrive except the last one, which resumes the others. So each must begin before
/// any can end.
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
  /// Adds a fiber. The last one may have arrived between the count and this call.
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

/// Forks until it is aborted, for branches that a sibling's exception or a canceller must end.
[[noreturn]] inline void fork_for_ever(sukima::context c) {
  if (poll_until(c, [] { return false; })) throw std::logic_error("the condition cannot hold");
  throw std::runtime_error("this branch was not aborted");
}

/// Returns the memory of this process that belongs to no file, in RAM or swapped out; nothing: this kernel
/// does not report it. Counted page by page, because VmRSS is an approximation on machines with many CPUs,
/// and shrinks if others need memory.
inline std::optional<std::size_t> private_bytes() {
  std::optional<std::size_t> bytes;
  std::ifstream all("/proc/self/smaps_rollup");
  for (std::string line; std::getline(all, line);)
    for (const std::string field : {"Anonymous:", "Swap:"})
      if (line.starts_with(field)) bytes = bytes.value_or(0) + std::stoul(line.substr(field.size())) * 1024;
  return bytes;
}

/// Counts its objects, and detects a double destruction.
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

/// Counts the calls of user code that may fail (`may_fail`), and makes one of them fail.
class failing_call {
 public:
  /// Makes the call after k further calls fail; below 0: no call fails.
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

/// Its copies and moves may fail, and each object is counted.
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

/// Runs `compute(runtime)` repeatedly, and makes the first call fail, then the second, and so on up to the
/// call `most`. Continues until at least one has failed, because some calls are made only for thieves. Either
/// the result is right or the failure arrives. Afterwards no object is left, and the runtime works and is at
/// rest.
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

/// Returns the text of the exception that f throws, or "none" if it throws none.
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
