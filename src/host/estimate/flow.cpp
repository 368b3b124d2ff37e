// SPDX-License-Identifier: Apache-2.0
// Pushes a flow between pCPUs; see flow.hpp.
#include "estimate/flow.hpp"

#include <map>

#include <base/shared/assert.hpp>

namespace sukima::host {
flow::flow(const problem& all)
    : all_(all),
      on_(all.capacity.size()),
      load_(all.capacity.size()),
      got_(all.vcpus.size()),
      kind_(all.vcpus.size()),
      owner_(all.vcpus.size()),
      steps_(all.capacity.size()),
      opened_(all.vcpus.size()) {}

flow::flow(const flow& other, const problem& all)
    : all_(all),
      on_(other.on_),
      load_(other.load_),
      got_(other.got_),
      kind_(other.kind_),
      owner_(other.owner_),
      steps_(other.steps_),
      opened_(other.opened_),
      searches_(other.searches_) {}

void flow::learn_kinds() {
  const auto before = [](const cpu_set* a, const cpu_set* b) { return *a < *b; };
  std::map<const cpu_set*, std::uint32_t, decltype(before)> number(before);
  for (std::size_t i = 0; i < kind_.size(); ++i)
    kind_[i] =
        number.try_emplace(&all_.vcpus[i].may, static_cast<std::uint32_t>(number.size())).first->second;
}

void flow::clear(const cpu_set& cpus) {
  cpus.each([&](std::size_t p) {
    for (const entry& e : on_[p]) got_[e.vcpu] -= e.amount;
    on_[p].clear();
    load_[p] = 0;
  });
}

void flow::put(std::size_t p, std::uint32_t vcpu, double amount) {
  SUKIMA_ASSERT(all_.vcpus[vcpu].may.has(p), "a vCPU runs only on pCPUs that it may use");
  load_[p] += amount;
  got_[vcpu] += amount;
  for (entry& e : on_[p]) {
    if (e.vcpu != vcpu) continue;
    e.amount += amount;
    return;
  }
  on_[p].push_back({vcpu, amount});
}

void flow::take(std::size_t p, std::uint32_t vcpu, double amount) {
  load_[p] -= amount;
  got_[vcpu] -= amount;
  for (entry& e : on_[p]) {
    if (e.vcpu != vcpu) continue;
    e.amount -= amount;
    if (e.amount > 1e-15) return;
    e = on_[p].back();
    on_[p].pop_back();
    return;
  }
  SUKIMA_ASSERT(false, "flow is taken from a vCPU only where it runs");
}

double flow::amount_on(std::size_t p, std::uint32_t vcpu) const {
  for (const entry& e : on_[p])
    if (e.vcpu == vcpu) return e.amount;
  return 0;
}

std::size_t flow::roomiest(const runnable& candidate, const cpu_set& cpus) const {
  static const cpu_set none;
  std::size_t best = 0;
  double most = -infinite;
  const auto look = [&](std::size_t p) {
    if (room(p) <= most) return;
    most = room(p);
    best = p;
  };
  candidate.soft.each_of(cpus, none, look);
  // The preference only breaks ties: if no preferred pCPU has room, consider all of them.
  if (most <= rounding) {
    most = -infinite;
    candidate.may.each_of(cpus, none, look);
  }
  return best;
}

void flow::place(std::uint32_t vcpu, double amount, const cpu_set& cpus) {
  while (amount > rounding) {
    const std::size_t p = roomiest(all_.vcpus[vcpu], cpus);
    const double part = room(p) > rounding ? std::min(amount, room(p)) : amount;
    put(p, vcpu, part);
    amount -= part;
  }
}

void flow::spread(const subproblem& part, double level) {
  // The sort key, from the highest bits down: the number of pCPUs that a vCPU may use, the number of those
  // that it prefers, and the vCPU's number. Integers sort faster than structures.
  std::vector<std::uint64_t> pieces;
  pieces.reserve(part.vcpus.size());
  std::vector<double> left(part.elements.size()), part_of_reach(part.elements.size());
  for (std::uint32_t j = 0; j < part.elements.size(); ++j) {
    const element& e = part.elements[j];
    left[j] = demand_at(e, all_.claimants[e.claimant], level);
    part_of_reach[j] = e.reach > 0 ? left[j] / e.reach : 0;
    for (const std::uint32_t i : part.of(e)) {
      owner_[i] = j;
      got_[i] = 0;
      const runnable& candidate = all_.vcpus[i];
      const std::uint64_t choices = candidate.may.count_in(part.cpus);
      // vCPUs with a preference come before vCPUs without one.
      const std::uint64_t preferred = candidate.soft.empty() ? choices : candidate.soft.count_in(part.cpus);
      pieces.push_back(choices << 48 | preferred << 32 | i);
    }
  }
  std::ranges::sort(pieces);
  // First give each vCPU of an element an even part of its bound, then what rounding left over.
  for (const bool rest : {false, true}) {
    for (const std::uint64_t piece : pieces) {
      const auto i = static_cast<std::uint32_t>(piece);
      const std::uint32_t j = owner_[i];
      const double most = all_.vcpus[i].most;
      const double even = rest ? infinite : part_of_reach[j] * most;
      const double amount = std::min({left[j], most - got_[i], even});
      if (amount <= rounding) continue;
      left[j] -= amount;
      place(i, amount, part.cpus);
    }
  }
}

void flow::open(const subproblem& part, std::size_t p, std::uint32_t off, std::uint32_t on, cut& found) {
  if (is_open(on)) return;
  opened_[kind_[on]] = searches_;
  all_.vcpus[on].may.each_of(part.cpus, found.reached, [&](std::size_t q) {
    found.reached.add(q);
    steps_[q] = {static_cast<std::int32_t>(p), off, on};
    order_.push_back(static_cast<std::uint32_t>(q));
  });
}

void flow::leave(const subproblem& part, std::size_t p, cut& found) {
  for (const entry& e : on_[p]) {
    if (e.amount <= rounding) continue;
    open(part, p, e.vcpu, e.vcpu, found);
    char& low = found.low[owner_[e.vcpu]];
    if (low != 0) continue;
    low = 1;
    for (const std::uint32_t i : part.of(part.elements[owner_[e.vcpu]]))
      if (!is_open(i) && got_[i] < all_.vcpus[i].most - rounding) open(part, p, e.vcpu, i, found);
  }
}

void flow::search(const subproblem& part, cut& found) {
  ++searches_;
  order_.clear();
  found.reached = cpu_set(all_.capacity.size());
  found.low.assign(part.elements.size(), 0);
  part.cpus.each([&](std::size_t p) {
    if (room(p) >= -rounding) return;
    found.reached.add(p);
    steps_[p] = {-1, 0, 0};
    order_.push_back(static_cast<std::uint32_t>(p));
  });
  for (std::size_t k = 0; k < order_.size(); ++k) leave(part, order_[k], found);
}

/// The most that the last step to a pCPU can carry. The step moves all vCPUs that may use that pCPU, because
/// a single vCPU has only a small part of a pCPU: moving one at a time would need as many searches as there
/// are vCPUs.
double flow::most_into(std::size_t to) const {
  const step& by = steps_[to];
  const auto from = static_cast<std::size_t>(by.from);
  if (by.on != by.off) return std::min(amount_on(from, by.off), all_.vcpus[by.on].most - got_[by.on]);
  double sum = 0;
  for (const entry& e : on_[from])
    if (all_.vcpus[e.vcpu].may.has(to)) sum += e.amount;
  return sum;
}

void flow::move_into(std::size_t to, double amount) {
  const step& by = steps_[to];
  const auto from = static_cast<std::size_t>(by.from);
  if (by.on != by.off) {
    take(from, by.off, amount);
    put(to, by.on, amount);
    return;
  }
  for (std::size_t k = on_[from].size(); k-- > 0 && amount > 0;) {
    const entry e = on_[from][k];
    if (!all_.vcpus[e.vcpu].may.has(to)) continue;
    const double part = std::min(amount, e.amount);
    take(from, e.vcpu, part);
    put(to, e.vcpu, part);
    amount -= part;
  }
}

bool flow::augment(std::size_t to) {
  double amount = room(to);
  if (amount <= rounding || steps_[to].from < 0) return false;
  std::size_t p = to;
  for (; steps_[p].from >= 0; p = static_cast<std::size_t>(steps_[p].from)) {
    amount = std::min(amount, most_into(p));
  }
  SUKIMA_ASSERT(p != to, "a path leads from one pCPU to another");
  amount = std::min(amount, -room(p));
  if (amount <= rounding) return false;
  for (p = to; steps_[p].from >= 0; p = static_cast<std::size_t>(steps_[p].from)) move_into(p, amount);
  return true;
}

const char* flow::violated_invariant() const {
  for (std::size_t p = 0; p < on_.size(); ++p) {
    double sum = 0;
    for (const entry& e : on_[p]) {
      if (!(e.amount > 0)) return "a vCPU that runs on a pCPU gets time of it";
      if (!all_.vcpus[e.vcpu].may.has(p)) return "a vCPU runs only on pCPUs that it may use";
      sum += e.amount;
    }
    if (std::abs(sum - load_[p]) > 1e3 * rounding_of(sum))
      return "the load of a pCPU is the sum over its vCPUs";
  }
  return nullptr;
}

bool flow::push(const subproblem& part, cut& left) {
  for (;;) {
    search(part, left);
    if (order_.empty()) return true;
    // Use the paths of one search as long as one of them carries something.
    bool pushed = false;
    for (const std::uint32_t q : order_) pushed = augment(q) || pushed;
    if (!pushed) return false;
  }
}

}  // namespace sukima::host
