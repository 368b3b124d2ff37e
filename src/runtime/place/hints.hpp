// SPDX-License-Identifier: Apache-2.0
// Hints where to compute, and the exchange of fibers that follows from them.
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
//     sets B's flag_place. The request stays pending until the offer is taken.
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
// A frame with a hint is *reported* once the worker has published what it wants. That costs more than a short
// branch, and a branch that ends before the threshold gains nothing by it. So the frame of a hint whose
// branches have been short (short_calls.hpp) is only linked: what it forks inherits its place as ever. The
// next slow poll of its fiber reports it, and the next frame with a hint that is reported and ends inside it.
// One frame in 61 is reported at its beginning all the same, to measure it, and each one while a worker
// wants a place elsewhere. So no protocol changes: it is as if such a frame had begun at that poll.
//
// A program without hints pays one load in each slow path (`in_use`).
#pragma once

#include "place/place_events.hpp"
#include "place/worker_hints.hpp"

#include <sukima/capacity/places.h>
#include <sukima/settings.hpp>

#include <atomic>
#include <cstdint>
#include <memory>

namespace sukima::detail {

struct choice_point;
struct fiber;
struct placed;
struct tuned_ticks;
struct worker;
class assigned_cpus;
class cpu_pressure;
class injector_queue;
class launched_futures;
class rest_check;
class worker_table;

/// By the worker itself: from now on its time counts so, in the statistics and in the trace.
void count_time(worker& w, nearness near, sukima_place place = SUKIMA_PLACE_ANY) noexcept;
/// By the worker that runs it: the outermost forks of the fiber's innermost frame with a hint poll slowly,
/// until the threshold is reached. The caller must write the limit afterwards.
void poll_early(fiber& s) noexcept;

class placement_hints final : public place_events {
 public:
  placement_hints(const settings& chosen, const tuned_ticks& tuned, const worker_table& workers,
                  launched_futures& launched, const injector_queue& injector, const cpu_pressure& pressure,
                  const assigned_cpus& cpus) noexcept;
  ~placement_hints();

  bool use() noexcept override;
  bool suits(const worker& w, sukima_place place) const noexcept override;
  bool serves(const worker& w, sukima_place place) const noexcept override;
  void arrives(fiber& s) noexcept override;
  void changes(fiber& s) noexcept override;
  void idles(worker& w) noexcept override;
  void falls_asleep(worker& w) noexcept override;
  void waits(worker& w) noexcept override;
  void leaves(worker& w) noexcept override;
  fiber* take_offer(worker& by) noexcept override;
  fiber* take_stale_offer(worker& by) noexcept override;
  fiber* end_offer(worker& by) noexcept override;

  /// A slow poll: exchanges the fiber, if it should be. \returns true: it has left its worker in between
  bool poll(fiber& self, std::uint32_t flags) noexcept;
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
  void begin(fiber& self) noexcept;
  void say(worker& w, availability available, sukima_place wanted) noexcept;
  worker* find_partner(worker& asking, sukima_place wanted) noexcept;
  bool ask_for(const worker& w) noexcept;
  void pass_on(const worker& asked) noexcept;
  bool make_offer(fiber& self, worker& to, sukima_place place) noexcept;
  void swap(fiber& s, fiber& other) noexcept;

  const settings& chosen_;
  const tuned_ticks& tuned_;
  const worker_table& workers_;
  launched_futures& launched_;
  const injector_queue& injector_;
  const cpu_pressure& pressure_;
  const assigned_cpus& cpus_;
  const std::uint64_t threshold_;  ///< in ticks
  std::atomic<tables*> tables_{nullptr};  ///< pairs with: use
  std::atomic<std::uint32_t> offers_{0};  ///< How many fibers are on offer, about. no partner: a hint
};

}  // namespace sukima::detail
