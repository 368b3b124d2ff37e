// SPDX-License-Identifier: Apache-2.0
// The order in which a hypervisor's virtual CPUs (vCPUs) run. Each vCPU has a rank, which grows while it
// runs. The vCPU with the lowest rank runs next. The rules differ in the rank after a sleep, in how long a
// vCPU runs, and in which vCPUs a vCPU that wakes preempts.
#pragma once

#include "building.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace sukima::simulation {

enum class scheduling_rule : std::uint8_t {
  fair,  ///< completely fair, as in Linux before 6.6
  eevdf,  ///< the earliest eligible virtual deadline first, as in Linux since 6.6
  credit2  ///< as in Xen since 4.12
};

/// How vCPUs of one guest are scheduled relative to each other.
enum class sibling_rule : std::uint8_t {
  none,  ///< independently
  together,  ///< co-scheduling: they run at the same time (gangs.hpp)
  apart  ///< balance scheduling: each of them waits for another pCPU
};

/// Which pCPU runs a vCPU that wants to run.
enum class placing_rule : std::uint8_t {
  queue,  ///< each pCPU on which it may run: all pCPUs share one queue
  homes  ///< its home, as in Xen's credit scheduler (homes.hpp); with `fair` and `credit2`
};

/// Times are in nanoseconds. The defaults are close to those of Linux: docs/simulation.md.
struct scheduling {
  scheduling_rule rule = scheduling_rule::fair;
  sibling_rule siblings = sibling_rule::none;
  std::uint64_t slice = 3'000'000;  ///< also the length of a turn in co-scheduling
  std::uint64_t tick = 0;  ///< slices end at multiples of it; 0: at any time
  std::uint64_t wake_granularity = 1'000'000;  ///< least difference of ranks for a preemption at a wake-up
  std::uint64_t sleeper_credit =
      3'000'000;  ///< fair: largest advantage of a vCPU that has slept over the others
  std::uint64_t period = 100'000'000;  ///< of quotas
  /// Time that a vCPU takes from its guest's quota at once; 0: its share of the quota, at least 0.5 ms.
  std::uint64_t grant = 1'000'000;
  /// If not 0, and there is a tick: quotas are accounted as in Linux, in slices of that length
  /// (bandwidth.hpp).
  std::uint64_t bandwidth_slice = 0;
  /// If not 0, the seed that determines which pCPU is first if several have events at the same time, as with
  /// ticks. 0: the pCPU with the lowest number.
  std::uint64_t ties = 0;
  std::uint64_t vcpu_switch = 2'000;  ///< time that a pCPU needs to switch to another vCPU
  std::uint64_t idle_exit = 0;  ///< time that an idle pCPU needs before it runs a vCPU again
  building cpus;
  placing_rule placing = placing_rule::queue;
  std::uint64_t first_homes = 0;  ///< homes: seed that shuffles them; 0: they follow the pCPUs' order
  /// Homes: interval at which a running vCPU looks for a better home.
  std::uint64_t look_around = 10'000'000;
};

/// Xen's second credit scheduler, with its own default values.
scheduling credit2_scheduling() noexcept;

class order {
 public:
  /// About one thousandth of a nanosecond: the unit of ranks.
  static constexpr std::int64_t unit = 1024;

  explicit order(const scheduling& how) : how_(how) {}
  virtual ~order() = default;
  order(const order&) = delete;
  order& operator=(const order&) = delete;

  /// Adds the next vCPU. \param queue  the queue of pCPUs in which it waits
  void add(unsigned weight, std::size_t queue = 0);
  std::int64_t rank(std::size_t vcpu) const noexcept { return entries_[vcpu].rank; }
  /// Returns its rank after it has run for that time.
  std::int64_t rank_after(std::size_t vcpu, std::uint64_t nanoseconds) const noexcept {
    return rank(vcpu) + static_cast<std::int64_t>(nanoseconds) * entries_[vcpu].pace;
  }
  void ran(std::size_t vcpu, std::uint64_t nanoseconds) noexcept {
    entries_[vcpu].rank = rank_after(vcpu, nanoseconds);
  }

  /// Called when it wants to run.
  virtual void wakes(std::size_t vcpu) noexcept { begins(vcpu); }
  /// Called when it does not want to run any more.
  virtual void halts(std::size_t /*vcpu*/) noexcept {}
  /// Called when it gets a pCPU.
  virtual void begins(std::size_t vcpu) noexcept = 0;
  /// Of the vCPUs that wait, the one with the lowest place runs next.
  virtual std::int64_t place(std::size_t vcpu) const noexcept { return rank(vcpu); }
  /// Called before a pCPU chooses. \param contenders  vCPUs that run or could run
  virtual void before_choice(const std::vector<std::size_t>& contenders) noexcept = 0;
  /// Returns how long it runs. \param next  the lowest rank among the waiting vCPUs; nothing: none waits
  virtual std::uint64_t slice(std::size_t vcpu, std::optional<std::int64_t> next) const noexcept = 0;
  /// Whether a vCPU that wakes preempts a running one, which has that rank now and has run for that time
  /// since it got its pCPU.
  virtual bool preempts(std::size_t woken, std::size_t running, std::int64_t its_rank,
                        std::uint64_t ran) const noexcept = 0;

 protected:
  struct entry {
    unsigned weight;
    std::int64_t pace;  ///< growth of the rank per nanosecond
    std::int64_t rank;
    std::size_t queue;
  };
  /// The growth of a rank with that weight, per nanosecond.
  virtual std::int64_t pace(unsigned weight) const noexcept = 0;
  /// The rank of a new vCPU.
  virtual std::int64_t first_rank() const noexcept { return 0; }

  const scheduling how_;
  std::vector<entry> entries_;
};

std::unique_ptr<order> make_order(const scheduling& how);

}  // namespace sukima::simulation
