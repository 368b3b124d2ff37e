// SPDX-License-Identifier: Apache-2.0
// The slow path of a poll, without the handlers of requests (poll_handlers.cpp). Protocol: poll.hpp.
#include "choice/poll.hpp"

#include <base/shared/assert.hpp>
#include "fiber/fiber.hpp"
#include "fiber/switch.hpp"
#include "fiber/unannounced.hpp"
#include "worker.hpp"

#include <algorithm>
#include <utility>

namespace sukima::detail {

#if defined(SUKIMA_ASSERTIONS)
namespace {

/// Checking all of a deep stack at each poll would take too long.
constexpr int most_looked_at = 32;

/// The address at which the untouched choice points begin. The first choice point of a segment need not be
/// polled, so it may have been pushed across `clean_from`, as at the beginning of a segment of the Tascell
/// language.
char* first_clean(const fiber& s, const choice_point* end) noexcept {
  char* const from = std::max(s.clean_from, s.segment);
  auto* const first = reinterpret_cast<choice_point*>(s.segment);
  if (first >= end || from == s.segment) return from;
  return std::max(from, reinterpret_cast<char*>(above(first)));
}

/// Calls look(r) for some choice points of [from, to), the oldest of them.
template <class Look> void look_at_some(char* from, const char* to, Look look) noexcept {
  auto* r = reinterpret_cast<choice_point*>(from);
  for (int i = 0; i < most_looked_at && reinterpret_cast<char*>(r) < to; ++i, r = above(r)) look(r);
}

}  // namespace

void check_choice_points(const fiber& s, const choice_point* end) noexcept {
  SUKIMA_ASSERT(running_fiber() == &s, "a fiber polls on its own stack");
  SUKIMA_ASSERT(s.limit.covers(true_limit(s)), "the limit is the true limit, or raised");
  SUKIMA_ASSERT(s.segment <= s.oldest, "the oldest choice point with work belongs to the running segment");
  // Choice points below the segment are being joined. `oldest` has no meaning here, because a clone may have
  // closed the older ones.
  look_at_some(first_clean(s, end), reinterpret_cast<const char*>(end), [](choice_point* r) {
    SUKIMA_ASSERT(kind_of(r)->stop != nullptr || kind_of(r)->quiet || !was_split(r),
                  "nothing was split off from a choice point at `clean_from` or above");
  });
}
#endif

bool poll_slow(fiber& self, choice_point* end, choice_point* polling, poll_place place) noexcept {
  char* const here = reinterpret_cast<char*>(polling);
  self.oldest = std::min(self.oldest, here);
  self.clean_from = std::min(self.clean_from, here);
  self.steps.forget_from(here);
  slow_poll poll{self, end, polling, place};
  const char* written = nullptr;
  const auto begin = [&] {
    written = true_limit(self);
    self.limit.publish_limit(true_limit(self));
    poll.flags = self.on->flags.load(std::memory_order_seq_cst);
  };
  begin();
  for (std::size_t i = 0; i < poll_handlers.size();) {
    if (poll_handlers[i](poll) == poll_step::next) {
      ++i;
    } else {
      begin();
      i = 0;
    }
  }
  const bool more = poll.publishes_more || poll.node_waits;
  if (self.abort_pending || more || poll.leaves_later)
    self.limit.request_poll();
  else if (true_limit(self) > written)
    self.limit.restore_limit(true_limit(self));
  check_choice_points(self, end);
  const bool all_served = poll.thief_served && !more;
  if (all_served) self.unserved_since = 0;
  return all_served;
}

/// The poll of a choice point that has no work (`choice_point_kind::quiet`). The stack may have shrunk below
/// `oldest` or `clean_from` before it was pushed: both move down to it.
static void note_push(fiber& s, choice_point* r) noexcept {
  char* const here = reinterpret_cast<char*>(r);
  s.oldest = std::min(s.oldest, here);
  s.clean_from = std::min(s.clean_from, here);
  s.steps.forget_from(here);
  s.limit.lower_limit(true_limit(s));
}

namespace {

/// Whether the poll or the join of a short root's first fork may be ignored. The limit stays raised, so the
/// next poll answers all requests. Only an abort must not wait for the next poll. An unannounced root has no
/// task that other threads know. So if a flag is set, another thread has set it for all workers, or for an
/// earlier root.
bool may_ignore(const fiber& s) noexcept {
  if (s.on->flags.load(std::memory_order_relaxed) != 0 && !s.unannounced.load(std::memory_order_relaxed))
    return false;
  return !s.abort_pending;
}

}  // namespace

bool ignores_join(fiber& s, const choice_point* r) noexcept {
  if (s.ignored != r) return false;
  s.ignored = nullptr;
  s.lets_pass = nullptr;  // the next choice point in this place is another one
  return !was_split(r) && !s.failure && may_ignore(s);
}

extern "C" void sukima_poll_slow(choice_point* point) noexcept {
  fiber& s = fiber_at(point);
  if (s.lets_pass == point) {  // seldom: the assembly has looked before
    s.ignored = point;
    if (--s.passes_left == 0) s.lets_pass = nullptr;
    return;
  }
  s.lets_pass = nullptr;
  if (s.is_short_root) {
    s.is_short_root = false;
    // At the fiber's first choice point no steps of others are stored (known_steps.hpp).
    if (reinterpret_cast<char*>(point) == s.base && kind_of(point)->stop == nullptr && may_ignore(s)) {
      s.ignored = point;
      return;
    }
  }
  ensure_announced(s);
  if (kind_of(point)->quiet) {
    note_push(s, point);
    return;
  }
  poll_slow(s, above(point), point, poll_place::ahead);
  if (!s.abort_pending) return;
  // These frames need no destructors, so this may not return.
  if (const auto leave = kind_of(point)->leave) leave(point);
}

}  // namespace sukima::detail
