// SPDX-License-Identifier: Apache-2.0
// The joins of forks and loops. A join takes back tasks that no worker has taken, waits for the others, and
// throws after an abort or an exception. Protocol: join.hpp.
#include "join/join.hpp"

#include "cancel/abort.hpp"
#include "choice/poll.hpp"
#include "fiber/fiber.hpp"
#include "fiber/unannounced.hpp"
#include "join/give_away.hpp"
#include "worker.hpp"

#include <exception>

namespace sukima::detail {

task* join_child(choice_point* point) {
  fiber& s = fiber_at(point);
  if (ignores_join(s, point)) return nullptr;
  ensure_announced(s);
  const choice_point_kind* kind = kind_of(point);
  task* t = was_split(point) ? newest_child(point) : nullptr;
  if (t != nullptr && reclaim(s, t)) {
    kind->reclaim(point, t);
    // Other requests keep the limit raised, and the next poll answers them.
    if (!s.abort_pending) return nullptr;
    t = nullptr;
  }
  poll_slow(s, point, point, poll_place::join);
  if (t != nullptr) {
    give_older_away(s, point, *t);
    await(s, t, reinterpret_cast<char*>(above(point)));
  }
  const auto leave = [&] {
    if (t != nullptr) t->destroy(t);
    if (kind->destroy != nullptr) kind->destroy(point);
  };
  if (const std::exception_ptr failure = take_failure(s, point)) {
    if (t != nullptr) clear_abort(s, point);
    look_for_abort(s);  // the program may catch it and continue
    leave();
    std::rethrow_exception(failure);
  }
  if (s.abort_pending || (t != nullptr && (t->aborted || t->error))) {
    if (t != nullptr) clear_abort(s, point);
    if (must_leave(s) || (t != nullptr && t->aborted)) {
      leave();
      s.on->count_abort();
      throw aborted{};
    }
    look_for_abort(s);
    if (t != nullptr && t->error) {
      const std::exception_ptr error = t->error;
      leave();
      std::rethrow_exception(error);
    }
  }
  return t;
}

task* join_children(choice_point* point) {
  fiber& s = fiber_at(point);
  if (ignores_join(s, point)) return nullptr;
  ensure_announced(s);
  poll_slow(s, point, point, poll_place::join);
  const choice_point_kind* kind = kind_of(point);
  task* const newest = was_split(point) ? newest_child(point) : nullptr;
  // The newest child first: it has the iterations that come next. Children that have not begun run here.
  for (task* t = newest; t != nullptr; t = t->older) {
    if (complete_if_unbegun(s, point, t)) continue;
    give_older_away(s, point, *t);
    await(s, t, reinterpret_cast<char*>(above(point)));
  }
  std::exception_ptr error = take_failure(s, point);
  bool child_aborted = false;
  for (task* t = newest; t != nullptr; t = t->older) {
    child_aborted |= t->aborted;
    if (!error) error = t->error;
  }
  if (!s.abort_pending && !error && !child_aborted) return newest;
  clear_abort(s, point);
  const bool gone = must_leave(s);
  look_for_abort(s);
  if (!gone && !error && !child_aborted) return newest;
  for (task* t = newest; t != nullptr;) {
    task* older = t->older;
    t->destroy(t);
    t = older;
  }
  if (kind->destroy != nullptr) kind->destroy(point);
  if (error && !gone) std::rethrow_exception(error);
  s.on->count_abort();
  throw aborted{};
}

}  // namespace sukima::detail
