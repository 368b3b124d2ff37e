// SPDX-License-Identifier: Apache-2.0
// The timer, which ends waits whose time has come.
#pragma once

#include <sukima/detail/executor.hpp>
#include <sukima/objects/times.hpp>

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

namespace sukima::objects::detail {

/// Resumes suspensions at their times, on a thread that the first of them starts.
class timer {
 public:
  using due = std::multimap<clock::time_point, std::pair<sukima::detail::fiber*, std::uint64_t>>;
  timer() = default;
  timer(const timer&) = delete;
  timer& operator=(const timer&) = delete;
  ~timer();
  /// Adds a suspension that must be resumed at that time. \throws std::system_error if the thread cannot be
  /// started; std::bad_alloc \par Complexity logarithmic in the number of waits
  void add(clock::time_point at, sukima::detail::fiber& s, std::uint64_t number);
  /// Removes the fiber's suspension for that time, unless it was resumed.
  void remove(clock::time_point at, const sukima::detail::fiber& s) noexcept;

 private:
  void run();
  std::mutex lock_;
  std::condition_variable changed_;
  due waits_;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace sukima::objects::detail
