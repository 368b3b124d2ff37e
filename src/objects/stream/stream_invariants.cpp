// SPDX-License-Identifier: Apache-2.0
// The invariants of a stream and of its lists of waiting objects.
#include <sukima/objects/core.hpp>

#include <bit>

namespace sukima::objects::detail {

namespace {

const char* violated_list(const wait_list& list, const stream_core& of, bool receives) noexcept {
  const wait_case* before = nullptr;
  for (const wait_case* c = list.first; c != nullptr; c = c->after) {
    if (c->before != before) return "the links of a list of waiting objects agree";
    if (!c->is_listed) return "a case in a list is marked";
    if (c->stream != &of || c->receives != receives) return "a case is in the list of its stream and side";
    if (c->wait == nullptr) return "a case in a list belongs to a wait";
    before = c;
  }
  return list.last == before ? nullptr : "the last case of a list is its end";
}

}  // namespace

const char* stream_core::violated_invariant() const noexcept {
  if (!std::has_single_bit(capacity) && !piped) return "a stream's capacity is a power of two";
  // Acquire: the flags of a failure are set together. pairs with: release in stream.cpp; fail in remote.cpp
  const std::uint32_t state = words->state.load(std::memory_order_acquire);
  if ((state & cut_off) != 0 && (state & failed) == 0) return "a stream that was cut off has failed";
  if (const char* const violated = violated_list(receivers, *this, true)) return violated;
  if (const char* const violated = violated_list(senders, *this, false)) return violated;
  if (remote) return nullptr;  // other processes move its indices, and set `waiting`
  if (shared) {
    // Relaxed: only holders of the lists' lock change this word.
    // pairs with: enlist, clear_waiting in stream.cpp
    const std::uint32_t waiting = words->waiting.load(std::memory_order_relaxed);
    if (((waiting & receivers_wait) != 0) != (receivers.first != nullptr) ||
        ((waiting & senders_wait) != 0) != (senders.first != nullptr))
      return "a shared stream announces exactly the sides that wait";
    return nullptr;
  }
  // Relaxed: only holders of the token change the indices.
  // pairs with: publish_in_island, give_back_in_island in core.hpp
  const std::uint64_t head = own_words.head.load(std::memory_order_relaxed);
  if (own_words.tail.load(std::memory_order_relaxed) - head > capacity)
    return "a stream holds no more messages than its capacity";
  return nullptr;
}

}  // namespace sukima::objects::detail
