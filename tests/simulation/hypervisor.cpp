// SPDX-License-Identifier: Apache-2.0
#include "hypervisor.hpp"

#include "../runtime/random/numbers.hpp"

#include <algorithm>
#include <cassert>
#include <compare>
#include <tuple>
#include <utility>

namespace sukima::simulation {

hypervisor::hypervisor(unsigned pcpus, const scheduling& how)
    : how_(how), order_(make_order(how)), pcpus_(pcpus) {
  if (how.siblings == sibling_rule::together) gangs_.emplace(pcpus, how.slice);
  if (how.placing == placing_rule::queue) return;
  assert(how.rule != scheduling_rule::eevdf && how.siblings == sibling_rule::none);
  homes_.emplace(pcpus, how.cpus, how.first_homes);
}

std::size_t hypervisor::add_guest(const guest_shape& shape) {
  guests_.push_back({shape, vcpus_.size(), {}, 0, {}});
  if (shape.quota != 0 && how_.bandwidth_slice != 0 && how_.tick != 0)
    guests_.back().limit.emplace(bandwidth_shape{shape.quota, how_.period, how_.bandwidth_slice, shape.phase},
                                 pcpus_.size());
  if (gangs_) gangs_->add(shape.vcpus, shape.weight);
  for (unsigned i = 0; i < shape.vcpus; ++i) {
    vcpu_state one;
    one.guest = guests_.size() - 1;
    set_pcpus(one, i);
    vcpus_.push_back(one);
    order_->add(shape.weight, one.pcpus == 1 ? 1 + one.first_pcpu : 0);
  }
  assert(homes_ || (shape.allowed.empty() && shape.preferred.empty()));
  if (homes_) add_homes(guests_.size() - 1);
  return guests_.size() - 1;
}

void hypervisor::set_pcpus(vcpu_state& v, unsigned number_in_guest) const noexcept {
  const guest_shape& shape = guests_[v.guest].shape;
  const std::size_t count = shape.pcpus == 0 ? pcpus_.size() - shape.first_pcpu : shape.pcpus;
  v.first_pcpu = shape.first_pcpu + (shape.pinned ? (number_in_guest + shape.shift) % count : 0);
  v.pcpus = shape.pinned ? 1 : count;
}

/// Binds it to the pCPU with the fewest siblings, and among these to the one with the fewest vCPUs.
void hypervisor::bind(std::size_t number) {
  vcpu_state& v = vcpus_[number];
  const std::size_t before = v.first_pcpu;
  const bool was_bound = v.pcpus == 1;
  set_pcpus(v, static_cast<unsigned>(number - guests_[v.guest].first_vcpu));
  struct load {
    std::size_t siblings = 0;
    std::size_t all = 0;
    bool is_other = false;  // than the pCPU before
    auto operator<=>(const load&) const = default;
  };
  std::vector<load> loads(pcpus_.size());
  for (const vcpu_state& other : vcpus_) {
    if (!other.wants) continue;
    ++loads[other.first_pcpu].all;
    if (other.guest == v.guest) ++loads[other.first_pcpu].siblings;
  }
  for (std::size_t p = 0; p != loads.size(); ++p) loads[p].is_other = !was_bound || p != before;
  std::size_t best = v.first_pcpu;
  for (std::size_t p = best; p != v.first_pcpu + v.pcpus; ++p)
    if (loads[p] < loads[best]) best = p;
  v.first_pcpu = best;
  v.pcpus = 1;
}

void hypervisor::wake(std::size_t number, std::uint64_t at) {
  vcpu_state& v = vcpus_[number];
  if (how_.siblings == sibling_rule::apart) bind(number);
  if (homes_) set_home(number, homes_->wake(number, idle_pcpus()));
  v.wants = true;
  v.ready_at = at;
  if (how_.rule == scheduling_rule::eevdf) account_queue(v, at);
  order_->wakes(number);
  queue_.push_back(number);
  preempt_for(number, at);
}

void hypervisor::halt(std::size_t number) {
  vcpu_state& v = vcpus_[number];
  v.wants = false;
  v.put_back_on = nowhere;
  const std::size_t pcpu = v.pcpu;
  take_off(pcpus_[pcpu]);
  order_->halts(number);
  guest_state& g = guests_[v.guest];
  const bool is_last = std::ranges::none_of(
      queue_, [&](std::size_t i) { return vcpus_[i].guest == v.guest && may_run_on(vcpus_[i], pcpu); });
  if (g.limit && is_last) g.limit->goes_idle(pcpu);
  if (homes_) take_over(pcpus_[pcpu]);
  // Only if it takes no other vCPU at this moment.
  pcpus_[pcpu].is_idle = choose(pcpus_[pcpu]) == nowhere;
}

void hypervisor::demand(std::size_t number, std::uint64_t nanoseconds) noexcept {
  vcpus_[number].demand = nanoseconds;
}

std::uint64_t hypervisor::latest_clock() const noexcept {
  std::uint64_t latest = 0;
  for (const pcpu_state& p : pcpus_) latest = std::max(latest, p.clock);
  return latest;
}

/// Returns the time at which the hypervisor decides about a pCPU on which a vCPU runs.
std::uint64_t hypervisor::decision_at(const pcpu_state& p) const noexcept {
  return std::max(p.clock, std::min({p.slice_end, p.grant_end, p.preempted_at}));
}

/// Calls `consider` with each event of a pCPU, its time, and whether it precedes other events at that time.
template <class Consider> void hypervisor::look_at(std::size_t number, Consider consider) const noexcept {
  const pcpu_state& p = pcpus_[number];
  if (p.on == nowhere) {
    for (const std::size_t waiting : queue_)
      if (may_run_on(vcpus_[waiting], number))
        consider({runnable_at(vcpus_[waiting], number, p.clock), number, {}}, p.last == waiting);
    return;
  }
  const std::uint64_t met_at = p.clock + length_of(p, vcpus_[p.on].demand);
  const std::uint64_t decided_at = decision_at(p);
  // At the same time the demand comes first, because a vCPU takes its last action before its slice ends.
  if (met_at <= decided_at)
    consider({met_at, number, p.on}, true);
  else
    consider({decided_at, number, {}}, true);
}

std::optional<hypervisor::event> hypervisor::next(std::optional<std::size_t> favoured,
                                                  std::uint64_t by) const noexcept {
  std::optional<event> first;
  std::uint64_t least = ~std::uint64_t{0};
  for (std::size_t i = 0; i < pcpus_.size(); ++i)
    look_at(i, [&](const event& e, bool is_better) {
      const std::uint64_t as_if_at = e.met && e.met == favoured ? e.at - std::min(e.at, by) : e.at;
      const std::uint64_t rank = 2 * as_if_at + (is_better ? 0 : 1);
      if (rank > least || (rank == least && !comes_first(i, first->pcpu, e.at))) return;
      least = rank;
      first = e;
    });
  return first;
}

bool hypervisor::comes_first(std::size_t pcpu, std::size_t other, std::uint64_t at) const noexcept {
  if (how_.ties == 0) return pcpu < other;
  const auto lot = [&](std::size_t i) {
    return random_programs::numbers(how_.ties * 1'000'003 + at + i * 7'919).next();
  };
  return lot(pcpu) < lot(other);
}

std::uint64_t hypervisor::next_elsewhere(std::size_t number) const noexcept {
  std::uint64_t first = forever;
  for (std::size_t i = 0; i < pcpus_.size(); ++i)
    if (i != vcpus_[number].pcpu) look_at(i, [&](const event& e, bool) { first = std::min(first, e.at); });
  return first;
}

void hypervisor::happen(const event& e) {
  pcpu_state& p = pcpus_[e.pcpu];
  if (p.on != nowhere) account(p, e.at);
  if (e.met) return;
  p.clock = std::max(p.clock, e.at);
  for (guest_state& g : guests_)
    if (g.limit) g.limit->advance(p.clock);
  const bool is_look =
      p.on != nowhere && guests_[vcpus_[p.on].guest].limit && p.clock < std::min(p.slice_end, p.preempted_at);
  if (is_look && charge(p)) {
    p.grant_end = charged_next(p);
    return;
  }
  decide(p);
}

bool hypervisor::run(std::size_t number, std::uint64_t nanoseconds, std::uint64_t latest) noexcept {
  pcpu_state& p = pcpus_[vcpus_[number].pcpu];
  const std::uint64_t until = p.clock + length_of(p, nanoseconds);
  if (until > latest || until > decision_at(p)) return false;
  account(p, until);
  return true;
}

void hypervisor::account(pcpu_state& p, std::uint64_t until) noexcept {
  vcpu_state& v = vcpus_[p.on];
  const std::uint64_t passed = until - p.clock;
  p.clock = until;
  v.used += passed;
  order_->ran(p.on, passed);
  if (p.is_slowed) slowed_ += passed;
  if (v.demand != forever) v.demand -= std::min(v.demand, met_in(p, passed));
}

void hypervisor::account_queue(const vcpu_state& v, std::uint64_t at) noexcept {
  for (std::size_t i = v.first_pcpu; i != v.first_pcpu + v.pcpus; ++i)
    if (pcpu_state& p = pcpus_[i]; p.on != nowhere && p.clock < at && at <= decision_at(p)) account(p, at);
}

std::int64_t hypervisor::rank_at(const pcpu_state& p, std::uint64_t at) const noexcept {
  return order_->rank_after(p.on, at - std::min(at, p.clock));
}

bool hypervisor::yield(std::size_t number, bool in_guest, bool demotes) {
  vcpu_state& v = vcpus_[number];
  pcpu_state& p = pcpus_[v.pcpu];
  v.has_yielded = true;
  const std::size_t other = choose(p, in_guest ? v.guest : nowhere, demotes);
  if (other == nowhere) return false;
  put_back(p);
  put_on(p, other);
  return true;
}

/// Makes the vCPU that runs there wait again.
void hypervisor::put_back(pcpu_state& p) {
  const std::size_t before = p.on;
  take_off(p);
  queue_.push_back(before);
  vcpus_[before].ready_at = p.clock;
  vcpus_[before].put_back_on = number_of(p);
}

void hypervisor::decide(pcpu_state& p) {
  if (p.on != nowhere) {
    const std::size_t before = p.on;
    put_back(p);
    if (homes_) look_around(before, p);
  }
  if (homes_) take_over(p);
  if (gangs_ && p.clock >= gangs_->end())
    gangs_->begin_turn(p.clock, [&](std::size_t guest) { return wants_turn(guest); });
  order_->before_choice(contenders(p.clock));
  const std::size_t chosen = choose(p);
  p.is_idle = p.is_idle || chosen == nowhere;
  if (chosen == nowhere) return;
  vcpus_[chosen].has_yielded = false;
  put_on(p, chosen);
}

bool hypervisor::wants_turn(std::size_t guest) const noexcept {
  const guest_state& g = guests_[guest];
  const auto first = vcpus_.begin() + static_cast<std::ptrdiff_t>(g.first_vcpu);
  return std::any_of(first, first + g.shape.vcpus, [](const vcpu_state& v) { return v.wants; });
}

std::size_t hypervisor::choose(const pcpu_state& p, std::size_t guest, bool demotes) const noexcept {
  const auto place_of = [&](std::size_t i) {
    return std::tuple(!has_turn(i), demotes && vcpus_[i].has_yielded, order_->place(i), i);
  };
  std::size_t best = nowhere;
  for (const std::size_t i : queue_) {
    const vcpu_state& v = vcpus_[i];
    if ((guest != nowhere && v.guest != guest) || !may_run_on(v, number_of(p)) ||
        runnable_at(v, number_of(p), p.clock) > p.clock)
      continue;
    if (best == nowhere || place_of(i) < place_of(best)) best = i;
  }
  return best;
}

std::uint64_t hypervisor::slice_end(const pcpu_state& p) const noexcept {
  if (gangs_) return gangs_->end();
  const std::size_t next = choose(p);
  const std::uint64_t end =
      p.clock + order_->slice(p.on, next == nowhere ? std::nullopt : std::optional(order_->rank(next)));
  return how_.tick == 0 ? end : (end + how_.tick - 1) / how_.tick * how_.tick;
}

void hypervisor::put_on(pcpu_state& p, std::size_t chosen) {
  std::erase(queue_, chosen);
  p.on = chosen;
  update_speeds(p);
  if (p.is_idle) p.clock += how_.idle_exit;
  p.is_idle = false;
  if (p.last != chosen) {
    p.clock += how_.vcpu_switch;
    switching_ += how_.vcpu_switch;
  }
  p.last = chosen;
  order_->begins(chosen);
  vcpus_[chosen].pcpu = number_of(p);
  p.put_on_at = p.clock;
  p.slice_end = slice_end(p);
  p.preempted_at = forever;
  // The period may have ended during the switch, or another vCPU may have taken the rest of the quota. Then
  // the vCPU stops at once.
  if (!take_grant(p)) p.grant_end = p.clock;
}

void hypervisor::take_off(pcpu_state& p) {
  if (guests_[vcpus_[p.on].guest].limit)
    charge(p);
  else
    return_grant(p);
  vcpus_[p.on].pcpu = nowhere;
  p.on = nowhere;
  update_speeds(p);
}

bool hypervisor::has_quota_left(const guest_state& g, std::uint64_t at) const noexcept {
  if (g.shape.quota == 0) return true;
  const auto found = g.taken.find(at / how_.period);
  return found == g.taken.end() || found->second < g.shape.quota;
}

std::uint64_t hypervisor::runnable_at(const vcpu_state& v, std::size_t pcpu,
                                      std::uint64_t at) const noexcept {
  const guest_state& g = guests_[v.guest];
  at = std::max(at, v.ready_at);
  if (g.limit) {
    // A pCPU that is throttled does not hand over its vCPUs.
    const std::uint64_t there = v.put_back_on == nowhere ? at : g.limit->usable_at(v.put_back_on, at);
    return g.limit->usable_at(pcpu, there);
  }
  if (g.shape.quota == 0) return at;
  // Returned quota can be used from the time at which it was returned.
  if (has_quota_left(g, at))
    return at / how_.period == g.returned_at / how_.period ? std::max(at, g.returned_at) : at;
  return (at / how_.period + 1) * how_.period;
}

void hypervisor::preempt_for(std::size_t woken, std::uint64_t at) noexcept {
  const vcpu_state& v = vcpus_[woken];
  const std::optional<bandwidth>& limit = guests_[v.guest].limit;
  if (limit ? limit->is_throttled(v.first_pcpu) : !has_quota_left(guests_[v.guest], at)) return;
  const auto begin = pcpus_.begin() + static_cast<std::ptrdiff_t>(v.first_pcpu);
  const auto end = begin + static_cast<std::ptrdiff_t>(v.pcpus);
  const auto idle = std::count_if(begin, end, [](const pcpu_state& p) { return p.on == nowhere; });
  const auto rivals = std::ranges::count_if(queue_, [&](std::size_t i) {
    return vcpus_[i].first_pcpu == v.first_pcpu && vcpus_[i].pcpus == v.pcpus;
  });
  if (rivals <= idle || !has_turn(woken)) return;
  pcpu_state* furthest = nullptr;
  for (auto p = begin; p != end; ++p) {
    if (p->on == nowhere || p->preempted_at != forever) continue;
    if (gangs_) {
      if (has_turn(p->on)) continue;
      p->preempted_at = at;
      return;
    }
    if (furthest == nullptr || rank_at(*p, at) > rank_at(*furthest, at)) furthest = &*p;
  }
  if (furthest != nullptr &&
      order_->preempts(woken, furthest->on, rank_at(*furthest, at), at - std::min(at, furthest->put_on_at)))
    furthest->preempted_at = at;
}

const std::vector<std::size_t>& hypervisor::contenders(std::uint64_t at) {
  contenders_.clear();
  for (const pcpu_state& p : pcpus_)
    if (p.on != nowhere) contenders_.push_back(p.on);
  for (const std::size_t i : queue_)
    if (runnable_at(vcpus_[i], vcpus_[i].first_pcpu, at) <= at) contenders_.push_back(i);
  return contenders_;
}

std::uint64_t hypervisor::used(std::size_t number) const noexcept {
  const guest_state& g = guests_[number];
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < g.shape.vcpus; ++i) sum += vcpus_[g.first_vcpu + i].used;
  return sum;
}

}  // namespace sukima::simulation
