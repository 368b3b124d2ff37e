// SPDX-License-Identifier: Apache-2.0
// The search for deadlocks while a program runs; watch.cpp describes it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "deadlock/find_deadlock.hpp"

namespace sukima::objects::detail {

class segment;
struct program_core;

/// Whether a deadlock of some objects ends the program although other objects continue (SUKIMA_DEADLOCK=end).
/// \throws bad_setting if the variable has another value
bool does_deadlock_of_some_end();

/// Checks every second whether objects of any process wait for one another. Exists while a program runs; if
/// there are several processes, in the parent.
class deadlock_watch {
 public:
  explicit deadlock_watch(program_core& of);
  deadlock_watch(const deadlock_watch&) = delete;
  deadlock_watch& operator=(const deadlock_watch&) = delete;
  ~deadlock_watch();

 private:
  void run();
  bool sleep(std::chrono::milliseconds time);
  void look();
  /// Returns an observation; empty if the program ends, or a process has not answered.
  std::optional<observation> observe();
  std::optional<observation> ask_processes();
  program_core& of_;
  std::mutex lock_;
  std::condition_variable ended_;
  bool ends_ = false;
  std::string reported_;
  std::thread thread_;
};

/// Answers the parent's watch, if it has begun a new round. For one of several processes.
void answer_watch(program_core& p, const segment& memory, std::uint32_t process) noexcept;

}  // namespace sukima::objects::detail
