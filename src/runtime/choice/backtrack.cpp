// SPDX-License-Identifier: Apache-2.0
// Backtracks to the oldest choice point with work, splits off a task there, and replays the steps.
#include "choice/backtrack.hpp"

#include <base/shared/probe.hpp>
#include "choice/covered_segment.hpp"
#include "fiber/fiber.hpp"
#include "fiber/fiber_parts.hpp"
#include "fiber/sanitizer.hpp"
#include "fiber/switch.hpp"
#include "place/place_events.hpp"
#include "worker.hpp"

#include <algorithm>
#include <exception>
#include <limits>
#include <new>
#include <vector>

namespace sukima::detail {

namespace {

/// Fills in the members of a task that is split off from this fiber.
void prepare_task(fiber& self, task* made) noexcept {
  made->parent = self.running;
  made->owner = &self;
  made->owner_segment = self.segment;
  made->depth = self.running->depth + 1;
  made->stays = false;
  if (made->place != inherited_place) {  // a hint of its own
    if (!parts_of<fiber_parts>(self).hints.in_use()) parts_of<fiber_parts>(self).hints.use();
  } else if (parts_of<fiber_parts>(self).hints.in_use()) {
    made->place = hinted_place(self, made->origin);
  }
  made->shielded =
      reinterpret_cast<std::uintptr_t>(made->origin) >= self.running->shield.load(std::memory_order_relaxed);
  // If a helper splits a fiber that does not run, exceptions are stored in that fiber.
  const bool unwinds =
      running_fiber() == &self ? std::uncaught_exceptions() > 0 : self.exceptions.uncaught > 0;
  const bool is_before = reinterpret_cast<char*>(made->origin) < self.before_unwinding;
  made->cancellation_masked.store(unwinds && !is_before,
                                  std::memory_order_relaxed);  // it is not published yet
}

/// The steps that backtracking undoes and replays: choice points whose step is in progress, oldest first.
class steps_in_progress {
 public:
  explicit steps_in_progress(known_steps& known) noexcept : known_(known) {}
  /// A loop that polls has no step in progress; a choice point that stands for a step (dynamic_wind of the
  /// Tascell language) always has. \throws std::bad_alloc; then there is nothing to undo nor to replay
  void find(choice_point* from, choice_point* end, choice_point* polling, worker& w) {
    // Whether the polling choice point has a step in progress changes: it is not remembered.
    choice_point* const known_end = polling >= from && polling < end ? polling : end;
    w.statistics.choice_points_scanned +=
        known_.look_through(reinterpret_cast<char*>(from), reinterpret_cast<char*>(known_end));
    for (std::size_t i = known_.first_at(from); i < known_.count(); ++i) {
      // A choice point of the smallest size, without steps, may lie where there was one (poll.hpp).
      if (kind_of(known_[i])->undo != nullptr) steps_.push_back(known_[i]);
    }
    for (choice_point* r = known_end; r < end; r = above(r))
      if (kind_of(r)->undo != nullptr && (r != polling || kind_of(r)->leave != nullptr)) steps_.push_back(r);
    undone_from_ = steps_.size();
  }
  bool empty() const noexcept { return steps_.empty(); }
  void undo_all() {
    while (undone_from_ > 0) {
      kind_of(steps_[undone_from_ - 1])->undo(steps_[undone_from_ - 1]);
      --undone_from_;
    }
  }
  /// Replays up to the state in which `r` made its choice.
  void replay_up_to(const choice_point* r) {
    while (undone_from_ < steps_.size() && steps_[undone_from_] < r) {
      kind_of(steps_[undone_from_])->redo(steps_[undone_from_]);
      ++undone_from_;
    }
  }

 private:
  known_steps& known_;
  std::vector<choice_point*> steps_;
  std::size_t undone_from_ = std::numeric_limits<std::size_t>::max();  ///< none is undone
};

/// Whether this choice point may be split now.
bool accepts(choice_point* r, worker& w, taker receiver) {
  const choice_point_kind* kind = kind_of(r);
  if (!kind->open(r) || (receiver == taker::node && kind->travel == nullptr)) return false;
  if (kind->guard == nullptr) return true;
  const double p = kind->guard(r);
  return p >= 1.0 || (p > 0.0 && static_cast<double>(w.random() >> 11) * 0x1p-53 < p);
}

}  // namespace

task* split_in_segment(fiber& self, choice_point* end, choice_point* polling, worker& splitter,
                       taker receiver) noexcept {
  // After a callback has thrown, the steps in progress no longer match the fiber's choice points.
  if (self.failure) return nullptr;
  auto* r = reinterpret_cast<choice_point*>(self.oldest);
  while (r < end && !kind_of(r)->open(r)) {
    r = above(r);
    ++splitter.statistics.choice_points_scanned;
  }
  self.oldest = reinterpret_cast<char*>(r);
  self.clean_from = std::max(self.clean_from, self.oldest);
  if (r >= end) return nullptr;
  task* t = nullptr;
  try {
    steps_in_progress steps(self.steps);
    try {
      steps.find(r, end, polling, splitter);
      if (!steps.empty()) {
        ++splitter.statistics.backtracks;
        steps.undo_all();
      }
      while (r < end && !accepts(r, splitter, receiver)) {
        r = above(r);
        steps.replay_up_to(r);
      }
      if (r < end) t = kind_of(r)->split(r);
    } catch (const std::bad_alloc&) {
      // Without memory no work is given away, and the computation continues.
    } catch (...) {
      self.failure = std::current_exception();  // of the user's copy, undo or guard
      self.failed_at = reinterpret_cast<char*>(r);
    }
    steps.replay_up_to(end);
  } catch (...) {
    self.failure = std::current_exception();
    self.failed_at = reinterpret_cast<char*>(r);
  }
  if (self.failure) {
    self.abort_pending = true;
    self.oldest_ended_loop = all_ones;
  }
  if (t == nullptr) return nullptr;
  prepare_task(self, t);
  SUKIMA_PROBE(split, splitter.id, t->depth);
  splitter.note(trace_kind::split, static_cast<std::uint32_t>(t->depth));
  hands_over(t);  // pairs with: execute in execute.cpp
  // A loop reads its bounds and its children again anyway; a fork must not be joined on the fast path now. A
  // future below either must not end on it (future_cell::end_in_place): the task may touch the future.
  char* const touched_up_to = reinterpret_cast<char*>(t->kind->stop == nullptr ? above(r) : r);
  self.clean_from = std::max(self.clean_from, touched_up_to);
  return t;
}

task* split_oldest(fiber& s, choice_point* end, choice_point* polling, worker& w, taker receiver) noexcept {
  for (covered_segment* c = s.oldest_covered; c != nullptr;) {
    covered_segment* const above = c->above();
    if (task* const t = c->split(w, receiver)) return t;
    if (!c->has_work()) c->unlink();
    c = above;
  }
  return split_in_segment(s, end, polling, w, receiver);
}

bool segment_has_open_work(const fiber& s, const char* top) noexcept {
  const auto* const end = reinterpret_cast<const choice_point*>(top);
  for (auto* r = reinterpret_cast<choice_point*>(s.oldest); r < end; r = above(r))
    if (kind_of(r)->open(r)) return true;
  return false;
}

bool has_open_work(fiber& s, const char* top) noexcept {
  if (segment_has_open_work(s, top)) return true;
  for (; s.newest_covered != nullptr; s.newest_covered->unlink())
    if (s.newest_covered->has_work()) return true;
  return false;
}

}  // namespace sukima::detail
