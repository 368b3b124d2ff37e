// SPDX-License-Identifier: Apache-2.0
// Ends waits whose time has come.
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

/// Resumes suspensions at their times, on a thread that is started for the first of them.
class timer {
 public:
  using due = std::multimap<clock::time_point, std::pair<sukima::detail::fiber*, std::uint64_t>>;
  timer() = default;
  timer(const timer&) = delete;
  timer& operator=(const timer&) = delete;
  ~timer();
  void add(clock::time_point at, sukima::detail::fiber& s, std::uint64_t number);
  /// Forgets the fiber's wait for that time, unless it has ended.
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
