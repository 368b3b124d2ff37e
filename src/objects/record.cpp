// SPDX-License-Identifier: Apache-2.0
// Encoded messages: a record is its length and its bytes, in as many slots of the ring as these need. One
// store of the index publishes, or gives back, all of them.
#include "pipe.hpp"
#include "program.hpp"

#include <algorithm>
#include <cstring>

namespace sukima::objects::detail {

namespace {

using length = std::uint32_t;

/// Through a pipe a message that is not encoded is a record of one slot, whose length is known.
bool has_length(const stream_core& s) noexcept { return s.to_processes == stream_core::journey::encoded; }

std::uint64_t slots_for(const stream_core& s, std::uint64_t bytes) noexcept {
  if (!has_length(s)) return 1;
  return (sizeof(length) + bytes + s.slot_size - 1) / s.slot_size;
}

/// Calls f(memory, offset, size) for the pieces of a record at that index: the ring may wrap within it.
template <class F> void for_pieces(const stream_core& s, std::uint64_t index, std::size_t from,
                                   std::size_t size, F f) {
  const std::size_t ring = s.capacity * s.slot_size;
  const std::size_t at = (static_cast<std::size_t>(index & (s.capacity - 1)) * s.slot_size + from) % ring;
  const std::size_t first = std::min(size, ring - at);
  f(s.slots + at, std::size_t{0}, first);
  if (first != size) f(s.slots, first, size - first);
}

/// Where the length of the record is that begins at the index.
std::byte* length_at(const stream_core& s, std::uint64_t index) noexcept {
  return s.piped ? s.slots + (index & (s.capacity - 1)) * sizeof(length) : s.slot(index);
}

void write_record(const stream_core& s, std::uint64_t tail, std::span<const std::byte> record,
                  std::uint64_t slots) {
  const auto size = static_cast<length>(record.size());
  if (has_length(s)) std::memcpy(length_at(s, tail), &size, sizeof size);
  if (s.piped) return write_pipe(s, record, slots);
  for_pieces(s, tail, sizeof size, record.size(), [&](std::byte* to, std::size_t at, std::size_t bytes) {
    if (bytes != 0) std::memcpy(to, record.data() + at, bytes);
  });
}

/// \param there slots that have been published \returns how many the record has
std::uint64_t read_record(const stream_core& s, std::uint64_t head, std::uint64_t there,
                          std::vector<std::byte>& record) {
  auto size = static_cast<length>(s.slot_size);
  if (has_length(s)) std::memcpy(&size, length_at(s, head), sizeof size);
  const std::uint64_t used = slots_for(s, size);
  if (used > there) s.throw_corrupt();
  record.resize(size);
  if (s.piped) {
    read_pipe(s, record, used);
    return used;
  }
  for_pieces(s, head, sizeof size, size, [&](const std::byte* from, std::size_t at, std::size_t bytes) {
    if (bytes != 0) std::memcpy(record.data() + at, from, bytes);
  });
  return used;
}

}  // namespace

attempt put_record(object_core& me, stream_core& s, std::span<const std::byte> record, bool waits,
                   const clock::time_point* until) {
  const std::uint64_t wanted = slots_for(s, record.size());
  if (wanted > s.capacity / 2 && has_length(s))
    throw message_too_large("sukima: stream " + s.name + ": a message of " + std::to_string(record.size()) +
                            " bytes is larger than half of what the stream holds, " +
                            std::to_string(s.capacity * s.slot_size) + " bytes; give it a larger capacity");
  for (;;) {
    {
      const side_lock hold(s, true);
      if ((s.now() & stream_core::broken) != 0) return attempt::ended;
      // Relaxed: only senders store it, one at a time.
      const std::uint64_t tail = s.words->tail.load(std::memory_order_relaxed);
      if (s.room(tail, wanted) >= wanted) {
        write_record(s, tail, record, wanted);
        s.publish(tail + wanted, 1);
        break;
      }
    }
    if (!waits || !wait_for(me, s, false, until, wanted)) {
      me.room_wanted = wanted;
      return attempt::not_now;
    }
  }
  count_message(me);
  return attempt::done;
}

attempt take_record(object_core& me, stream_core& s, std::vector<std::byte>& record, bool waits,
                    const clock::time_point* until) {
  for (;;) {
    // Read before the look into the ring: what was sent before the stream closed is found.
    const bool ended = (s.now() & stream_core::closed) != 0;
    {
      const side_lock hold(s, false);
      // Relaxed: only receivers store it, one at a time.
      const std::uint64_t head = s.words->head.load(std::memory_order_relaxed);
      if (const std::uint64_t there = s.messages(head); there != 0) {
        const std::uint64_t used = read_record(s, head, there, record);
        s.give_back(head + used, used);
        break;
      }
    }
    if (ended) {
      s.throw_if_failed();
      return attempt::ended;
    }
    if (!waits || !wait_for(me, s, true, until)) return attempt::not_now;
  }
  count_message(me);
  return attempt::done;
}

}  // namespace sukima::objects::detail
