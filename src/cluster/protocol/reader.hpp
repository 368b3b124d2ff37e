// SPDX-License-Identifier: Apache-2.0
// Writes and reads numbers and texts in messages: little-endian, with lengths first. Reading checks each
// length against the remaining bytes.
#pragma once

#include "transport/transport.hpp"

#include <base/shared/assert.hpp>

#include <concepts>
#include <string>
#include <string_view>

namespace sukima::cluster {

inline std::string text_of(byte_view text) {
  return {reinterpret_cast<const char*>(text.data()), text.size()};
}

/// Appends values to a vector of bytes.
class byte_sink {
 public:
  explicit byte_sink(bytes& to) noexcept : to_(to) {}
  template <std::unsigned_integral N> byte_sink& number(N value) {
    for (std::size_t i = 0; i < sizeof(N); ++i)
      to_.push_back(static_cast<std::byte>(static_cast<std::uint64_t>(value) >> (8 * i)));
    return *this;
  }
  byte_sink& raw(byte_view view);
  /// Appends a length of two bytes and the text. \pre the text is shorter than 65,536 bytes
  byte_sink& text(std::string_view view) {
    SUKIMA_ASSERT(view.size() <= 0xFFFF, "the length of a text fits into two bytes");
    return number(static_cast<std::uint16_t>(view.size())).raw(std::as_bytes(std::span(view)));
  }

 private:
  bytes& to_;
};

/// Reads values from bytes. A missing value reads as 0 or empty, and `ok` is false from then on.
class byte_source {
 public:
  explicit byte_source(byte_view from) noexcept : rest_(from) {}
  bool ok() const noexcept { return ok_; }
  byte_view rest() const noexcept { return rest_; }
  template <std::unsigned_integral N> N number() noexcept {
    const byte_view from = raw(sizeof(N));
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < from.size(); ++i) value |= std::to_integer<std::uint64_t>(from[i]) << (8 * i);
    return static_cast<N>(value);
  }
  byte_view raw(std::size_t size) noexcept {
    if (size > rest_.size()) {
      ok_ = false;
      rest_ = {};
      return {};
    }
    const byte_view taken = rest_.first(size);
    rest_ = rest_.subspan(size);
    return taken;
  }
  /// Reads a text of at most `most` bytes.
  std::string text(std::size_t most) {
    const std::size_t size = number<std::uint16_t>();
    if (size > most) ok_ = false;
    return text_of(raw(ok_ ? size : 0));
  }

 private:
  byte_view rest_;
  bool ok_ = true;
};

}  // namespace sukima::cluster
