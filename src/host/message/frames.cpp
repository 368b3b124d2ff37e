// SPDX-License-Identifier: Apache-2.0
// Cuts a stream into messages, with bounded memory.
#include <base/shared/assert.hpp>

#include <utility>

#include "shared/message.hpp"

namespace sukima::host {

void message_frames::clear() {
  kept_.clear();
  line_.clear();
  line_too_long_ = in_garbage_ = false;
}

/// Drops the bytes up to here, because they are not a message.
void message_frames::drop() {
  if (!in_garbage_) ++dropped_;
  in_garbage_ = true;
  kept_.clear();
}

void message_frames::feed(std::string_view bytes, const std::function<void(std::string_view)>& take) {
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    const std::string_view part = bytes.substr(0, end);
    // Do not store a line that can no longer be part of a message.
    if (kept_.size() + line_.size() + part.size() + 1 > longest_message) {
      line_too_long_ = true;
      line_.clear();
    }
    if (!line_too_long_) line_ += part;
    SUKIMA_ASSERT(kept_.size() + line_.size() <= longest_message,
                  "a stream needs no more memory than a message");
    if (end == std::string_view::npos) return;
    end_line(take);
    bytes.remove_prefix(end + 1);
  }
}

void message_frames::end_line(const std::function<void(std::string_view)>& take) {
  const std::string line = std::exchange(line_, {});
  if (std::exchange(line_too_long_, false)) return drop();
  if (line == first_) {
    if (!kept_.empty()) drop();
    in_garbage_ = false;
    kept_ = line + '\n';
    return;
  }
  if (kept_.empty()) return drop();
  kept_ += line;
  kept_ += '\n';
  if (line != "end") return;
  const std::string whole = std::exchange(kept_, {});
  take(whole);
}

}  // namespace sukima::host
