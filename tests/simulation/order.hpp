// SPDX-License-Identifier: Apache-2.0
// The order in which a hypervisor's virtual CPUs (vCPUs) run: each has a rank, which grows while it runs. The
// lowest rank runs next. The rules differ in what a rank is after a sleep, how long a vCPU runs, and whom a
// vCPU that wakes preempts.
#pragma once

#include "building.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace sukima::simulation {

enum class scheduling_rule : std::uint8_t {
  fair,  ///< completely fair, as Linux before 6.6
  eevdf,  ///< the earliest eligible virtual deadline first, as Linux since then
  credit2  ///< as Xen since 4.12
};

/// What the vCPUs of one guest have to do with each other.
enum class sibling_rule : std::uint8_t {
  none,  ///< nothing
  together,  ///< co-scheduling: they run at the same time (gangs.hpp)
  apart  ///< balance scheduling: each of them waits for another pCPU
};

/// Which pCPU runs a vCPU that wants to run.
enum class placing_rule : std::uint8_t {
  queue,  ///< each one that may: all pCPUs share one queue
  homes  ///< its home, as by Xen's credit scheduler (homes.hpp); with `fair` and `credit2`
};

/// Nanoseconds. The defaults are close to those of Linux: docs/simulation.md.
struct scheduling {
  scheduling_rule rule = scheduling_rule::fair;
  sibling_rule siblings = sibling_rule::none;
  std::uint64_t slice = 3'000'000;  ///< also a turn, with co-scheduling
  std::uint64_t tick = 0;  ///< slices end at multiples of it; 0: at any time
  std::uint64_t wake_granularity = 1'000'000;  ///< how far behind a vCPU that wakes must be to preempt
  std::uint64_t sleeper_credit =
      3'000'000;  ///< fair: how far a vCPU that has slept stays behind the others, at most
  std::uint64_t period = 100'000'000;  ///< of quotas
  /// Time that a vCPU takes from its guest's quota at once; 0: its part of the quota, at least 0.5 ms.
  std::uint64_t grant = 1'000'000;
  /// Not 0, and there is a tick: quotas are accounted as by Linux, in slices of that length (bandwidth.hpp).
  std::uint64_t bandwidth_slice = 0;
  /// Not 0: this seed draws which pCPU is first if several have events at the same time, as ticks are.
  /// 0: the first one.
  std::uint64_t ties = 0;
  std::uint64_t vcpu_switch = 2'000;  ///< time of a pCPU to continue with another vCPU
  std::uint64_t idle_exit = 0;  ///< time of a pCPU that was idle before it runs a vCPU again
  building cpus;
  placing_rule placing = placing_rule::queue;
  std::uint64_t first_homes = 0;  ///< homes: this seed shuffles them; 0: they are in the order of the pCPUs
  /// Homes: a vCPU that runs looks for a better one so often.
  std::uint64_t look_around = 10'000'000;
};

/// Xen's second credit scheduler, with its own default values.
scheduling credit2_scheduling() noexcept;

class order {
 public:
  /// Thousandths of a nanosecond, nearly. It is the unit of ranks.
  static constexpr std::int64_t unit = 1024;

  explicit order(const scheduling& how) : how_(how) {}
  virtual ~order() = default;
  order(const order&) = delete;
  order& operator=(const order&) = delete;

  /// The next vCPU. \param queue  of pCPUs, in which it waits
  void add(unsigned weight, std::size_t queue = 0);
  std::int64_t rank(std::size_t vcpu) const noexcept { return entries_[vcpu].rank; }
  /// Its rank after it has run for so long.
  std::int64_t rank_after(std::size_t vcpu, std::uint64_t nanoseconds) const noexcept {
    return rank(vcpu) + static_cast<std::int64_t>(nanoseconds) * entries_[vcpu].pace;
  }
  void ran(std::size_t vcpu, std::uint64_t nanoseconds) noexcept {
    entries_[vcpu].rank = rank_after(vcpu, nanoseconds);
  }

  /// It wants to run.
  virtual void wakes(std::size_t vcpu) noexcept { begins(vcpu); }
  /// It wants nothing more.
  virtual void halts(std::size_t /*vcpu*/) noexcept {}
  /// It gets a pCPU.
  virtual void begins(std::size_t vcpu) noexcept = 0;
  /// Of those that wait, the one with the least runs next.
  virtual std::int64_t place(std::size_t vcpu) const noexcept { return rank(vcpu); }
  /// A pCPU is about to choose. \param contenders  vCPUs that run or could
  virtual void before_choice(const std::vector<std::size_t>& contenders) noexcept = 0;
  /// How long it runs. \param next  the lowest rank among those that wait; nothing: none waits
  virtual std::uint64_t slice(std::size_t vcpu, std::optional<std::int64_t> next) const noexcept = 0;
  /// Whether a vCPU that wakes preempts one, which has that rank now and has run for so long since it got its
  /// pCPU.
  virtual bool preempts(std::size_t woken, std::size_t running, std::int64_t its_rank,
                        std::uint64_t ran) const noexcept = 0;

 protected:
  struct entry {
    unsigned weight;
    std::int64_t pace;  ///< growth of the rank in each nanosecond
    std::int64_t rank;
    std::size_t queue;
  };
  /// The growth of a rank with that weight.
  virtual std::int64_t pace(unsigned weight) const noexcept = 0;
  /// The rank of a new vCPU.
  virtual std::int64_t first_rank() const noexcept { return 0; }

  const scheduling how_;
  std::vector<entry> entries_;
};

std::unique_ptr<order> make_order(const scheduling& how);

}  // namespace sukima::simulation
