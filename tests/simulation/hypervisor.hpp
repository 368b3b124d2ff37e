// SPDX-License-Identifier: Apache-2.0
// A hypervisor's scheduler: the virtual CPUs (vCPUs) of guests on physical CPUs (pCPUs), each of which has a
// clock. A vCPU without a pCPU does not advance.
//
// Of the vCPUs that want to run, the one with the lowest rank runs next, for a slice; order.hpp has the
// rules. All pCPUs share one queue, from which each takes the vCPUs that may run on it. With co-scheduling
// the vCPUs of the guests whose turn it is come before all others. With balance scheduling (Sukwong and Kim)
// each vCPU that wakes is bound to a pCPU, to which no vCPU of the same guest is bound if there are enough.
// With homes (homes.hpp) each vCPU waits for one pCPU, and now and then moves to a better one.
//
// While two pCPUs of a module are busy, both are slower: the same demand takes them longer.
//
// A guest with a quota gets so much time in each period, which its vCPUs take in small grants. When the quota
// is used up, its vCPUs wait for the next period. Quotas can also be accounted as Linux does it:
// bandwidth.hpp.
//
// The caller says how much CPU each vCPU needs until the caller must decide about it, its demand, and calls
// advance() until that is met. No thread and no real clock is involved.
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
  // The pCPUs on which its vCPUs may run.
  unsigned first_pcpu = 0;
  unsigned pcpus = 0;  ///< so many from the first one on; 0: all
  bool pinned = false;  ///< each vCPU on one of them only, in turn
  unsigned shift = 0;  ///< pinned: the first vCPU is on this one of them
  std::uint64_t phase = 0;  ///< accounted as by Linux: when the first period begins
  // With homes.
  pcpu_set allowed{};  ///< where its vCPUs may run, instead of the range; empty: the range
  pcpu_set preferred{};  ///< where they run if they can; empty: they have no preference
};

class hypervisor {
 public:
  hypervisor(unsigned pcpus, const scheduling& how);

  /// \returns its number. Its vCPUs have the next numbers, and want nothing.
  std::size_t add_guest(const guest_shape& shape);
  std::size_t first_vcpu(std::size_t guest) const noexcept { return guests_[guest].first_vcpu; }

  /// From that time on a halted vCPU wants to run.
  void wake(std::size_t vcpu, std::uint64_t at);
  /// A running vCPU wants nothing more.
  void halt(std::size_t vcpu);
  /// A running vCPU lets another one run that can: the one with the lowest rank.
  /// \param in_guest  only one of its own guest
  /// \param demotes   those that have yielded since they were chosen last come after all others
  /// \returns false: there is none, and it runs on
  bool yield(std::size_t vcpu, bool in_guest, bool demotes = false);
  /// The caller decides about this vCPU after so much more of its time; `forever`: never.
  void demand(std::size_t vcpu, std::uint64_t nanoseconds) noexcept;
  /// What is left of its demand, at the clock of its pCPU.
  std::uint64_t left_of(std::size_t vcpu) const noexcept { return vcpus_[vcpu].demand; }
  bool is_running(std::size_t vcpu) const noexcept { return vcpus_[vcpu].pcpu != nowhere; }
  /// The clock of the pCPU that is furthest.
  std::uint64_t latest_clock() const noexcept;
  /// The clock of a running vCPU.
  std::uint64_t clock(std::size_t vcpu) const noexcept { return pcpus_[vcpus_[vcpu].pcpu].clock; }

  struct event {
    std::uint64_t at;
    std::size_t pcpu;
    std::optional<std::size_t> met;  ///< the vCPU whose demand is met then; nothing: the hypervisor decides
  };
  /// The first event; nothing: no vCPU wants to run.
  /// \param favoured  counts as so much earlier, so that the caller need not change vCPUs at each step
  std::optional<event> next(std::optional<std::size_t> favoured = {}, std::uint64_t by = 0) const noexcept;
  /// The time of the first event that is not of that vCPU's pCPU; `forever`: there is none.
  std::uint64_t next_elsewhere(std::size_t vcpu) const noexcept;
  /// Lets that event happen, which next() has returned.
  void happen(const event& e);
  /// A running vCPU uses so much time at once, if no event of the hypervisor comes before the end of it.
  /// \param latest  where its clock may be afterwards \returns whether it did
  bool run(std::size_t vcpu, std::uint64_t nanoseconds, std::uint64_t latest) noexcept;

  // What the pCPUs did.
  std::uint64_t used(std::size_t guest) const noexcept;  ///< time of its vCPUs
  std::uint64_t switching() const noexcept { return switching_; }
  /// For how long both pCPUs of modules were busy, up to their clocks: the sum over the modules.
  std::uint64_t sharing() const noexcept { return slowed_ / how_.cpus.module; }
  /// The most that a guest used in a period. Counted for quotas in grants only.
  std::uint64_t most_in_a_period(std::size_t guest) const noexcept;

  static constexpr std::uint64_t forever = ~std::uint64_t{0} / 4;

 private:
  static constexpr std::size_t nowhere = ~std::size_t{0};
  struct guest_state {
    guest_shape shape;
    std::size_t first_vcpu = 0;
    std::map<std::uint64_t, std::uint64_t> taken;  ///< of the quota, in each period
    std::uint64_t returned_at = 0;  ///< when a part of a grant came back last
    std::optional<bandwidth> limit{};  ///< the quota, if it is accounted as by Linux
  };
  struct vcpu_state {
    std::size_t guest = 0;
    std::size_t pcpu = nowhere;
    std::size_t put_back_on = nowhere;  ///< it ran there, and has not halted since
    bool wants = false;
    bool has_yielded = false;  ///< since the hypervisor chose it at the end of a slice
    std::uint64_t ready_at = 0;
    std::uint64_t demand = forever;
    std::uint64_t used = 0;
    // The pCPUs on which it may run; with balance scheduling, the one to which it is bound.
    std::size_t first_pcpu = 0;
    std::size_t pcpus = 0;
  };
  struct pcpu_state {
    std::uint64_t clock = 0;
    std::size_t on = nowhere;
    std::size_t last = nowhere;
    std::uint64_t put_on_at = 0;
    std::uint64_t slice_end = 0;
    std::uint64_t grant_end = forever;  ///< also the end of the period
    std::uint64_t grant_period = 0;
    std::uint64_t charged_until = 0;  ///< accounted as by Linux
    bool is_idle = true;  ///< it had no vCPU to run
    bool is_slowed = false;  ///< another one of its module is busy as well
    std::uint64_t looked_in = 0;  ///< homes: the period in which its vCPU looked for a better one last
    std::uint64_t preempted_at = forever;
  };

  template <class Consider> void look_at(std::size_t number, Consider consider) const noexcept;
  std::uint64_t decision_at(const pcpu_state& p) const noexcept;
  /// Which of two pCPUs is the first one, if both have an event at that time.
  bool comes_first(std::size_t pcpu, std::size_t other, std::uint64_t at) const noexcept;
  std::size_t number_of(const pcpu_state& p) const noexcept {
    return static_cast<std::size_t>(&p - pcpus_.data());
  }
  static bool may_run_on(const vcpu_state& v, std::size_t pcpu) noexcept {
    return pcpu - v.first_pcpu < v.pcpus;
  }
  std::int64_t rank_at(const pcpu_state& p, std::uint64_t at) const noexcept;
  /// How long that much of a demand takes there at its speed now.
  std::uint64_t length_of(const pcpu_state& p, std::uint64_t demand) const noexcept {
    return !p.is_slowed || demand == forever
               ? demand
               : (demand * 100 + how_.cpus.shared_speed - 1) / how_.cpus.shared_speed;
  }
  /// How much of a demand is met there in that time.
  std::uint64_t met_in(const pcpu_state& p, std::uint64_t time) const noexcept {
    return p.is_slowed ? time * how_.cpus.shared_speed / 100 : time;
  }
  /// A vCPU begins or ends to run there, at its clock: the speed of the module's pCPUs changes.
  void update_speeds(const pcpu_state& changed) noexcept;
  void account(pcpu_state& p, std::uint64_t until) noexcept;
  /// The same for all pCPUs where that vCPU may run: the mean of their queue counts at that time.
  void account_queue(const vcpu_state& v, std::uint64_t at) noexcept;
  void put_on(pcpu_state& p, std::size_t chosen);
  void take_off(pcpu_state& p);
  void put_back(pcpu_state& p);
  void decide(pcpu_state& p);
  bool take_grant(pcpu_state& p);
  void return_grant(pcpu_state& p);
  /// Charges what the vCPU there has used to its guest. \returns whether the guest may run on there
  bool charge(pcpu_state& p) noexcept;
  /// A vCPU of a guest with such a limit runs there: when the scheduler looks at the limit again.
  std::uint64_t charged_next(const pcpu_state& p) const noexcept;
  /// The first time, from `at` on, at which a vCPU that wants to run can run there. Its guest may have to
  /// wait for the next period.
  std::uint64_t runnable_at(const vcpu_state& v, std::size_t pcpu, std::uint64_t at) const noexcept;
  bool has_quota_left(const guest_state& g, std::uint64_t at) const noexcept;
  /// The vCPU that runs next on that pCPU; nowhere: none can now.
  /// \param guest    only one of this guest; nowhere: of any
  /// \param demotes  those that have yielded come last
  std::size_t choose(const pcpu_state& p, std::size_t guest = nowhere, bool demotes = false) const noexcept;
  /// Whether the vCPU belongs to a guest whose turn it is.
  bool has_turn(std::size_t vcpu) const noexcept { return !gangs_ || gangs_->has_turn(vcpus_[vcpu].guest); }
  bool wants_turn(std::size_t guest) const noexcept;
  /// Binds a vCPU that wakes to a pCPU.
  void bind(std::size_t vcpu);
  void set_pcpus(vcpu_state& v, unsigned number_in_guest) const noexcept;
  // With homes.
  void add_homes(std::size_t guest);
  void set_home(std::size_t vcpu, std::size_t pcpu) noexcept;
  /// Those that are idle, and for which no vCPU waits but perhaps that one.
  pcpu_set idle_pcpus(std::size_t but_for = nowhere) const;
  /// The vCPU has just run on that pCPU, and waits for it.
  void look_around(std::size_t vcpu, pcpu_state& p);
  /// A pCPU for which no vCPU waits becomes the home of one that waits for a busy pCPU, if it may.
  void take_over(const pcpu_state& p);
  std::uint64_t slice_end(const pcpu_state& p) const noexcept;
  void preempt_for(std::size_t woken, std::uint64_t at) noexcept;
  /// The vCPUs that run, or could at that time. Those that wait for quota are not among them.
  const std::vector<std::size_t>& contenders(std::uint64_t at);

  const scheduling how_;
  std::unique_ptr<order> order_;
  std::optional<gangs> gangs_;
  std::optional<homes> homes_;
  std::vector<guest_state> guests_;
  std::vector<vcpu_state> vcpus_;
  std::vector<pcpu_state> pcpus_;
  std::vector<std::size_t> queue_;  ///< vCPUs that want to run and do not
  std::vector<std::size_t> contenders_;
  std::uint64_t switching_ = 0;
  std::uint64_t slowed_ = 0;  ///< time of pCPUs
};

}  // namespace sukima::simulation
