// SPDX-License-Identifier: Apache-2.0
// Running a random program on a runtime.
#pragma once

#include "program.hpp"

#include <sukima/sukima.hpp>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace random_programs {

/// A thread outside the runtime that runs the actions posted to it, in order: resumes and cancels.
class outsider {
 public:
  outsider();
  ~outsider();
  outsider(const outsider&) = delete;
  outsider& operator=(const outsider&) = delete;
  void post(std::function<void()> action);

 private:
  void main();
  std::mutex lock_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> actions_;
  bool ends_ = false;
  std::thread thread_;
};

/// Observations of one run besides its result.
struct observations {
  std::atomic<std::uint64_t> leaves{0};
  std::atomic<std::int64_t> captures{0};  ///< captured objects that are alive
};

/// Runs a program. `other`: the runtime that kind::other_runtime enters.
result execute(const program& p, sukima::runtime& runtime, sukima::runtime& other, outsider& agent,
               observations& seen);

}  // namespace random_programs
