// SPDX-License-Identifier: Apache-2.0
#include "protocol/frame.hpp"

#include "protocol/reader.hpp"

namespace sukima::cluster {

namespace {

constexpr std::size_t length_size = 4;

/// Returns the MAC of a frame and its number. The number prevents frames from being repeated, omitted or
/// reordered.
digest mac_of(const digest& key, std::uint64_t number, byte_view whole_frame) {
  bytes counted;
  byte_sink(counted).number(number);
  return mac(key, {counted, whole_frame});
}

}  // namespace

void frame_writer::write(bytes& to, frame_kind kind, byte_view content) {
  const std::size_t begin = to.size();
  const std::size_t length = 1 + content.size() + (key_ ? mac_size : 0);
  byte_sink(to)
      .number(static_cast<std::uint32_t>(length))
      .number(static_cast<std::uint8_t>(kind))
      .raw(content);
  if (!key_) return;
  const digest sealed = mac_of(*key_, number_++, byte_view(to).subspan(begin));
  byte_sink(to).raw(byte_view(sealed).first(mac_size));
}

void frame_reader::feed(byte_view arrived) {
  if (begin_ == buffer_.size()) {
    buffer_.clear();
    begin_ = 0;
  } else if (begin_ > buffer_.size() / 2) {
    buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(begin_));
    begin_ = 0;
  }
  buffer_.insert(buffer_.end(), arrived.begin(), arrived.end());
}

std::optional<frame> frame_reader::next() {
  const byte_view there = byte_view(buffer_).subspan(begin_);
  if (there.size() < length_size) return {};
  const std::size_t length = byte_source(there).number<std::uint32_t>();
  const std::size_t overhead = 1 + (key_ ? mac_size : 0);
  if (length < overhead || length - overhead > longest_)
    throw frame_error("a frame has the impossible length " + std::to_string(length));
  if (there.size() - length_size < length) return {};
  const byte_view whole = there.first(length_size + length);
  byte_view content = whole.subspan(length_size + 1, length - overhead);
  if (key_) {
    const digest expected = mac_of(*key_, number_++, whole.first(whole.size() - mac_size));
    if (!same_secret(byte_view(expected).first(mac_size), whole.last(mac_size)))
      throw frame_error("a frame was changed on its way");
  }
  const auto kind = std::to_integer<std::uint8_t>(whole[length_size]);
  if (kind < static_cast<std::uint8_t>(frame_kind::hello) ||
      kind > static_cast<std::uint8_t>(frame_kind::gone))
    throw frame_error("a frame has the unknown kind " + std::to_string(kind));
  frame found{static_cast<frame_kind>(kind), bytes(content.begin(), content.end())};
  begin_ += whole.size();
  return found;
}

}  // namespace sukima::cluster
