// SPDX-License-Identifier: Apache-2.0
// A hypervisor's scheduler: it runs the virtual CPUs (vCPUs) of guests on physical CPUs (pCPUs). Each pCPU
// has a clock. A vCPU without a pCPU makes no progress.
//
// Of the vCPUs that want to run, the one with the lowest rank runs next, for a slice; order.hpp has the
// rules. All pCPUs share one queue, from which each takes the vCPUs that may run on it. With co-scheduling,
// vCPUs of the guests whose turn it is come first. With balance scheduling (Sukwong and Kim), each vCPU that
// wakes is bound to a pCPU to which no other vCPU of its guest is bound, if there are enough. With homes
// (homes.hpp), each vCPU waits for one pCPU, and from time to time moves to a better one.
//
// While two pCPUs of a module are busy, both are slower, so the same demand takes them longer.
//
// A guest with a quota gets that much time in each period. Its vCPUs take the time in small grants. When the
// quota is used up, they wait for the next period. Quotas can also be accounted as in Linux: bandwidth.hpp.
//
// The demand of a vCPU is the CPU time until the caller must decide about the vCPU again. The caller states
// the demands, and executes the events that next() returns until one of them is met. No threads and no real
// clocks are used.
#pragma once

#include "bandwidth.hpp"
#include "gangs.hpp"
#include "homes.hpp"
#include "order.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace sukima::simulation {

struct guest_shape {
  unsigned vcpus = 1;
  unsigned weight = 1024;
  std::uint64_t quota = 0;  ///< nanoseconds of CPU in each period; 0: no limit
  // The range of pCPUs on which its vCPUs may run.
  unsigned first_pcpu = 0;
  unsigned pcpus = 0;  ///< number of pCPUs in the range; 0: all
  bool pinned = false;  ///< whether each vCPU may run only on one of them, in turn
  unsigned shift = 0;  ///< if pinned: index in the range of the first vCPU's pCPU
  std::uint64_t phase = 0;  ///< if accounted as in Linux: when the first period begins
  // Only with homes.
  pcpu_set allowed{};  ///< where its vCPUs may run, instead of the range; empty: in the range
  pcpu_set preferred{};  ///< where they run if possible; empty: they prefer none
};

class hypervisor {
 public:
  hypervisor(unsigned pcpus, const scheduling& how);

  /// \returns its number. Its vCPUs have the next numbers, and do not want to run yet.
  std::size_t add_guest(const guest_shape& shape);
  std::size_t first_vcpu(std::size_t guest) const noexcept { return guests_[guest].first_vcpu; }

  /// Wakes a halted vCPU: from that time on it wants to run.
  void wake(std::size_t vcpu, std::uint64_t at);
  /// Halts a running vCPU: it does not want to run any more.
  void halt(std::size_t vcpu);
  /// Lets another vCPU that wants to run replace a running one: the one with the lowest rank.
  /// \param in_guest  whether only a vCPU of the same guest may replace it
  /// \param demotes   whether vCPUs that have yielded since they were last chosen come after all others
  /// \returns false: there is no such vCPU, and the running one continues
  bool yield(std::size_t vcpu, bool in_guest, bool demotes = false);
  /// Sets the demand: the vCPU's own time after which the caller decides about it again; `forever`: never.
  void demand(std::size_t vcpu, std::uint64_t nanoseconds) noexcept;
  /// The rest of its demand, at the clock of its pCPU.
  std::uint64_t left_of(std::size_t vcpu) const noexcept { return vcpus_[vcpu].demand; }
  bool is_running(std::size_t vcpu) const noexcept { return vcpus_[vcpu].pcpu != nowhere; }
  /// The latest clock of all pCPUs.
  std::uint64_t latest_clock() const noexcept;
  /// The clock of a running vCPU.
  std::uint64_t clock(std::size_t vcpu) const noexcept { return pcpus_[vcpus_[vcpu].pcpu].clock; }

  struct event {
    std::uint64_t at;
    std::size_t pcpu;
    std::optional<std::size_t> met;  ///< the vCPU whose demand is met then; nothing: the hypervisor decides
  };
  /// Returns the first event; nothing: no vCPU wants to run.
  /// \param favoured  a vCPU whose events count as earlier by `by`, so that the caller switches between vCPUs
  /// less often
  std::optional<event> next(std::optional<std::size_t> favoured = {}, std::uint64_t by = 0) const noexcept;
  /// Returns the time of the first event on another pCPU than that vCPU's; `forever`: there is none.
  std::uint64_t next_elsewhere(std::size_t vcpu) const noexcept;
  /// Executes an event that next() has returned.
  void happen(const event& e);
  /// Lets a running vCPU use that much time at once, if no event of the hypervisor comes before the end of
  /// it.
  /// \param latest  largest permitted value of its clock afterwards \returns whether it used the time
  bool run(std::size_t vcpu, std::uint64_t nanoseconds, std::uint64_t latest) noexcept;

  // Statistics of the pCPUs.
  std::uint64_t used(std::size_t guest) const noexcept;  ///< time of its vCPUs
  std::uint64_t switching() const noexcept { return switching_; }
  /// How long both pCPUs of modules were busy, up to their clocks, summed over the modules.
  std::uint64_t sharing() const noexcept { return slowed_ / how_.cpus.module; }
  /// The most time that a guest used in a period. Only counted for quotas with grants.
  std::uint64_t most_in_a_period(std::size_t guest) const noexcept;

  static constexpr std::uint64_t forever = ~std::uint64_t{0} / 4;

 private:
  static constexpr std::size_t nowhere = ~std::size_t{0};
  struct guest_state {
    guest_shape shape;
    std::size_t first_vcpu = 0;
    std::map<std::uint64_t, std::uint64_t> taken;  ///< time taken from the quota in each period
    std::uint64_t returned_at = 0;  ///< when a part of a grant was last returned
    std::optional<bandwidth> limit{};  ///< the quota, if it is accounted as in Linux
  };
  struct vcpu_state {
    std::size_t guest = 0;
    std::size_t pcpu = nowhere;
    std::size_t put_back_on = nowhere;  ///< the pCPU on which it ran, if it has not halted since
    bool wants = false;
    bool has_yielded = false;  ///< since the hypervisor chose it at the end of a slice
    std::uint64_t ready_at = 0;
    std::uint64_t demand = forever;
    std::uint64_t used = 0;
    // The pCPUs on which it may run; with balance scheduling, the pCPU to which it is bound.
    std::size_t first_pcpu = 0;
    std::size_t pcpus = 0;
  };
  struct pcpu_state {
    std::uint64_t clock = 0;
    std::size_t on = nowhere;
    std::size_t last = nowhere;
    std::uint64_t put_on_at = 0;
    std::uint64_t slice_end = 0;
    std::uint64_t grant_end = forever;  ///< end of the grant, or of the period
    std::uint64_t grant_period = 0;
    std::uint64_t charged_until = 0;  ///< if accounted as in Linux
    bool is_idle = true;  ///< it had no vCPU to run
    bool is_slowed = false;  ///< another pCPU of its module is also busy
    std::uint64_t looked_in = 0;  ///< homes: the period in which its vCPU last looked for a better home
    std::uint64_t preempted_at = forever;
  };

  template <class Consider> void look_at(std::size_t number, Consider consider) const noexcept;
  std::uint64_t decision_at(const pcpu_state& p) const noexcept;
  /// Whether a pCPU comes before another one, if both have an event at that time.
  bool comes_first(std::size_t pcpu, std::size_t other, std::uint64_t at) const noexcept;
  std::size_t number_of(const pcpu_state& p) const noexcept {
    return static_cast<std::size_t>(&p - pcpus_.data());
  }
  static bool may_run_on(const vcpu_state& v, std::size_t pcpu) noexcept {
    return pcpu - v.first_pcpu < v.pcpus;
  }
  std::int64_t rank_at(const pcpu_state& p, std::uint64_t at) const noexcept;
  /// How long that much of a demand takes on that pCPU at its present speed.
  std::uint64_t length_of(const pcpu_state& p, std::uint64_t demand) const noexcept {
    return !p.is_slowed || demand == forever
               ? demand
               : (demand * 100 + how_.cpus.shared_speed - 1) / how_.cpus.shared_speed;
  }
  /// How much of a demand that pCPU meets in that time.
  std::uint64_t met_in(const pcpu_state& p, std::uint64_t time) const noexcept {
    return p.is_slowed ? time * how_.cpus.shared_speed / 100 : time;
  }
  /// Updates the speed of the module's pCPUs, because a vCPU begins or ends to run there, at the pCPU's
  /// clock.
  void update_speeds(const pcpu_state& changed) noexcept;
  void account(pcpu_state& p, std::uint64_t until) noexcept;
  /// Accounts the time of all pCPUs on which that vCPU may run, because the mean of their queue is needed at
  /// that time.
  void account_queue(const vcpu_state& v, std::uint64_t at) noexcept;
  void put_on(pcpu_state& p, std::size_t chosen);
  void take_off(pcpu_state& p);
  void put_back(pcpu_state& p);
  void decide(pcpu_state& p);
  bool take_grant(pcpu_state& p);
  void return_grant(pcpu_state& p);
  /// Charges the time that the vCPU there has used to its guest. \returns whether the guest may continue
  /// there
  bool charge(pcpu_state& p) noexcept;
  /// Returns when the scheduler checks the limit again, while a vCPU of a guest with such a limit runs there.
  std::uint64_t charged_next(const pcpu_state& p) const noexcept;
  /// Returns the first time, not before `at`, at which a vCPU that wants to run can run there. Its guest may
  /// have to wait for the next period.
  std::uint64_t runnable_at(const vcpu_state& v, std::size_t pcpu, std::uint64_t at) const noexcept;
  bool has_quota_left(const guest_state& g, std::uint64_t at) const noexcept;
  /// Returns the vCPU that runs next on that pCPU; nowhere: none can run now.
  /// \param guest    only a vCPU of this guest; nowhere: of any guest
  /// \param demotes  whether vCPUs that have yielded come last
  std::size_t choose(const pcpu_state& p, std::size_t guest = nowhere, bool demotes = false) const noexcept;
  /// Whether it is the turn of the vCPU's guest.
  bool has_turn(std::size_t vcpu) const noexcept { return !gangs_ || gangs_->has_turn(vcpus_[vcpu].guest); }
  bool wants_turn(std::size_t guest) const noexcept;
  /// Binds a vCPU that wakes to a pCPU.
  void bind(std::size_t vcpu);
  void set_pcpus(vcpu_state& v, unsigned number_in_guest) const noexcept;
  // Only with homes.
  void add_homes(std::size_t guest);
  void set_home(std::size_t vcpu, std::size_t pcpu) noexcept;
  /// Returns the idle pCPUs for which no vCPU waits, except perhaps `but_for`.
  pcpu_set idle_pcpus(std::size_t but_for = nowhere) const;
  /// Looks for a better home for a vCPU that has just run on that pCPU and waits for it.
  void look_around(std::size_t vcpu, pcpu_state& p);
  /// Makes a pCPU for which no vCPU waits the home of a vCPU that waits for a busy pCPU, if it may run there.
  void take_over(const pcpu_state& p);
  std::uint64_t slice_end(const pcpu_state& p) const noexcept;
  void preempt_for(std::size_t woken, std::uint64_t at) noexcept;
  /// Returns the vCPUs that run or could run at that time, without those that wait for quota.
  const std::vector<std::size_t>& contenders(std::uint64_t at);

  const scheduling how_;
  std::unique_ptr<order> order_;
  std::optional<gangs> gangs_;
  std::optional<homes> homes_;
  std::vector<guest_state> guests_;
  std::vector<vcpu_state> vcpus_;
  std::vector<pcpu_state> pcpus_;
  std::vector<std::size_t> queue_;  ///< vCPUs that want to run and do not run
  std::vector<std::size_t> contenders_;
  std::uint64_t switching_ = 0;
  std::uint64_t slowed_ = 0;  ///< summed over the pCPUs
};

}  // namespace sukima::simulation
