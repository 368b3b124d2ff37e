// SPDX-License-Identifier: Apache-2.0
#include "steal/publish.hpp"

#include "choice/backtrack.hpp"
#include "choice/clone_grain.hpp"
#include "constants.hpp"
#include "fiber/fiber.hpp"
#include "park/park.hpp"
#include "park/park_parts.hpp"
#include "worker.hpp"

#include <sukima/detail/ticks.hpp>

#include <algorithm>

namespace sukima::detail {

task* try_to_split(const slow_poll& poll, std::uint64_t begun) noexcept {
  fiber& s = poll.s;
  worker& w = *s.on;
  note_split(s, begun);
  // Checking the choice point that polls costs nothing. Only backtracking over older ones must not be
  // repeated too soon.
  if (begun < s.retry_at && (s.oldest < reinterpret_cast<char*>(poll.polling) || s.newest_covered != nullptr))
    return nullptr;
  ++w.statistics.polls_answered;
  task* t = split_oldest(s, poll.end, poll.polling, w);
  if (t != nullptr) {
    ++w.statistics.promotions;
    s.retry_at = 0;
  } else {
    const std::uint64_t now = ticks();
    s.retry_at = now + std::max(s.runtime->tuned.futile_backtrack_pause,
                                tuning::futile_backtrack_factor * (now - begun));
  }
  return t;
}

namespace {

/// Publishes tasks if other workers want some. \returns whether they want more than there were, so that the
/// fiber should poll again soon
bool publishes_more(const slow_poll& poll) noexcept {
  fiber& s = poll.s;
  park_parts& r = parts_of<park_parts>(s);
  const bool again = s.publish_wanted.load(std::memory_order_seq_cst) &&
                     s.publish_wanted.exchange(false, std::memory_order_seq_cst);
  const std::uint64_t entered_at = s.entered_at.load(std::memory_order_relaxed);
  const bool young = entered_at != 0;
  const bool has_idle_workers = r.park.has_idle_workers();
  if (!has_idle_workers && !again) return false;
  if (r.chosen.published_tasks == 0) return false;
  // One while the root is young: most end before a second one would be of use.
  const unsigned wanted = young ? std::min(1u, r.chosen.published_tasks) : r.chosen.published_tasks;
  unsigned slot = s.published.free_slot(wanted);
  if (slot == wanted) {
    // Published, but not taken yet. While the root is young no worker is woken for it; but look again soon.
    if (young) {
      if (ticks() - entered_at < r.tuned.root_warm_up) return true;
      s.entered_at.store(0, std::memory_order_relaxed);
      r.park.wake_sentinel();
    }
    return false;
  }
  const std::uint64_t now = ticks();
  task* t = nullptr;
  bool published = false;
  while (slot < wanted && (t = try_to_split(poll, now)) != nullptr) {
    s.published.publish(t, slot);
    published = true;
    slot = s.published.free_slot(wanted);
  }
  // A thief that takes the published tasks requests more.
  if (!published) return has_idle_workers && !s.published.any(wanted);
  if (young && now - entered_at < r.tuned.root_warm_up) return true;
  s.entered_at.store(0, std::memory_order_relaxed);
  if (has_idle_workers) r.park.wake_sentinel();
  return false;
}

}  // namespace

poll_step publish_work(slow_poll& poll) noexcept {
  poll.publishes_more = publishes_more(poll);
  return poll_step::next;
}

}  // namespace sukima::detail
