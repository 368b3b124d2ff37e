// SPDX-License-Identifier: Apache-2.0
// The interface through which lower layers report events to placement, and query it. place/hints.hpp
// implements it.
#pragma once

#include <sukima/capacity/places.h>

#include <atomic>
#include <cstdint>

namespace sukima::detail {

struct choice_point;
struct fiber;
struct worker;

/// The place of a fiber, and of a choice point of its running segment. For the worker that runs or holds the
/// fiber.
sukima_place hinted_place(const fiber& s) noexcept;
sukima_place hinted_place(const fiber& s, const choice_point* r) noexcept;
/// Whether the fiber's innermost frame with a hint has not been reported yet (hints.hpp).
bool has_unreported(const fiber& s) noexcept;
/// Makes a worker check whether it should exchange its fiber. The caller publishes its request first.
void request_place_check(worker& w) noexcept;
/// Called by the worker itself. \returns whether the flag was set
bool clear_place_flag(worker& w) noexcept;

/// In a program without hints each of these calls costs one load (`in_use`).
class place_events {
 public:
  place_events() = default;
  place_events(const place_events&) = delete;
  place_events& operator=(const place_events&) = delete;

  /// Whether a frame of this runtime has ever had a hint.
  bool in_use() const noexcept { return in_use_.load(std::memory_order_acquire); }
  /// Branches with a hint that take fewer ticks than this are short; 0: none is.
  std::uint64_t short_below() const noexcept { return short_below_; }
  /// Whether a worker wants its fiber to run in another place. This may change at any time.
  bool has_wishes() const noexcept {
    return wanting_.load(std::memory_order_relaxed) != 0;
  }  // no partner: a hint
  /// Called for the first frame with a hint. \returns false: there is no memory for the tables
  virtual bool use() noexcept = 0;

  /// Whether `place` is a hint for this worker's place. *Any* and the whole machine are not. \pre in_use()
  virtual bool suits(const worker& w, sukima_place place) const noexcept = 0;
  /// Whether this worker counts as a worker of that place: it is in the place, or, if the place has no
  /// worker, in the place that counts instead. \pre in_use()
  virtual bool serves(const worker& w, sukima_place place) const noexcept = 0;

  // Events of the calling worker; all \pre in_use().
  /// It has switched to this fiber, or to another task or frame of the fiber.
  virtual void arrives(fiber& s) noexcept = 0;
  /// A frame of its fiber has begun or ended.
  virtual void changes(fiber& s) noexcept = 0;
  /// It begins to look for work.
  virtual void idles(worker& w) noexcept = 0;
  /// Whether another worker has set its flag while it has no work, or it has not announced yet that it is
  /// idle.
  static bool must_look(const worker& w) noexcept;
  /// It is about to sleep until it is unparked. After this call it looks for offers, and checks its flags,
  /// once more.
  virtual void falls_asleep(worker& w) noexcept = 0;
  /// It waits for something with which no other worker can help.
  virtual void waits(worker& w) noexcept = 0;
  /// It leaves the runtime, or goes home.
  virtual void leaves(worker& w) noexcept = 0;

  /// Takes a fiber that is on offer to one of the worker's places, for a worker without work; null: none.
  virtual fiber* take_offer(worker& w) noexcept = 0;
  /// The same for fibers that are on offer to other places, and whose worker has lost its CPU.
  virtual fiber* take_stale_offer(worker& w) noexcept = 0;
  /// Called at the beginning of a fresh fiber. If its worker has switched here to offer its fiber, waits for
  /// a moment.
  /// \returns the offered fiber if no worker took it, to continue with; null: there is no offer any more
  virtual fiber* end_offer(worker& w) noexcept = 0;

 protected:
  ~place_events() = default;
  std::uint64_t short_below_ = 0;
  /// How many workers want a place. Others search for such workers only if there are any.
  /// pairs with: say, ask_for, pass_on in match.cpp
  std::atomic<std::uint32_t> wanting_{0};
  /// Set once the tables are there. pairs with: use in hints.cpp; in_use
  std::atomic<bool> in_use_{false};
};

}  // namespace sukima::detail
