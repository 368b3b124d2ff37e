// SPDX-License-Identifier: Apache-2.0
// Streams between processes: their data in this process, and the functions by which the parent closes the
// ends of a dead process.
#pragma once

#include "process/segment.hpp"

#include <string>

namespace sukima::objects::detail {

/// The data of a stream that leads to another process.
struct remote_stream {
  const segment& memory;
  shared_stream& at;
  std::size_t index;  ///< number among the program's streams
  std::uint32_t process;  ///< number of this process
};

/// Gives the streams that leave this process their words and slots in shared memory.
void attach_streams(program_core& p, const segment& memory, std::uint32_t process);

/// Returns the bit of a doorbell for a side of a stream.
inline std::size_t bit_of(std::size_t stream, std::uint32_t side) noexcept {
  return stream * 2 + (side == stream_core::receivers_wait ? 0 : 1);
}

/// Closes the ends of a dead process, and marks its streams as failed if `failure` is not empty. Wakes all
/// processes that use these streams, because the dead one may have omitted a wake-up. For the parent.
void close_ends_of_dead_process(const program_core& p, const segment& memory, std::uint32_t process,
                                const std::string& failure);

/// Wakes the waiting objects of this process that can continue, because an index was moved or the other side
/// was closed.
void wake_here(stream_core& core, std::uint32_t side) noexcept;

// The following functions are for streams that lead to other processes.
void lock_remote(stream_core& s, bool out);
void unlock_remote(stream_core& s, bool out) noexcept;
/// Wakes the waiting objects on that side, in all processes.
void wake_remote(stream_core& s, std::uint32_t side) noexcept;
/// Records that this process's last end on that side was released.
void close_remote(stream_core& s, bool out) noexcept;
/// Records that a sender of this process ends by an exception. \param state the stream's state from now on
void fail_remote(stream_core& s, const std::string& text, std::uint32_t state) noexcept;
/// Returns the error text of the failed sender, also for a stream within this process.
const char* failure_of(const stream_core& s) noexcept;

}  // namespace sukima::objects::detail
