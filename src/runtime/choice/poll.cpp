// SPDX-License-Identifier: Apache-2.0
// The slow path of a poll: answering requests, publishing work, noticing aborts. Protocol: poll.hpp.
#include "choice/poll.hpp"

#include "assert.hpp"
#include "cancel/abort.hpp"
#include "choice/backtrack.hpp"
#include "fiber/fiber.hpp"
#include "fiber/switch.hpp"
#include "join/join.hpp"
#include "park/park.hpp"
#include "place/hints.hpp"
#include "remote/remote_interface.hpp"
#include "rooms.hpp"
#include "steal/injector.hpp"
#include "steal/mailbox.hpp"
#include "steal/steal.hpp"
#include "tuning.hpp"
#include "worker.hpp"

#include <sukima/detail/ticks.hpp>

#include <algorithm>

namespace sukima::detail {

namespace {

/// Splits the oldest work off, unless a backtrack found nothing a moment ago.
task* try_to_split(fiber& s, choice_point* end, choice_point* polling, std::uint64_t begun) noexcept {
  worker& w = *s.on;
  // The choice point that polls costs nothing to look at: only backtracking over older ones is not repeated
  // too soon.
  if (begun < s.retry_at && (s.oldest < reinterpret_cast<char*>(polling) || s.newest_covered != nullptr))
    return nullptr;
  ++w.statistics.polls_answered;
  task* t = split_oldest(s, end, polling, w);
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

/// Publishes the tasks that others want. True: they want more than there was, so poll again soon.
bool publish_work(fiber& s, choice_point* end, choice_point* polling) noexcept {
  runtime_core& r = *s.runtime;
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
  while (slot < wanted && (t = try_to_split(s, end, polling, now)) != nullptr) {
    s.published.publish(t, slot);
    published = true;
    slot = s.published.free_slot(wanted);
  }
  // A thief that takes what is published asks for more.
  if (!published) return has_idle_workers && !s.published.any(wanted);
  if (young && now - entered_at < r.tuned.root_warm_up) return true;
  s.entered_at.store(0, std::memory_order_relaxed);
  if (has_idle_workers) r.park.wake_sentinel();
  return false;
}

}  // namespace

void hand_over(fiber& s) noexcept {
  inject_published(s);
  switch_home(*s.on, s, [](worker& w, fiber* from, void*) { w.runtime->injector.push(from); }, nullptr);
  look_for_abort(s);  // while it did not run, flags went to the workers
}

#if defined(SUKIMA_ASSERTIONS)
namespace {

/// Looking through all of a deep stack at each poll would take too long.
constexpr int most_looked_at = 32;

/// Where the choice points begin that are untouched. The first one of a segment need not be polled, so it may
/// have been pushed across `clean_from`, as a segment of the Tascell language begins.
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
  // Choice points below the segment are being joined. `oldest` means nothing here: a clone may have closed
  // the older ones.
  look_at_some(first_clean(s, end), reinterpret_cast<const char*>(end), [](choice_point* r) {
    SUKIMA_ASSERT(kind_of(r)->stop != nullptr || kind_of(r)->quiet || !was_split(r),
                  "nothing was split off from a choice point at `clean_from` or above");
  });
}
#endif

bool poll_slow(fiber& s, choice_point* end, choice_point* polling, poll_place place) noexcept {
  char* const here = reinterpret_cast<char*>(polling);
  s.oldest = std::min(s.oldest, here);
  s.clean_from = std::min(s.clean_from, here);
  s.steps.forget_from(here);
  const char* written = true_limit(s);
  s.limit.publish_limit(true_limit(s));
  std::uint32_t flags = 0;
  auto to_node = remote_interface::answered::yes;
  for (;;) {
    worker& w = *s.on;
    flags = w.flags.load(std::memory_order_seq_cst);
    if ((flags & flag_check_abort) != 0) {
      w.flags.fetch_and(~flag_check_abort, std::memory_order_seq_cst);
      look_for_abort(s);
    }
    if ((flags & flag_leave) != 0 && s.thread_bindings == 0)
      hand_over(s);
    else if ((flags & flag_remote) != 0 && (to_node = s.runtime->remote.answer(s, end, polling, place)) ==
                                               remote_interface::answered::after_waiting)
      look_for_abort(s);  // while it did not run, flags went to the workers
    else if (!s.runtime->hints.in_use() || !s.runtime->hints.poll(s, flags)) [[likely]]
      break;
    written = true_limit(s);
    s.limit.publish_limit(true_limit(s));
  }
  worker& w = *s.on;
  bool all_served = true;
  if (worker* thief = take_request(w)) {
    task* const t = try_to_split(s, end, polling, ticks());
    all_served = t != nullptr;
    reply_to_thief(*thief, t);
  }
  const bool more = publish_work(s, end, polling) || to_node == remote_interface::answered::not_yet;
  // Loops of destructors are whole, also where an abort is pending.
  if (s.abort_pending && place == poll_place::ahead && kind_of(polling)->stop != nullptr &&
      leaves_at_join(s)) {
    kind_of(polling)->stop(polling);
    if (s.failure) s.taken_up_to = std::min(s.taken_up_to, here);
  }
  if (s.abort_pending || more)
    s.limit.request_poll();
  else if (true_limit(s) > written)
    s.limit.restore_limit(true_limit(s));
  check_choice_points(s, end);
  return all_served && !more;
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

unsigned give_work_away(fiber& s, choice_point* end, unsigned most, queue_end to) noexcept {
  unsigned given = 0;
  for (; given < most; ++given) {
    task* t = split_oldest(s, end, nullptr, *s.on);
    if (t == nullptr) break;
    ++s.on->statistics.promotions;
    s.runtime->injector.push(t, to);
  }
  s.limit.request_poll();  // the next poll writes the true limit
  return given;
}

void give_older_away(fiber& s, choice_point* r, const task& awaited) noexcept {
  if (s.runtime->remote.is_attached() && !is_done(&awaited))
    give_work_away(s, r, tuning::most_given_by_blocking, queue_end::back);
}

namespace {

/// May the poll or the join of a short root's first fork be ignored? The limit stays raised, so whatever is
/// wanted is looked at by the next poll; but an abort is not made to wait.
bool may_ignore(const fiber& s) noexcept {
  return !s.abort_pending && s.on->flags.load(std::memory_order_relaxed) == 0;
}

}  // namespace

bool ignores_join(fiber& s, const choice_point* r) noexcept {
  if (s.ignored != r) return false;
  s.ignored = nullptr;
  return !was_split(r) && !s.failure && may_ignore(s);
}

extern "C" void sukima_poll_slow(choice_point* r) noexcept {
  fiber& s = fiber_of(r);
  if (s.is_short_root) {
    s.is_short_root = false;
    // At the fiber's first choice point nothing is remembered of any other one (known_steps.hpp).
    if (reinterpret_cast<char*>(r) == s.base && kind_of(r)->stop == nullptr && may_ignore(s)) {
      s.ignored = r;
      return;
    }
  }
  if (kind_of(r)->quiet) {
    note_push(s, r);
    return;
  }
  poll_slow(s, above(r), r, poll_place::ahead);
  if (!s.abort_pending) return;
  // Nothing in these frames needs an end: this may not return.
  if (const auto leave = kind_of(r)->leave) leave(r);
}

}  // namespace sukima::detail
