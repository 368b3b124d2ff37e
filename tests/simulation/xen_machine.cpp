// SPDX-License-Identifier: Apache-2.0
#include "xen_machine.hpp"

namespace sukima::simulation {

namespace {

constexpr unsigned pcpus = 4 * cpus_of_node;
constexpr unsigned guest_vcpus = 16;

/// Returns the pCPUs of two NUMA nodes.
pcpu_set nodes(std::size_t one, std::size_t other) {
  const auto range = [](std::size_t node) {
    return std::pair(node * cpus_of_node, (node + 1) * cpus_of_node - 1);
  };
  return pcpus_of(pcpus, {range(one), range(other)});
}

pcpu_set all() { return pcpu_set(pcpus, true); }

cell cell_of(const affinities& where, unsigned threads, const search_shape& search) {
  cell c;
  c.vcpus = guest_vcpus;
  c.allowed = where.allowed;
  c.preferred = where.preferred;
  c.search = search;
  c.runtime = fixed_workers("adaptive", "request", threads);
  c.setup.pcpus = pcpus;
  c.setup.slack = 1'000;
  scheduling& how = c.setup.hypervisor;
  how = credit2_scheduling();
  how.placing = placing_rule::homes;
  how.cpus = {2, 2 * cpus_of_node, 80};
  if (where.is_virtual)
    how.idle_exit = 17'000;
  else
    how.vcpu_switch = 0;
  return c;
}

}  // namespace

affinities physical_machine() { return {"physical machine", nodes(2, 3), {}, false}; }
affinities eight_and_eight() { return {"8-8", nodes(0, 2), nodes(0, 2)}; }
affinities sixteen_of_one() { return {"0-16", nodes(2, 3), nodes(0, 2)}; }
affinities nodes_only() { return {"node affinity only", all(), nodes(0, 2)}; }
affinities binding_only() { return {"vCPU affinity only, 0-16", nodes(2, 3), {}}; }
affinities no_affinity() { return {"no affinity", all(), {}}; }

affinity_measurement measure(const affinities& where, unsigned threads, const search_shape& search,
                             unsigned drawings) {
  cell c = cell_of(where, threads, search);
  affinity_measurement mean;
  for (unsigned drawing = 1; drawing <= drawings; ++drawing) {
    c.setup.hypervisor.first_homes = drawing;
    const measurement m = simulate(c);
    const double time = static_cast<double>(m.time);
    mean.time += time * 1e-6 / drawings;
    mean.shared_modules += static_cast<double>(m.sharing) / time / drawings;
  }
  return mean;
}

}  // namespace sukima::simulation
