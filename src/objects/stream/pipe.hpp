// SPDX-License-Identifier: Apache-2.0
// Streams between processes whose messages pass through pipes of the system (SUKIMA_OBJECTS=processes:pipe),
// for comparison with the paper, whose processes use pipes.
//
// Only the messages pass through the pipe: one system call writes a message, another one reads it. Indices,
// waiting, doorbells and ends work as in other streams between processes, so everything except the speed is
// the same. The indices never promise more than the pipe holds, so no system call waits.
//
// A process may be killed between its system call and its store of the index. Then the pipe holds one message
// more, or one fewer, than the indices show. In a stream with one sender and one receiver that has no effect.
// In other streams both sides lock. A process that inherits a lock from a dead one announces a repair; the
// next process that locks makes the repair, with both locks. The content of the pipe decides: a message that
// was written, but not published, is published, because its sender never reported a failure.
// Model: src/objects/model/pipe.pml.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace sukima::objects::detail {

struct shared_stream;
struct stream_core;
struct stream_facts;

/// Makes the pipe, and lowers the stream's capacity to the pipe's.
/// \param encoded whether messages are records of several slots
/// \throws std::system_error if no pipe can be made; usage_error if a message does not fit into it
void make_pipe(stream_facts& of, const std::string& name, bool encoded);

/// Writes or reads whole slots: the bytes, then padding up to the end of the last slot.
/// \pre there is room for the slots, or there are that many
/// \throws stream_failed if the pipe has other contents
void write_pipe(const stream_core& s, std::span<const std::byte> bytes, std::uint64_t slots);
void read_pipe(const stream_core& s, std::span<std::byte> bytes, std::uint64_t slots);

/// Takes one of the stream's locks, and makes a repair that was announced. \pre both sides lock
/// \returns whether indices were repaired: then the caller must wake both sides, as the dead process would
///          have done
bool lock_piped(shared_stream& of, bool out);

}  // namespace sukima::objects::detail
