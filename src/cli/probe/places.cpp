// SPDX-License-Identifier: Apache-2.0
// The machine's places; see places.hpp.
#include "probe/places.hpp"

#include <fmt/format.h>
#include <sukima/capacity.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>

#include "capacity/topology.hpp"

namespace sukima::cli::probe {
namespace {

struct table_closer {
  void operator()(sukima_place_table* table) const { sukima_place_table_close(table); }
};

std::string name_of(const sukima_place_table& table, sukima_place place) {
  std::array<char, 32> text{};
  sukima_place_table_text(&table, place, text.data(), text.size());
  return text.data();
}

std::set<unsigned> cpus_of(const sukima_place_table& table, sukima_place place) {
  std::set<unsigned> cpus;
  for (unsigned cpu = 0; cpu < SUKIMA_PLACE_MAX_CPUS; ++cpu)
    if (sukima_place_table_has_cpu(&table, place, cpu) != 0) cpus.insert(cpu);
  return cpus;
}

/// Returns the places with a usable CPU, and all places that contain them.
std::set<sukima_place> usable_places(const sukima_place_table& table) {
  std::vector<sukima_place> smallest(sukima_place_table_count(&table));
  smallest.resize(sukima_place_table_usable(&table, SUKIMA_PLACE_CORE, smallest.data(), smallest.size()));
  std::set<sukima_place> usable;
  for (const sukima_place place : smallest) {
    sukima_place_facts facts{};
    for (sukima_place p = place; p != SUKIMA_PLACE_ANY; p = facts.around) {
      usable.insert(p);
      sukima_place_table_facts(&table, p, &facts);
    }
  }
  return usable;
}

}  // namespace

std::vector<machine_place> read_places(const meter_place& of) {
  sukima_capacity_options options{};
  options.pid = of.process;
  options.root = of.root.c_str();
  const std::unique_ptr<sukima_place_table, table_closer> table(sukima_place_table_open(&options));
  if (!table) throw std::bad_alloc();
  const std::set<sukima_place> usable = usable_places(*table);
  std::vector<machine_place> places;
  for (unsigned number = SUKIMA_PLACE_WHOLE; number <= sukima_place_table_count(table.get()); ++number) {
    const auto place = static_cast<sukima_place>(number);
    sukima_place_facts facts{};
    sukima_place_table_facts(table.get(), place, &facts);
    places.push_back({.name = name_of(*table, place),
                      .level = sukima_place_level_name(facts.level),
                      .around = facts.around != SUKIMA_PLACE_ANY ? name_of(*table, facts.around) : "",
                      .cpus = cpu_list_text(cpus_of(*table, place)),
                      .usable = usable.contains(place)});
  }
  return places;
}

std::string text_of(const std::vector<machine_place>& places) {
  static constexpr std::array<std::array<const char*, 3>, 3> levels{
      {{"numa_domain", "NUMA domain", "NUMA domains"},
       {"ll_cache", "last-level cache", "last-level caches"},
       {"core", "core", "cores"}}};
  std::string text;
  for (const auto& [level, one, several] : levels) {
    const auto is_there = [&](const machine_place& p) { return p.level == level; };
    const auto all = std::ranges::count_if(places, is_there);
    const auto usable =
        std::ranges::count_if(places, [&](const machine_place& p) { return is_there(p) && p.usable; });
    if (all == 0) continue;
    text += fmt::format("{}{} of {} {}", text.empty() ? "" : ", ", usable, all, all == 1 ? one : several);
  }
  return text.empty() ? text : fmt::format("Places with CPUs for you: {}.\n", text);
}

nlohmann::json json_of(const std::vector<machine_place>& places) {
  nlohmann::json list = nlohmann::json::array();
  for (const machine_place& p : places)
    list.push_back({{"name", p.name},
                    {"level", p.level},
                    {"around", p.around.empty() ? nlohmann::json(nullptr) : nlohmann::json(p.around)},
                    {"cpus", p.cpus},
                    {"usable", p.usable}});
  return list;
}

}  // namespace sukima::cli::probe
