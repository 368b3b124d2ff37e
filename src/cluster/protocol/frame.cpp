// SPDX-License-Identifier: Apache-2.0
#include "protocol/frame.hpp"

#include "protocol/reader.hpp"

#include <base/shared/assert.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace sukima::cluster {

namespace {

constexpr std::size_t length_size = 4;
constexpr std::size_t header_size = length_size + 1;  // with the kind

/// Begins the MAC of a frame with its number. The number prevents frames from being repeated, omitted or
/// reordered.
running_mac code_of(const digest& key, std::uint64_t number) {
  bytes counted;
  byte_sink(counted).number(number);
  running_mac code(key);
  code.add(counted);
  return code;
}

}  // namespace

void frame_writer::write(bytes& to, frame_kind kind, byte_view content) {
  begin(to, kind, content.size());
  add(to, content);
  end(to);
}

void frame_writer::begin(bytes& to, frame_kind kind, std::size_t size) {
  SUKIMA_ASSERT(!code_, "a frame ends before the next one begins");
  const std::size_t header = to.size();
  const std::size_t length = 1 + size + (key_ ? mac_size : 0);
  byte_sink(to).number(static_cast<std::uint32_t>(length)).number(static_cast<std::uint8_t>(kind));
  if (!key_) return;
  code_ = code_of(*key_, number_++);
  code_->add(byte_view(to).subspan(header));
}

void frame_writer::add(bytes& to, byte_view piece) {
  byte_sink(to).raw(piece);
  if (code_) code_->add(piece);
}

void frame_writer::end(bytes& to) {
  if (!code_) return;
  const digest sealed = code_->end();
  code_.reset();
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

/// Returns the next bytes, which are valid until feed(). \pre so many bytes are unhandled
byte_view frame_reader::take(std::size_t size) noexcept {
  SUKIMA_ASSERT(size <= unhandled(), "only bytes that have arrived are handled");
  begin_ += size;
  return byte_view(buffer_).subspan(begin_ - size, size);
}

/// Handles the header of the next frame. \returns false: it has not arrived
bool frame_reader::begin_frame() {
  if (unhandled() < length_size) return false;
  const std::size_t length = byte_source(byte_view(buffer_).subspan(begin_)).number<std::uint32_t>();
  const std::size_t overhead = 1 + (key_ ? mac_size : 0);
  if (length < overhead || length - overhead > longest_)
    throw frame_error("a frame has the impossible length " + std::to_string(length));
  if (unhandled() < header_size) return false;
  const byte_view header = take(header_size);
  current_.emplace(unfinished{.size = length - overhead, .kind = header.back()});
  if (!key_) return true;
  current_->code = code_of(*key_, number_++);
  current_->code->add(header);
  return true;
}

void frame_reader::check_code() {
  if (!current_->code) return;
  const digest expected = current_->code->end();
  if (!same_secret(byte_view(expected).first(mac_size), take(mac_size)))
    throw frame_error("a frame was changed on its way");
}

std::optional<frame> frame_reader::next() {
  if (!current_ && !begin_frame()) return {};
  unfinished& f = *current_;
  SUKIMA_ASSERT(f.content.size() <= f.size, "a frame has no more content than its header says");
  const byte_view piece = take(std::min(unhandled(), f.size - f.content.size()));
  f.content.insert(f.content.end(), piece.begin(), piece.end());
  if (f.code) f.code->add(piece);
  if (f.content.size() < f.size || unhandled() < (f.code ? mac_size : 0)) return {};
  check_code();
  const auto kind = std::to_integer<std::uint8_t>(f.kind);
  if (kind < static_cast<std::uint8_t>(frame_kind::hello) ||
      kind > static_cast<std::uint8_t>(frame_kind::gone))
    throw frame_error("a frame has the unknown kind " + std::to_string(kind));
  frame found{static_cast<frame_kind>(kind), std::move(f.content)};
  current_.reset();
  return found;
}

}  // namespace sukima::cluster
