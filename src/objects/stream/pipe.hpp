// SPDX-License-Identifier: Apache-2.0
// Streams between processes whose messages go through pipes of the system (SUKIMA_OBJECTS=processes:pipe):
// for comparison with the paper, whose processes use pipes.
//
// Only the messages do: one call writes one, another one reads it. The indices, who waits, the doorbells and
// what is known of ends are those of other streams between processes, so everything but the speed is the
// same, too. The indices never promise more than the pipe holds, so no call has to wait.
//
// A process may be killed between its call and its store of the index. Then the pipe holds one message more,
// or fewer, than the indices say. Of a stream with one sender and one receiver nobody sees that. Else both
// sides lock, and who inherits a lock from the dead announces a repair; whoever locks afterwards does it,
// holding both locks: what is in the pipe decides. A message that was written, but not published, is
// published: nobody was told that it was not sent.
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

/// Makes the pipe and sets the stream's capacity to what it holds, if that is less.
/// \param encoded whether messages are records of several slots
/// \throws std::system_error no pipe; usage_error a message does not fit into one
void make_pipe(stream_facts& of, const std::string& name, bool encoded);

/// Writes or reads whole slots: the bytes, then nothing up to the end of the last slot. \pre there is room,
/// or there are so many \throws stream_failed the pipe holds something else
void write_pipe(const stream_core& s, std::span<const std::byte> bytes, std::uint64_t slots);
void read_pipe(const stream_core& s, std::span<std::byte> bytes, std::uint64_t slots);

/// One of the stream's locks, and the repair that somebody has announced. \pre both sides lock
/// \returns whether indices were repaired: then both sides are to be woken, as whoever moved them would have
bool lock_piped(shared_stream& of, bool out);

}  // namespace sukima::objects::detail
