// SPDX-License-Identifier: Apache-2.0
// The thread of a process that waits for rings of other processes.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

#include "process/doorbell.hpp"
#include "process/segment.hpp"

namespace sukima::objects::detail {

struct program_core;

/// The thread that listens to this process's doorbell as long as the object exists. \pre attach_streams was
/// called
class listener {
 public:
  listener(program_core& of, const segment& memory, std::uint32_t process);
  listener(const listener&) = delete;
  listener& operator=(const listener&) = delete;
  ~listener();

 private:
  void run();
  program_core& of_;
  const segment& memory_;
  std::uint32_t process_;
  doorbell bell_;
  std::atomic<bool> ends_{false};  ///< The ring follows. pairs with: ~listener, run
  std::thread thread_;
};

}  // namespace sukima::objects::detail
