// SPDX-License-Identifier: Apache-2.0
#include "steal/outbox.hpp"

#include <base/shared/assert.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

namespace sukima::cluster {

std::size_t outbox::send(node_id to, const message& m) {
  if (is_closed_[to]) {
    SUKIMA_ASSERT(count(to) == 0, "no message waits for a node that is closed");
    return 0;
  }
  bytes out = write_message(m);
  const std::size_t size = out.size();
  // If the transport refuses a message, it does not move its content.
  // NOLINTNEXTLINE(bugprone-use-after-move)
  if (count(to) != 0 || !transport_.send(to, std::move(out)))
    waiting_[to].push_back({m.kind, std::move(out)});
  return size;
}

void outbox::send_waiting() {
  for (auto at = waiting_.begin(); at != waiting_.end();) {
    auto& [to, messages] = *at;
    while (!messages.empty() && transport_.send(to, std::move(messages.front().content)))
      messages.pop_front();
    at = messages.empty() ? waiting_.erase(at) : std::next(at);
  }
}

void outbox::close(node_id to) {
  is_closed_[to] = true;
  waiting_.erase(to);
}

std::size_t outbox::count(node_id to) const {
  const auto found = waiting_.find(to);
  return found == waiting_.end() ? 0 : found->second.size();
}

bool outbox::owes(node_id to) const {
  const auto found = waiting_.find(to);
  return found != waiting_.end() && std::ranges::any_of(found->second, [](const refused& r) {
           return r.kind == message_kind::result || r.kind == message_kind::declined;
         });
}

}  // namespace sukima::cluster
