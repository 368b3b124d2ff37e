// SPDX-License-Identifier: Apache-2.0
// Records: messages of streams between processes that are encoded, or pass through a pipe
// (src/objects/stream/pipe_records.cpp).
#pragma once

#include <sukima/objects/core.hpp>
#include <sukima/transfer.hpp>

#include <cstring>
#include <new>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace sukima::objects::detail {

enum class attempt { done, not_now, ended };
/// Sends a record. \returns not_now if there was no room (up to that time), ended if no receiver is left
/// \throws message_too_large
attempt put_record(object_core& me, stream_core& core, std::span<const std::byte> record, bool waits,
                   const clock::time_point* until);
/// Receives a record. \returns not_now if there was none (up to that time), ended if the stream is closed and
/// empty
/// \throws stream_failed
attempt take_record(object_core& me, stream_core& core, std::vector<std::byte>& record, bool waits,
                    const clock::time_point* until);

/// Sends a message as a record: encoded, or as it is in memory.
template <class T>
  requires can_travel<T>
attempt put_in_record(object_core& me, stream_core& s, const T& value, bool waits,
                      const clock::time_point* until) {
  if constexpr (has_codec<T>) {
    std::vector<std::byte> record;
    codec<T>::encode(value, record);
    return put_record(me, s, record, waits, until);
  } else {
    return put_record(me, s, std::as_bytes(std::span<const T, 1>(&value, 1)), waits, until);
  }
}
/// Receives a message from a record. \returns empty if there is none now, or never will be
template <class T>
  requires can_travel<T>
std::optional<T> take_from_record(object_core& me, stream_core& s, bool waits,
                                  const clock::time_point* until) {
  if constexpr (has_codec<T>) {
    std::vector<std::byte> record;
    if (take_record(me, s, record, waits, until) != attempt::done) return std::nullopt;
    return codec<T>::decode(record);
  } else {
    if (take_record(me, s, me.record, waits, until) != attempt::done) return std::nullopt;
    alignas(T) std::byte bytes[sizeof(T)];
    std::memcpy(bytes, me.record.data(), sizeof(T));
    return std::optional<T>(std::in_place, *std::launder(reinterpret_cast<const T*>(bytes)));
  }
}

}  // namespace sukima::objects::detail
