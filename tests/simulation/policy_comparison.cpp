// SPDX-License-Identifier: Apache-2.0
#include "policy_comparison.hpp"

#include "converted_times.hpp"

#include <algorithm>
#include <utility>

namespace sukima::simulation {

namespace {

/// One machine of 16 vCPUs on 16 CPUs.
cell one_machine() {
  cell c;
  c.setup.pcpus = 16;
  c.setup.slack = 1'000;
  return c;
}

cell machines(unsigned number) {
  cell c = one_machine();
  c.machines = number;
  return c;
}

cell by_credit2(cell c) {
  c.setup.hypervisor = credit2_scheduling();
  return c;
}

/// The search is long enough for several periods of the cap.
cell capped(unsigned percent) {
  cell c = by_credit2(one_machine());
  c.quota = c.setup.hypervisor.period * percent / 100;
  c.search.rounds *= 4;
  return c;
}

cell with_exits(cell c) {
  c.setup.exits = exits_for_sure;
  return c;
}

cell with_siblings(cell c, sibling_rule rule) {
  c.setup.hypervisor.siblings = rule;
  return c;
}

std::vector<policy_cell> environments() {
  std::vector<policy_cell> all;
  for (const unsigned number : {1u, 2u, 4u, 8u, 16u})
    all.push_back({std::to_string(number) + (number == 1 ? " machine" : " machines"), machines(number)});
  for (const unsigned busy : {8u, 16u}) {
    all.push_back({"beside " + std::to_string(busy) + " busy vCPUs", one_machine()});
    all.back().shape.busy_vcpus = busy;
  }
  for (const unsigned cpus : {8u, 4u}) {
    all.push_back({"on " + std::to_string(cpus) + " CPUs", one_machine()});
    all.back().shape.setup.pcpus = cpus;
  }
  for (const unsigned percent : {800u, 400u})
    all.push_back({"cap of " + std::to_string(percent) + " %", capped(percent)});
  for (const unsigned number : {2u, 8u}) {
    const std::string name = std::to_string(number) + " machines, ";
    all.push_back({name + "credit2", by_credit2(machines(number))});
    all.push_back({name + "pause-loop exits", with_exits(machines(number))});
    all.push_back({name + "co-scheduling", with_siblings(machines(number), sibling_rule::together)});
    all.push_back({name + "balance scheduling", with_siblings(machines(number), sibling_rule::apart)});
  }
  return all;
}

/// Searches that differ in their amount of work and number of steals.
struct search_kind {
  const char* name;
  unsigned rounds;
  unsigned nodes;
  std::uint64_t mean_work;
  bool is_everywhere;  ///< false: only with one and two machines
  bool is_capped = false;  ///< true: only with caps
};

constexpr search_kind kinds[] = {
    {"wide", 2, 800, 20'000, true},
    {"fine", 2, 1'500, 2'000, false},
    {"narrow", 10, 40, 20'000, false},
    // 320 ms of work, so that it lasts for eight periods of the smaller cap at least.
    {"long narrow", 100, 40, 20'000, false, true},
};

}  // namespace

std::vector<policy_cell> policy_cells() {
  std::vector<policy_cell> all;
  for (const search_kind& kind : kinds)
    for (policy_cell c : environments()) {
      const unsigned longer = c.shape.search.rounds / search_shape{}.rounds;
      c.shape.search = {1, kind.rounds * longer, kind.nodes, kind.mean_work};
      if (!kind.is_everywhere && c.shape.machines > 2) continue;
      if (kind.is_capped && c.shape.quota == 0) continue;
      c.name = std::string(kind.name) + ", " + c.name;
      all.push_back(std::move(c));
    }
  return all;
}

std::vector<double> times_of(const policy_cell& c) {
  std::vector<double> times;
  for (const std::string& policy : compared_policies) {
    cell shape = c.shape;
    shape.runtime = fixed_workers(policy, "publish:3", shape.vcpus);
    times.push_back(static_cast<double>(simulate(shape).time) * 1e-6 / shape.machines);
  }
  return times;
}

double behind_best(const std::vector<double>& times) {
  return times.front() / *std::ranges::min_element(times);
}

}  // namespace sukima::simulation
