// SPDX-License-Identifier: Apache-2.0
// Hints where to compute, and the exchange of fibers that they lead to.
//
// A fiber's place is that of its innermost frame with a hint, else that of its task; any: none. A worker is
// in a place if its last CPU is (worker_places.hpp). Each worker publishes two words (worker_hints.hpp): the
// place that its fiber *wants*, if that is elsewhere and the fiber has waited for the threshold; and its
// *availability*: whether it would give its fiber away. When one of them changes, the worker first writes it
// and then looks for another worker that fits. Both sides do so, and all accesses are sequentially
// consistent. So of two workers that fit, at least one sees the other.
//
//   A runs s, s wants P and B, which is in P, yields or is idle:
//     A leaves s for a fresh fiber; behind the switch it stores s as the offer of P (CAS null → s), and
//     requests B's attention (flag_place). Its wish stands until the offer is taken.
//     B, at its next poll or look around: CAS s → null; it puts its own fiber into the injector queue and
//     runs s.
//     A looks for a few microseconds whether the offer was taken, then goes on with what is ready. If not:
//     CAS s → null, and back to s. B's flag stands: when it polls, it asks A.
//   B begins to yield or to look for work: it sets flag_place of a worker that wants one of its places, and
//     requests a poll. Then it looks whether that worker still wants the place; if not, it asks the next one.
//   A worker that was asked and no longer wants a place asks another one that does, if a worker there yields.
//
// No worker waits for another worker's poll: A ends its wait itself. A begins nothing new while its offer is
// out. An exchange brings a fiber to its place and takes none from there, so exchanges end. Hints change only
// where a fiber runs and which task a thief takes first; always the oldest work is split. Model:
// model/exchange.pml.
//
// A program without hints pays one load in each slow path (`in_use`).
#pragma once

#include "place/worker_hints.hpp"

#include <sukima/capacity/places.h>

#include <atomic>
#include <cstdint>
#include <memory>

namespace sukima::detail {

struct choice_point;
struct fiber;
struct placed;
struct runtime_core;
struct worker;
class rest_check;

/// The place of a fiber, and of a choice point of its running segment. For the worker that runs or holds the
/// fiber.
sukima_place hinted_place(const fiber& s) noexcept;
sukima_place hinted_place(const fiber& s, const choice_point* r) noexcept;
/// Makes a worker look whether it should exchange its fiber. The caller publishes its wish first.
void request_place_check(worker& w) noexcept;
/// By the worker itself. \returns whether it was asked to look
bool clear_place_flag(worker& w) noexcept;
/// By the worker itself: from now on its time counts so, in the statistics and in the trace.
void count_time(worker& w, nearness near, sukima_place place = SUKIMA_PLACE_ANY) noexcept;
/// By the worker that runs it: the outermost forks of the fiber's innermost frame with a hint poll slowly,
/// until the threshold is reached. The caller must write the limit afterwards.
void poll_early(fiber& s) noexcept;

class placement_hints {
 public:
  explicit placement_hints(runtime_core& core) noexcept;
  ~placement_hints();
  placement_hints(const placement_hints&) = delete;
  placement_hints& operator=(const placement_hints&) = delete;

  /// Whether a frame of this runtime has ever had a hint.
  bool in_use() const noexcept { return tables_.load(std::memory_order_acquire) != nullptr; }
  /// A frame has one. \returns false: there is no memory for the tables
  bool use() noexcept;

  /// Whether that is a hint for where this worker is. Any place and the whole machine are not. \pre in_use()
  bool suits(const worker& w, sukima_place place) const noexcept;

  /// Whether this worker counts for that place: it is there, or in the place that counts for one without a
  /// worker. \pre in_use()
  bool serves(const worker& w, sukima_place place) const noexcept;

  // Events of the calling worker; all \pre in_use().
  /// It has come to this fiber, or to another task or frame of it.
  void arrives(fiber& s) noexcept;
  /// A frame of its fiber has begun or ended.
  void changes(fiber& s) noexcept;
  /// It looks for work.
  void idles(worker& w) noexcept;
  /// Whether a worker without work has been asked, or has not announced yet that it is idle.
  static bool must_look(const worker& w) noexcept;
  /// It is about to sleep until it is unparked; then it looks for offers and at its flags once more.
  void falls_asleep(worker& w) noexcept;
  /// It waits for something with which no other worker can help.
  void waits(worker& w) noexcept;
  /// It leaves the runtime, or goes home.
  void leaves(worker& w) noexcept;

  /// A slow poll: exchanges the fiber, if it should be. \returns true: it has left its worker in between
  bool poll(fiber& s, std::uint32_t flags) noexcept;
  /// For a worker without work: a fiber that is on offer to one of its places; null: none.
  fiber* take_offer(worker& w) noexcept;
  /// The same for fibers that are on offer elsewhere, and whose worker has lost its CPU.
  fiber* take_stale_offer(worker& w) noexcept;
  /// The beginning of a fresh fiber: if its worker has come here to offer its fiber, waits for a moment.
  /// \returns the fiber if no worker took it, to go on with; null: there is no offer any more
  fiber* end_offer(worker& w) noexcept;
  /// By the monitor: every worker looks, because some changes raise no event: the kernel may move a thread.
  void remind() noexcept;

 private:
  friend class rest_check;

  /// The fiber that is on offer to a place. Its worker releases it, the worker that takes it acquires it.
  struct alignas(128) offer {
    std::atomic<fiber*> on_offer{nullptr};  ///< pairs with: make, take, take_offer in offer.cpp
    std::atomic<std::uint64_t> since{0};  ///< Tick. no partner: a hint
    /// \returns false: another one is on offer
    bool make(fiber* s) noexcept;
    /// \returns false: it was taken, or taken back
    bool take(fiber* s) noexcept;
  };
  struct tables {
    explicit tables(const sukima_place_table& of);
    const sukima_place_table& machine;
    worker_places workers;
    const std::uint32_t count;  ///< of places
    std::unique_ptr<offer[]> offers;  ///< by the place's number
  };
  struct situation {
    availability available;
    sukima_place wanted;
    nearness near;
  };

  void see(worker& w) noexcept;
  sukima_place nearest(sukima_place place) const noexcept;
  bool is_in(const worker& w, sukima_place place) const noexcept;
  bool exchanges() const noexcept;
  situation look(worker& w, const fiber& s) const noexcept;
  void begin(fiber& s) noexcept;
  void say(worker& w, availability available, sukima_place wanted) noexcept;
  worker* find_partner(worker& w, sukima_place wanted) noexcept;
  bool ask_for(const worker& w) noexcept;
  void pass_on(const worker& w) noexcept;
  bool make_offer(fiber& s, worker& to, sukima_place place) noexcept;
  void swap(fiber& s, fiber& other) noexcept;

  runtime_core& core_;
  const std::uint64_t threshold_;  ///< in ticks
  std::atomic<tables*> tables_{nullptr};  ///< pairs with: use, in_use
  /// How many workers want a place, so that others look at them only if there are any.
  /// pairs with: say, ask_for, pass_on in match.cpp
  std::atomic<std::uint32_t> wanting_{0};
  std::atomic<std::uint32_t> offers_{0};  ///< How many fibers are on offer, about. no partner: a hint
};

}  // namespace sukima::detail
