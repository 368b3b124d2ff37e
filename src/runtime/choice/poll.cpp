// SPDX-License-Identifier: Apache-2.0
// The slow half of every test: going back to the oldest choice, splitting, publishing; also the registers'
// keeper.
//
// Invariants of a fiber, between its tests:
//   limit ≥ clean_from ≥ oldest (limit may be all ones);
//   choice points ≥ clean_from are untouched: nothing was split off from them;
//   no choice point of the running segment below oldest has work.
// A choice point that is pushed below `oldest` after the stack has shrunk lies below `limit`, so its first
// test comes here and moves both down. So every choice point must be tested once: `oldest` has to stay a
// place where a choice point begins, and one that was pushed without a test could lie across it. (Records of
// the smallest size cannot.) Both sides change `limit` by exchange: the raiser sets its flag first; the owner
// writes the true limit first and reads the flags afterwards. So no request is lost. Model: model/limit.pml.
#include "core.hpp"

#include <sukima/detail/loop.hpp>

#include <algorithm>
#include <vector>

namespace sukima::detail {

namespace {

/// What a task split off from this fiber has to know.
void prepare_task(fiber& s, task* t) noexcept {
  t->parent = s.running;
  t->owner = &s;
  t->depth = s.running->depth + 1;
  // A stand-in splits a fiber that does not run: its exceptions are kept with it.
  t->cancellation_masked = running_fiber() == &s ? std::uncaught_exceptions() > 0 : s.exceptions.uncaught > 0;
}

/// Splits the oldest work off, unless trying was in vain a moment ago.
task* go_back(fiber& s, choice_point* end, choice_point* testing, std::uint64_t begun) noexcept {
  worker& w = *s.on;
  // What is tested now costs nothing to look at: only a way back over older choice points is not repeated too
  // soon.
  if (begun < s.retry_at && s.oldest < reinterpret_cast<char*>(testing)) return nullptr;
  ++w.statistics.polls_answered;
  task* t = split_oldest(s, end, testing, w);
  if (t != nullptr) {
    ++w.statistics.splits;
    s.retry_at = 0;
  } else {
    const std::uint64_t now = ticks();
    s.retry_at = now + std::max(s.runtime->tuned.futile_backtrack_pause,
                                tuning::futile_backtrack_factor * (now - begun));
  }
  return t;
}

/// Gives what is wanted, if there is something. True: somebody still wants more than there was.
bool publish_work(fiber& s, choice_point* end, choice_point* testing) noexcept {
  runtime_core& r = *s.runtime;
  const bool again = s.publish_wanted.load() && s.publish_wanted.exchange(false);
  const std::uint64_t entered_at = s.entered_at.load(std::memory_order_relaxed);
  const bool young = entered_at != 0;
  const bool hungry = r.park.has_idle_workers();
  if (!hungry && !again) return false;
  if (r.chosen.ready == 0) return false;
  // One while the root is young: most are over before a second one would be of use.
  const unsigned ready = young ? std::min(1u, r.chosen.ready) : r.chosen.ready;
  unsigned slot = s.published.free_slot(ready);
  if (slot == ready) {
    // Published, nobody came yet. While the root is young nobody is woken for it; but look again soon.
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
  while (slot < ready && (t = go_back(s, end, testing, now)) != nullptr) {
    s.published.publish(t, slot);
    published = true;
    slot = s.published.free_slot(ready);
  }
  // Whoever takes what lies there asks for more.
  if (!published) return hungry && !s.published.any(ready);
  if (young && now - entered_at < r.tuned.root_warm_up) return true;
  s.entered_at.store(0, std::memory_order_relaxed);
  if (hungry) r.park.wake_sentinel();
  return false;
}

}  // namespace

namespace {

/// What going back has to undo and redo: choice points whose step is in progress, oldest first.
class journey {
 public:
  /// A loop that is tested has no step in progress; a choice point of its own for a step (language.h) always
  /// has.
  journey(choice_point* from, choice_point* end, choice_point* testing) {
    for (choice_point* r = from; r < end; r = above(r))
      if (kind_of(r)->undo != nullptr && (r != testing || kind_of(r)->leave != nullptr)) steps_.push_back(r);
    undone_from_ = steps_.size();
  }
  bool empty() const noexcept { return steps_.empty(); }
  void go_back() {
    while (undone_from_ > 0) {
      kind_of(steps_[undone_from_ - 1])->undo(steps_[undone_from_ - 1]);
      --undone_from_;
    }
  }
  /// Comes forward up to the state in which `r` made its choice.
  void come_forward(const choice_point* r) {
    while (undone_from_ < steps_.size() && steps_[undone_from_] < r) {
      kind_of(steps_[undone_from_])->redo(steps_[undone_from_]);
      ++undone_from_;
    }
  }

 private:
  std::vector<choice_point*> steps_;
  std::size_t undone_from_;
};

bool accepts(choice_point* r, worker& w) {
  const choice_point_kind* kind = kind_of(r);
  if (!kind->open(r)) return false;
  if (kind->guard == nullptr) return true;
  const double p = kind->guard(r);
  return p >= 1.0 || (p > 0.0 && static_cast<double>(w.random() >> 11) * 0x1p-53 < p);
}

}  // namespace

task* split_oldest(fiber& s, choice_point* end, choice_point* testing, worker& w) noexcept {
  auto* r = reinterpret_cast<choice_point*>(s.oldest);
  while (r < end && !kind_of(r)->open(r)) r = above(r);
  s.oldest = reinterpret_cast<char*>(r);
  s.clean_from = std::max(s.clean_from, s.oldest);
  if (r >= end) return nullptr;
  task* t = nullptr;
  try {
    journey trip(r, end, testing);
    const bool travels = !trip.empty();
    try {
      if (travels) {
        ++w.statistics.backtracks;
        trip.go_back();
      }
      while (r < end && !accepts(r, w)) {
        r = above(r);
        trip.come_forward(r);
      }
      if (r < end) t = kind_of(r)->split(r);
    } catch (const std::bad_alloc&) {
      // Nothing is given away for lack of memory; the computation goes on.
    } catch (...) {
      s.failure =
          std::current_exception();  // the user's own copy, undo or guard: leaves at the next test of a join
    }
    trip.come_forward(end);
  } catch (...) {
    s.failure = std::current_exception();
  }
  if (s.failure) s.abort_pending = true;
  if (t == nullptr) return nullptr;
  prepare_task(s, t);
  // A loop reads its bounds and its children anew anyway; a fork must not be joined on the fast path now.
  if (t->kind->stop == nullptr) s.clean_from = std::max(s.clean_from, reinterpret_cast<char*>(above(r)));
  return t;
}

void hand_over(fiber& s) noexcept {
  inject_published(s);
  switch_home(*s.on, &s, [](worker& w, fiber* from, void*) { w.runtime->injector.push(from); }, nullptr);
  look_for_abort(s);  // flags went to the workers meanwhile
}

void poll_slow(fiber& s, choice_point* end, choice_point* testing, bool at_join) noexcept {
  char* const here = reinterpret_cast<char*>(testing);
  s.oldest = std::min(s.oldest, here);
  s.clean_from = std::min(s.clean_from, here);
  const char* written = s.clean_from;
  s.publish_limit(s.clean_from);
  for (;;) {
    worker& w = *s.on;
    const std::uint32_t flags = w.flags.load();
    if ((flags & flag_check_abort) != 0) {
      w.flags.fetch_and(~flag_check_abort);
      look_for_abort(s);
    }
    if ((flags & flag_leave) == 0 || s.pins != 0) break;
    hand_over(s);
    written = s.clean_from;
    s.publish_limit(s.clean_from);
  }
  worker& w = *s.on;
  if (worker* thief = w.mailbox.take()) reply_to_thief(*thief, go_back(s, end, testing, ticks()));
  const bool more = publish_work(s, end, testing);
  if (s.abort_pending && !at_join && kind_of(testing)->stop != nullptr) kind_of(testing)->stop(testing);
  if (s.abort_pending || more)
    s.request_poll();
  else if (s.clean_from > written)
    s.restore_limit(s.clean_from);
}

/// A choice point was pushed below `oldest` or `clean_from`: from there on the stack is another one than
/// before.
static void note_push(fiber& s, choice_point* r) noexcept {
  char* const here = reinterpret_cast<char*>(r);
  s.oldest = std::min(s.oldest, here);
  s.clean_from = std::min(s.clean_from, here);
  s.lower_limit(s.clean_from);
}

void give_work_away(fiber& s, choice_point* end, unsigned most) noexcept {
  for (unsigned given = 0; given < most; ++given) {
    task* t = split_oldest(s, end, nullptr, *s.on);
    if (t == nullptr) break;
    ++s.on->statistics.splits;
    s.runtime->injector.push(t);
  }
  s.request_poll();  // the next test sets the limit anew
}

extern "C" void sukima_poll_slow(choice_point* r) noexcept {
  fiber& s = fiber_of(r);
  if (kind_of(r)->quiet) {
    note_push(s, r);
    return;
  }
  poll_slow(s, above(r), r, false);
  if (!s.abort_pending) return;
  // Nothing in these frames needs an end: this may not return.
  if (const auto leave = kind_of(r)->leave) leave(r);
}

}  // namespace sukima::detail
