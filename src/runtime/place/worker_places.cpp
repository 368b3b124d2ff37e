// SPDX-License-Identifier: Apache-2.0
// Counting workers in places; see worker_places.hpp.
#include "place/worker_places.hpp"

namespace sukima::detail {
namespace {

/// Of a thread whose CPU the kernel does not report.
constexpr int unknown_cpu = SUKIMA_PLACE_MAX_CPUS;

sukima_place around(const sukima_place_table& table, sukima_place place) noexcept {
  sukima_place_facts facts{};
  sukima_place_table_facts(&table, place, &facts);
  return facts.around;
}

}  // namespace

worker_places::worker_places(const sukima_place_table& table)
    : table_(table), counts_(new std::atomic<std::uint32_t>[sukima_place_table_count(&table) + 1]()) {}

sukima_place worker_places::smallest_of(int cpu) const noexcept {
  return cpu < 0 ? SUKIMA_PLACE_ANY : sukima_place_table_of_cpu(&table_, static_cast<std::uint32_t>(cpu));
}

/// \returns whether one of these counters was 0, other than the machine's
bool worker_places::add(sukima_place smallest, std::uint32_t change) noexcept {
  bool was_empty = false;
  for (sukima_place p = smallest; p != SUKIMA_PLACE_ANY; p = around(table_, p))
    was_empty |= counts_[p].fetch_add(change, std::memory_order_seq_cst) == 0 && p != SUKIMA_PLACE_WHOLE;
  return was_empty;
}

bool worker_places::see(last_cpu& its, int cpu) noexcept {
  if (cpu < 0) cpu = unknown_cpu;
  const int before = its.read();
  if (before == cpu) return false;
  its.cpu_.store(cpu, std::memory_order_relaxed);
  const sukima_place from = smallest_of(before);
  const sukima_place to = smallest_of(cpu);
  if (from == to) return false;
  // Increments come before decrements, so the machine never seems to have no worker while one moves.
  const bool was_empty = add(to, 1);
  add(from, ~std::uint32_t{0});
  return was_empty;
}

void worker_places::forget(last_cpu& its) noexcept {
  add(smallest_of(its.read()), ~std::uint32_t{0});
  its.cpu_.store(-1, std::memory_order_relaxed);
}

std::uint32_t worker_places::count(sukima_place place) const noexcept {
  sukima_place_facts facts{};
  if (sukima_place_table_facts(&table_, place, &facts) == 0) place = SUKIMA_PLACE_WHOLE;
  return counts_[place].load(std::memory_order_relaxed);
}

sukima_place worker_places::nearest_with_worker(sukima_place place) const noexcept {
  sukima_place_facts facts{};
  if (sukima_place_table_facts(&table_, place, &facts) == 0) return SUKIMA_PLACE_ANY;
  while (place != SUKIMA_PLACE_ANY && counts_[place].load(std::memory_order_seq_cst) == 0)
    place = around(table_, place);
  return place;
}

bool worker_places::is_in(const last_cpu& its, sukima_place place) const noexcept {
  const int cpu = its.read();
  return cpu >= 0 && sukima_place_table_contains(&table_, place, smallest_of(cpu)) != 0;
}

}  // namespace sukima::detail
