// SPDX-License-Identifier: Apache-2.0
// Streams between processes: their data in this process, and the parent's care for those of a dead process.
#pragma once

#include "process/segment.hpp"

#include <string>

namespace sukima::objects::detail {

struct remote_stream {
  const segment& memory;
  shared_stream& at;
  std::size_t index;  ///< among the program's streams
  std::uint32_t process;  ///< number of this process
};

/// Gives the streams that leave this process their words and slots in shared memory.
void attach_streams(program_core& p, const segment& memory, std::uint32_t process);

/// The doorbells' bits: one for each side of a stream.
inline std::size_t bit_of(std::size_t stream, std::uint32_t side) noexcept {
  return stream * 2 + (side == stream_core::receivers_wait ? 0 : 1);
}

/// Closes the ends of a dead process, and fails its streams if there is a text. Wakes all processes at these
/// streams, because it may have died before a wake-up. For the parent.
void bury(const program_core& p, const segment& memory, std::uint32_t process, const std::string& failure);

/// Wakes the waiters of this process that can go on: an index was moved, or the other side closed.
void wake_here(stream_core& core, std::uint32_t side) noexcept;

// For streams of this process that lead to others.
void lock_remote(stream_core& s, bool out);
void unlock_remote(stream_core& s, bool out) noexcept;
/// Wakes the waiters on that side, in all processes.
void wake_remote(stream_core& s, std::uint32_t side) noexcept;
/// This process's last end on that side was released.
void close_remote(stream_core& s, bool out) noexcept;
/// A sender of this process ends by an exception. \param state the stream's state from now on
void fail_remote(stream_core& s, const std::string& text, std::uint32_t state) noexcept;
/// Error text of the failed sender; every stream stores one.
const char* failure_of(const stream_core& s) noexcept;

}  // namespace sukima::objects::detail
