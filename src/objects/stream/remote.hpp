// SPDX-License-Identifier: Apache-2.0
// What a process knows of a stream that leaves it, and what the parent does for a process that has died.
#pragma once

#include "process/segment.hpp"

#include <memory>
#include <string>
#include <thread>

namespace sukima::objects::detail {

struct remote_stream {
  const segment& memory;
  shared_stream& at;
  std::size_t index;  ///< among the program's streams
  std::uint32_t process;  ///< this one
};

/// Gives the streams that leave this process their words and slots in shared memory.
void attach_streams(program_core& p, const segment& memory, std::uint32_t process);

/// The doorbells' bits: one for each side of a stream.
inline std::size_t bit_of(std::size_t stream, std::uint32_t side) noexcept {
  return stream * 2 + (side == stream_core::receivers_wait ? 0 : 1);
}

/// The process is dead: its ends are closed, and its streams fail if there is a text. Whoever waits for them
/// is woken, also for what it may have left undone. For the parent.
void bury(const program_core& p, const segment& memory, std::uint32_t process, const std::string& failure);

/// The thread that listens to this process's doorbell, for as long as this lives. \pre attach_streams
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
  std::atomic<bool> ends_{false};  ///< partners: ~listener, run
  std::thread thread_;
};

}  // namespace sukima::objects::detail
