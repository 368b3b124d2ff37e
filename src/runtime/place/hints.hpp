// SPDX-License-Identifier: Apache-2.0
// Hints where to compute, and the exchange of fibers that follows from them.
//
// A fiber's place is that of its innermost frame with a hint, otherwise that of its task; *any* means that it
// has none. A worker is in a place if its last CPU is in it (worker_places.hpp). Each worker publishes two
// variables (worker_hints.hpp). One is the place that its fiber *wants*, if the worker is elsewhere and the
// fiber has waited for the threshold. The other is its *availability*: whether it would give its fiber away.
// When one of them changes, the worker first writes it and then looks for a matching worker. Both sides do
// so, and all accesses are sequentially consistent. So of two matching workers, at least one finds the other.
//
//   A runs s, s wants P and B, which is in P, yields or is idle:
//     A leaves s for a fresh fiber; behind the switch it stores s as the offer of P (CAS null → s), and
//     sets B's flag_place. The request stays pending until the offer is taken.
//     B, at its next poll or look around: CAS s → null; it puts its own fiber into the injector queue and
//     runs s.
//     A waits a few microseconds for the offer to be taken. If it was, A continues with ready work. If not:
//     CAS s → null, and A continues s. B's flag stays set: when B polls, it requests the offer from A.
//   B begins to yield or to look for work: it sets flag_place of a worker that wants one of its places, and
//     requests a poll. Then it checks whether that worker still wants the place; if not, it tries the next.
//   A worker with that flag that no longer wants a place sets the flag of another worker that does, if a
//   worker there yields.
//
// No worker waits for another worker's poll: A ends its wait itself. A begins no new work while its offer is
// out. An exchange brings a fiber to its place and takes none away from its place, so there is no endless
// series of exchanges. Hints change only where a fiber runs and which task a thief takes first; always the
// oldest work is split. Model: model/exchange.pml.
//
// A frame with a hint is *reported* once the worker has published its wanted place. That costs more than a
// short branch, and has no effect for a branch that ends before the threshold. So if the branches of a hint
// have been short (short_calls.hpp), its frame is only linked: forks in it inherit its place as usual. Two
// events report such a frame later: the next slow poll of its fiber, and the end of a reported frame inside
// it. One frame in 61 is still reported at its beginning, to measure it, and so is each frame while a worker
// wants a place elsewhere. The protocols do not change: it is as if the frame had begun at that poll.
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

/// Called by the worker itself: from now on its time counts for that nearness, in the statistics and in the
/// trace.
void count_time(worker& w, nearness near, sukima_place place = SUKIMA_PLACE_ANY) noexcept;
/// Called by the worker that runs the fiber. Lets the outermost forks of the fiber's innermost frame with a
/// hint poll slowly until the threshold is reached. The caller must write the limit afterwards.
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

  /// Handles a slow poll: exchanges the fiber, if it should run elsewhere. \returns true: it has left its
  /// worker in between
  bool poll(fiber& self, std::uint32_t flags) noexcept;
  /// Called by the monitor: makes every worker check its place, because some changes raise no event. For
  /// example, the kernel may move a thread.
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
