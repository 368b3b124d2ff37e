// SPDX-License-Identifier: Apache-2.0
// Measures memory nodes, and finds shared caches; see memory_latency.hpp.
#include "memory_latency.hpp"

#include <hwloc.h>
#include <sys/mman.h>
#include <base/shared/quiet_hwloc.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <random>
#include <stdexcept>

#include "bound_threads.hpp"
#include "memory_limit.hpp"

namespace sukima::calibrate_detail {

namespace {

constexpr std::size_t line_bytes = 64;

/// Memory on one node.
class memory_of_node {
 public:
  memory_of_node(hwloc_topology_t machine, hwloc_obj_t node, std::size_t bytes)
      : machine_(machine), bytes_(bytes) {
    data_ = hwloc_alloc_membind(machine, bytes, node->nodeset, HWLOC_MEMBIND_BIND, HWLOC_MEMBIND_BYNODESET);
    // Use large pages, to measure the memory instead of the page tables.
    if (data_ != nullptr) madvise(data_, bytes, MADV_HUGEPAGE);
  }
  ~memory_of_node() {
    if (data_ != nullptr) hwloc_free(machine_, data_, bytes_);
  }
  memory_of_node(const memory_of_node&) = delete;
  memory_of_node& operator=(const memory_of_node&) = delete;

  [[nodiscard]] std::byte* data() const { return static_cast<std::byte*>(data_); }

 private:
  hwloc_topology_t machine_;
  std::size_t bytes_;
  void* data_;
};

/// Links all lines to a cycle in random order, so that no processor can predict the next line.
void make_cycle(std::byte* memory, std::size_t lines) {
  std::vector<std::uint32_t> order(lines);
  std::iota(order.begin(), order.end(), 0U);
  std::mt19937_64 random(1);  // a fixed seed gives the same cycle each time
  std::ranges::shuffle(order, random);
  for (std::size_t i = 0; i < lines; i++) {
    void** const from = reinterpret_cast<void**>(memory + order[i] * line_bytes);
    *from = memory + order[(i + 1) % lines] * line_bytes;
  }
}

double walk(std::byte* memory) {
  constexpr int steps = 50'000;
  double best = std::numeric_limits<double>::infinity();
  void* at = memory;
  for (int i = 0; i < repetitions; i++) {
    const clock::time_point begin = clock::now();
    for (int k = 0; k < steps; k++) at = *static_cast<void* volatile*>(at);
    best = std::min(best, seconds_since(begin) / steps);
  }
  return best;
}

/// Four times the largest cache, but at least 64 MiB and at most a quarter of the node's memory, and of what
/// the control groups allow: beyond their limit the kernel would kill this process. 0 if that is too little
/// to measure the memory instead of the cache.
std::size_t bytes_to_walk(hwloc_topology_t machine, hwloc_obj_t node) {
  std::size_t cache = 0;
  for (hwloc_obj_t one = nullptr;
       (one = hwloc_get_next_obj_by_type(machine, HWLOC_OBJ_L3CACHE, one)) != nullptr;) {
    cache = std::max<std::size_t>(cache, one->attr->cache.size);
  }
  const std::size_t wanted = std::clamp<std::size_t>(4 * cache, 64U << 20, 1U << 30);
  const std::size_t there = node->attr->numanode.local_memory;
  const std::uint64_t allowed = memory_limit() / 4;
  if (allowed < std::min(wanted, 2 * cache)) return 0;
  return std::min<std::uint64_t>({wanted, there != 0 ? there / 4 : wanted, allowed});
}

std::optional<unsigned> cpu_of(hwloc_obj_t node, const std::vector<unsigned>& cpus) {
  for (const unsigned cpu : cpus) {
    if (node->cpuset != nullptr && hwloc_bitmap_isset(node->cpuset, cpu) != 0) return cpu;
  }
  return std::nullopt;
}

}  // namespace

void topology::destroy::operator()(hwloc_topology* one) const { hwloc_topology_destroy(one); }

topology::topology() {
  const quiet_hwloc quiet;
  hwloc_topology_t machine = nullptr;
  if (hwloc_topology_init(&machine) != 0) throw std::runtime_error("hwloc cannot be started");
  machine_.reset(machine);
  if (hwloc_topology_load(machine) != 0) throw std::runtime_error("hwloc cannot read this machine");
}

bool topology::are_near(unsigned first, unsigned second) const {
  hwloc_obj* const one = hwloc_get_pu_obj_by_os_index(machine_.get(), first);
  hwloc_obj* const other = hwloc_get_pu_obj_by_os_index(machine_.get(), second);
  if (one == nullptr || other == nullptr) return false;
  for (const hwloc_obj_type_t type : {HWLOC_OBJ_CORE, HWLOC_OBJ_L2CACHE}) {
    hwloc_obj* const above = hwloc_get_ancestor_obj_by_type(machine_.get(), type, one);
    if (above != nullptr && above == hwloc_get_ancestor_obj_by_type(machine_.get(), type, other)) return true;
  }
  return false;
}

std::vector<sukima_capacity_latency> topology::latencies(const std::vector<unsigned>& cpus) const {
  std::vector<sukima_capacity_latency> result;
  hwloc_topology* const machine = machine_.get();
  for (hwloc_obj_t from = nullptr;
       (from = hwloc_get_next_obj_by_type(machine, HWLOC_OBJ_NUMANODE, from)) != nullptr;) {
    const std::optional<unsigned> cpu = cpu_of(from, cpus);
    if (!cpu) continue;
    for (hwloc_obj_t node = nullptr;
         (node = hwloc_get_next_obj_by_type(machine, HWLOC_OBJ_NUMANODE, node)) != nullptr;) {
      const std::size_t lines = bytes_to_walk(machine, node) / line_bytes;
      if (lines == 0) continue;
      const memory_of_node memory(machine, node, lines * line_bytes);
      if (memory.data() == nullptr) continue;
      double seconds = 0;
      run_bound({{*cpu, [&] {
                    make_cycle(memory.data(), lines);
                    seconds = walk(memory.data());
                  }}});
      result.push_back({from->os_index, node->os_index, seconds * 1e9});
    }
  }
  return result;
}

}  // namespace sukima::calibrate_detail
