// SPDX-License-Identifier: Apache-2.0
// The memory for the messages of a stream.
#include "program/program_core.hpp"
#include "stream/record.hpp"
#include "stream/remote.hpp"

#include <runtime/shared/shortage.hpp>

#include <bit>
#include <new>
#include <string>
#include <system_error>
#include <utility>

namespace sukima::objects::detail {

stream_core::stream_core(std::string called, std::uint64_t room, std::size_t size, std::size_t alignment)
    : message_size(size), slot_size(size), slot_alignment(alignment), name(std::move(called)) {
  set_capacity(room);
}

void stream_core::set_capacity(std::uint64_t room) {
  const std::uint64_t rounded = std::bit_ceil(room);
  if (rounded == capacity) return;
  std::uint64_t bytes = 0;
  auto* const next =
      __builtin_mul_overflow(rounded, slot_size, &bytes)
          ? nullptr
          : static_cast<std::byte*>(::operator new(bytes, std::align_val_t{slot_alignment}, std::nothrow));
  if (next == nullptr)
    throw sukima::detail::shortage(std::errc::not_enough_memory,
                                   "sukima: no memory for the stream " + name + " with room for " +
                                       std::to_string(rounded) + " messages of " + std::to_string(slot_size) +
                                       " bytes; declare it with a smaller capacity");
  ::operator delete(slots, std::align_val_t{slot_alignment});
  slots = next;
  capacity = rounded;
}

void stream_core::drop_oldest(object_core& sender) {
  if (in_records) return drop_record(*this, sender.record, 1);
  const side_lock hold(*this, false);  // locks only a shared stream
  const std::uint64_t head = words->head.load(std::memory_order_relaxed);
  // As a receiver does, so that tail_seen stays correct. Only one object at a time moves the head: the holder
  // of this lock, or the running object of the island.
  if (words->tail.load(std::memory_order_acquire) - head < capacity || messages(head) == 0) return;
  sukima::thread_bound([&] { destroy(slot(head)); });  // as destroy_in_slot
  words->dropped.fetch_add(1, std::memory_order_relaxed);
  give_back(head + 1, 1);
}

stream_core::~stream_core() {
  if (remote) return;
  // Relaxed: no other thread uses the stream any more.
  const std::uint64_t tail = words->tail.load(std::memory_order_relaxed);
  for (std::uint64_t i = words->head.load(std::memory_order_relaxed); i != tail; ++i) destroy(slot(i));
  ::operator delete(slots, std::align_val_t{slot_alignment});
}

}  // namespace sukima::objects::detail
