// SPDX-License-Identifier: Apache-2.0
#include "protocol/frame_queue.hpp"

#include <base/shared/assert.hpp>

#include <algorithm>
#include <utility>

namespace sukima::cluster {

void frame_queue::add(frame_kind kind, byte_view content) {
  if (must_wait(content.size()))
    add(kind, bytes(content.begin(), content.end()));
  else
    writer_.write(encoded_, kind, content);
}

void frame_queue::add(frame_kind kind, bytes&& content) {
  if (!must_wait(content.size())) {
    writer_.write(encoded_, kind, content);
    return;
  }
  waiting_size_ += content.size();
  waiting_.push_back({.kind = kind, .content = std::move(content)});
}

void frame_queue::take(bytes& to) {
  SUKIMA_ASSERT(!empty(), "a write has bytes to send");
  to.clear();
  if (!encoded_.empty()) {
    to.swap(encoded_);
    return;
  }
  while (!waiting_.empty() && to.size() < piece_size) {
    waiting_frame& first = waiting_.front();
    if (!std::exchange(first.has_begun, true)) {
      waiting_size_ -= first.content.size();
      writer_.begin(to, first.kind, first.content.size());
    }
    SUKIMA_ASSERT(first.taken <= first.content.size(), "no more of a frame is sent than it has");
    const std::size_t size = std::min(piece_size, first.content.size() - first.taken);
    writer_.add(to, byte_view(first.content).subspan(first.taken, size));
    first.taken += size;
    if (first.taken < first.content.size()) continue;
    writer_.end(to);
    waiting_.pop_front();
    SUKIMA_ASSERT(!waiting_.empty() || waiting_size_ == 0,
                  "the size that waits is that of the frames that wait");
  }
}

}  // namespace sukima::cluster
