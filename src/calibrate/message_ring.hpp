// SPDX-License-Identifier: Apache-2.0
// A ring of messages of one size from one sender to one receiver, in memory that two processes may share.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace sukima::calibrate_detail {

/// The default number of messages in a ring for this size: 64, or as many as fit in 64 KiB if those are
/// fewer, but at least 2.
inline std::size_t default_capacity(std::size_t bytes) {
  return std::bit_floor(std::clamp<std::size_t>(65536 / bytes, 2, 64));
}

/// The head of the ring; the slots follow it. Each side writes to a cache line of its own, and stores there a
/// copy of the other side's number.
class message_ring {
 public:
  message_ring(std::size_t bytes, std::size_t capacity) : bytes_(bytes), capacity_(capacity) {}
  static std::size_t size_of(std::size_t bytes, std::size_t capacity) {
    return sizeof(message_ring) + bytes * capacity;
  }

  /// \returns false if there is no room
  bool send(const void* message) {
    // Only the sender writes tail_.
    const std::uint64_t tail = tail_.load(std::memory_order_relaxed);
    if (tail - known_head_ == capacity_) {
      // Partner: the receiver's release of head_, after it has copied the message.
      known_head_ = head_.load(std::memory_order_acquire);
      if (tail - known_head_ == capacity_) return false;
    }
    std::memcpy(slot(tail), message, bytes_);
    // Partner: the receiver's acquire of tail_.
    tail_.store(tail + 1, std::memory_order_release);
    return true;
  }

  /// \returns false if there is no message
  bool receive(void* message) {
    // Only the receiver writes head_.
    const std::uint64_t head = head_.load(std::memory_order_relaxed);
    if (head == known_tail_) {
      // Partner: the sender's release of tail_, after it has written the message.
      known_tail_ = tail_.load(std::memory_order_acquire);
      if (head == known_tail_) return false;
    }
    std::memcpy(message, slot(head), bytes_);
    // Partner: the sender's acquire of head_.
    head_.store(head + 1, std::memory_order_release);
    return true;
  }

 private:
  std::byte* slot(std::uint64_t number) {
    return reinterpret_cast<std::byte*>(this + 1) + (number & (capacity_ - 1)) * bytes_;
  }

  std::size_t bytes_, capacity_;
  alignas(64) std::atomic<std::uint64_t> tail_{0};
  std::uint64_t known_head_ = 0;
  alignas(64) std::atomic<std::uint64_t> head_{0};
  std::uint64_t known_tail_ = 0;
};

}  // namespace sukima::calibrate_detail
