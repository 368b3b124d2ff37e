// SPDX-License-Identifier: Apache-2.0
// Encoded messages: a record is the length and the bytes of a message, in as many slots of the ring as these
// need. One store of the index publishes all of these slots, or gives them back.
//
// A message that needs more than half of the ring is large. It is stored beside the ring, where the stream
// has room for one such message, and its record is one slot with a marked length. The next large message
// waits until that record has been received.
#include "program/program_core.hpp"
#include "stream/pipe.hpp"
#include "stream/record.hpp"
#include "stream/remote.hpp"

#include <algorithm>
#include <cstring>

namespace sukima::objects::detail {

namespace {

using length = std::uint32_t;
constexpr length large_mark = length{1} << 31;
static_assert(most_record_bytes < large_mark);

/// Whether records have a length. A message that is not encoded passes through a pipe as a record of one
/// slot, whose length is known.
bool has_length(const stream_core& s) noexcept { return s.to_processes == stream_core::journey::encoded; }

std::uint64_t slots_for(const stream_core& s, std::uint64_t bytes) noexcept {
  if (!has_length(s)) return 1;
  return (sizeof(length) + bytes + s.slot_size - 1) / s.slot_size;
}

bool is_large(const stream_core& s, std::uint64_t slots) noexcept {
  return has_length(s) && slots > std::max<std::uint64_t>(1, s.capacity / 2);
}

std::byte* room_for_large(const stream_core& s) noexcept { return s.remote->memory.large(s.remote->at); }

/// Returns the number of free slots for which a sender must wait so that the room for a large message is
/// free, too. Under the senders' lock.
std::uint64_t slots_with_large_room(const stream_core& s, std::uint64_t tail) noexcept {
  const std::uint64_t until = s.remote->at.large_until;
  if (until > tail || tail - until >= s.capacity) return 0;
  return s.capacity - (tail - until);
}

/// Calls f(memory, offset, size) for the pieces of a record at that index: the end of the ring may divide it.
template <class F> void for_pieces(const stream_core& s, std::uint64_t index, std::size_t from,
                                   std::size_t size, F f) {
  const std::size_t ring = s.capacity * s.slot_size;
  const std::size_t at = (static_cast<std::size_t>(index & (s.capacity - 1)) * s.slot_size + from) % ring;
  const std::size_t first = std::min(size, ring - at);
  f(s.slots + at, std::size_t{0}, first);
  if (first != size) f(s.slots, first, size - first);
}

/// Returns the position of the length of the record that begins at the index.
std::byte* length_at(const stream_core& s, std::uint64_t index) noexcept {
  return s.piped ? s.slots + (index & (s.capacity - 1)) * sizeof(length) : s.slot(index);
}

void write_large(const stream_core& s, std::uint64_t tail, std::span<const std::byte> record) {
  const length marked = static_cast<length>(record.size()) | large_mark;
  std::memcpy(length_at(s, tail), &marked, sizeof marked);
  std::memcpy(room_for_large(s), record.data(), record.size());
  s.remote->at.large_until = tail + 1;  // a sender that dies here has published nothing
  if (s.piped) write_pipe(s, {}, 1);
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

std::uint64_t read_large(const stream_core& s, length size, std::vector<std::byte>& record) {
  if (size > most_record_bytes) s.throw_corrupt();
  const std::byte* const from = room_for_large(s);
  record.assign(from, from + size);
  if (s.piped) read_pipe(s, {}, 1);
  return 1;
}

/// Reads a record. \param there number of published slots \returns the number of slots of the record
std::uint64_t read_record(const stream_core& core, std::uint64_t head, std::uint64_t there,
                          std::vector<std::byte>& record) {
  auto size = static_cast<length>(core.slot_size);
  if (has_length(core)) std::memcpy(&size, length_at(core, head), sizeof size);
  if (has_length(core) && (size & large_mark) != 0) return read_large(core, size ^ large_mark, record);
  const std::uint64_t used = slots_for(core, size);
  if (used > there) core.throw_corrupt();
  record.resize(size);
  if (core.piped) {
    read_pipe(core, record, used);
    return used;
  }
  for_pieces(core, head, sizeof size, size, [&](const std::byte* from, std::size_t at, std::size_t bytes) {
    if (bytes != 0) std::memcpy(record.data() + at, from, bytes);
  });
  return used;
}

}  // namespace

attempt put_record(object_core& me, stream_core& core, std::span<const std::byte> record, bool waits,
                   const clock::time_point* until) {
  const bool large = is_large(core, slots_for(core, record.size()));
  if (large && record.size() > most_record_bytes)
    throw message_too_large("sukima: stream " + core.name + ": a message of " +
                            std::to_string(record.size()) + " bytes is too large: at most " +
                            std::to_string(most_record_bytes) +
                            " bytes pass between processes; send it in parts");
  const std::uint64_t slots = large ? 1 : slots_for(core, record.size());
  for (;;) {
    std::uint64_t wanted = slots;
    {
      const side_lock hold(core, true);
      if ((core.now() & stream_core::broken) != 0) return attempt::ended;
      // Relaxed: only senders store it, one at a time.
      const std::uint64_t tail = core.words->tail.load(std::memory_order_relaxed);
      if (large) wanted = std::max(slots, slots_with_large_room(core, tail));
      if (core.room(tail, wanted) >= wanted) {
        if (large)
          write_large(core, tail, record);
        else
          write_record(core, tail, record, slots);
        core.publish(tail + slots, 1);
        break;
      }
    }
    if (core.drops_oldest) {
      drop_record(core, me.record, wanted);
      continue;
    }
    if (!waits || !wait_for(me, core, false, until, wanted)) {
      me.room_wanted = wanted;
      return attempt::not_now;
    }
  }
  count_message(me);
  return attempt::done;
}

attempt take_record(object_core& me, stream_core& core, std::vector<std::byte>& record, bool waits,
                    const clock::time_point* until) {
  for (;;) {
    // Read before the ring is checked, so that messages sent before the stream closed are found.
    const bool ended = (core.now() & stream_core::closed) != 0;
    {
      const side_lock hold(core, false);
      // Relaxed: only receivers store it, one at a time.
      const std::uint64_t head = core.words->head.load(std::memory_order_relaxed);
      if (const std::uint64_t there = core.messages(head); there != 0) {
        const std::uint64_t used = read_record(core, head, there, record);
        core.give_back(head + used, used);
        break;
      }
    }
    if (ended) {
      core.throw_if_failed();
      return attempt::ended;
    }
    if (!waits || !wait_for(me, core, true, until)) return attempt::not_now;
  }
  count_message(me);
  return attempt::done;
}

void drop_record(stream_core& s, std::vector<std::byte>& scratch, std::uint64_t wanted) {
  const side_lock hold(s, false);
  const std::uint64_t head = s.words->head.load(std::memory_order_relaxed);
  // As in stream_core::drop_oldest: a receiver may have made room, and `messages` keeps tail_seen correct.
  if (s.capacity - (s.words->tail.load(std::memory_order_acquire) - head) >= wanted) return;
  const std::uint64_t there = s.messages(head);
  if (there == 0) return;
  const std::uint64_t used = read_record(s, head, there, scratch);
  s.words->dropped.fetch_add(1, std::memory_order_relaxed);
  s.give_back(head + used, used);
}

}  // namespace sukima::objects::detail
