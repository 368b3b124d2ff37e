// SPDX-License-Identifier: Apache-2.0
// Places of CPUs; see topology.hpp.
#include "capacity/topology.hpp"

#include <base/shared/assert.hpp>

#include <fmt/format.h>
#include <hwloc.h>
#include <sched.h>
#include <sukima/capacity.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <system_error>
#include <tuple>

#include <base/shared/parse_number.hpp>
#include <base/shared/quiet_hwloc.hpp>

namespace sukima::cli {
namespace {

/// More CPUs than Linux supports.
constexpr std::size_t mask_cpus = 65536;

unsigned number_of(hwloc_obj_t object) { return object != nullptr ? object->logical_index : 0; }

/// Orders the CPUs of one node so that CPUs of different cores come first.
std::vector<unsigned> by_core(const std::vector<cpu_place>& places) {
  std::map<unsigned, unsigned> taken;  // CPUs of each core so far
  std::vector<std::tuple<unsigned, std::size_t, unsigned>> order;
  for (const cpu_place& p : places) order.emplace_back(taken[p.core]++, order.size(), p.cpu);
  std::ranges::sort(order);
  std::vector<unsigned> cpus;
  for (const auto& [rank, position, cpu] : order) cpus.push_back(cpu);
  return cpus;
}

}  // namespace

std::vector<cpu_place> read_topology(const std::string& synthetic) {
  const quiet_hwloc quiet;
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology) != 0) return {};
  std::vector<cpu_place> places;
  const bool chosen = synthetic.empty() || hwloc_topology_set_synthetic(topology, synthetic.c_str()) == 0;
  // The machine also has CPUs that this process may not use.
  hwloc_topology_set_flags(topology, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
  if (chosen && hwloc_topology_load(topology) == 0) {
    for (hwloc_obj_t cpu = nullptr;
         (cpu = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, cpu)) != nullptr;) {
      hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_CORE, cpu);
      hwloc_obj_t node = nullptr;
      for (hwloc_obj_t n = nullptr;
           (n = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, n)) != nullptr;)
        if (hwloc_bitmap_isset(n->cpuset, cpu->os_index) != 0) node = n;
      places.push_back(
          {cpu->os_index, core != nullptr ? number_of(core) : cpu->logical_index, number_of(node)});
    }
  }
  hwloc_topology_destroy(topology);
  return places;
}

std::set<unsigned> choose_cpus(const std::vector<cpu_place>& machine, const std::set<unsigned>& allowed,
                               unsigned count) {
  if (allowed.size() <= count) return allowed;
  std::map<unsigned, std::vector<cpu_place>> nodes;
  std::set<unsigned> known;
  for (const cpu_place& p : machine) {
    if (!allowed.contains(p.cpu)) continue;
    nodes[p.node].push_back(p);
    known.insert(p.cpu);
  }
  std::vector<std::vector<cpu_place>> order;
  for (auto& [number, places] : nodes) order.push_back(std::move(places));
  // Prefers the smallest node that is large enough; if none is, the largest ones come first. false sorts
  // before true.
  std::vector<std::tuple<bool, std::size_t, std::size_t>> ranks;
  for (const auto& node : order) {
    const bool fits = node.size() >= count;
    ranks.emplace_back(!fits, fits ? node.size() : allowed.size() - node.size(), ranks.size());
  }
  std::ranges::sort(ranks);
  std::vector<unsigned> candidates;
  for (const auto& [unfit, size, index] : ranks)
    std::ranges::copy(by_core(order[index]), std::back_inserter(candidates));
  for (const unsigned cpu : allowed)
    if (!known.contains(cpu)) candidates.push_back(cpu);
  SUKIMA_ASSERT(candidates.size() == allowed.size() &&
                    std::ranges::all_of(candidates, [&](unsigned cpu) { return allowed.contains(cpu); }),
                "each allowed CPU, and no other, is a candidate once");
  return {candidates.begin(), candidates.begin() + std::min<std::ptrdiff_t>(count, std::ssize(candidates))};
}

std::set<unsigned> allowed_cpus(int process) {
  std::vector<cpu_set_t> mask(mask_cpus / CPU_SETSIZE);
  const std::size_t size = mask.size() * sizeof(cpu_set_t);
  if (sched_getaffinity(process, size, mask.data()) != 0)
    throw std::system_error(errno, std::generic_category(), "the affinity mask cannot be read");
  std::set<unsigned> cpus;
  for (unsigned cpu = 0; cpu < mask_cpus; ++cpu)
    if (CPU_ISSET_S(cpu, size, mask.data())) cpus.insert(cpu);
  return cpus;
}

void pin_to(const std::set<unsigned>& cpus) {
  std::vector<cpu_set_t> mask(mask_cpus / CPU_SETSIZE);
  const std::size_t size = mask.size() * sizeof(cpu_set_t);
  CPU_ZERO_S(size, mask.data());
  for (const unsigned cpu : cpus) CPU_SET_S(cpu, size, mask.data());
  if (sched_setaffinity(0, size, mask.data()) != 0)
    throw std::system_error(errno, std::generic_category(),
                            fmt::format("pinning to the CPUs {} failed", cpu_list_text(cpus)));
}

std::string cpu_list_text(const std::set<unsigned>& cpus) {
  std::string text;
  for (const unsigned first : cpus) {
    if (first > 0 && cpus.contains(first - 1)) continue;  // it belongs to the previous range
    unsigned last = first;
    while (cpus.contains(last + 1)) ++last;
    if (!text.empty()) text += ',';
    text += first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last);
  }
  return text;
}

std::optional<std::set<unsigned>> read_cpu_list(std::string_view text) {
  std::set<unsigned> cpus;
  for (;;) {
    const std::string_view part = text.substr(0, text.find(','));
    const std::size_t dash = part.find('-');
    const auto first = parse_number<unsigned>(part.substr(0, dash));
    const auto last = dash == part.npos ? first : parse_number<unsigned>(part.substr(dash + 1));
    if (!first || !last || *first > *last || *last >= SUKIMA_CAPACITY_MAX_CPUS) return {};
    for (unsigned cpu = *first; cpu <= *last; ++cpu) cpus.insert(cpu);
    if (part.size() == text.size()) return cpus;
    text.remove_prefix(part.size() + 1);
  }
}

}  // namespace sukima::cli
