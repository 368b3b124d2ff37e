// SPDX-License-Identifier: Apache-2.0
// The tables of systems, scenarios and benchmarks; see catalogue.hpp.
#include "catalogue.hpp"

#include <algorithm>

#include "bench/benchmark_table.hpp"

namespace sukima::cli::bench {

std::span<const system_entry> systems() {
  // These searches have tuned programs.
  static const std::vector<std::string_view> searches{"nqueens", "nqueens-array", "pentomino", "uts",
                                                      "cover",   "health",        "floorplan"};
  static const std::vector<system_entry> table{
      {"sequential",
       "the best plain program",
       {{"bench-sequential-gcc", "gcc"}, {"bench-sequential-clang", "clang"}, {"bench-sequential", ""}}},
      {"sukima",
       "this runtime",
       {{"bench-sukima-gcc", "gcc"}, {"bench-sukima-clang", "clang"}, {"bench-sukima", ""}}},
      {"tascell",
       "this runtime, programs in the Tascell language",
       {{"bench-tascell-gcc", "gcc"}, {"bench-tascell-clang", "clang"}}},
      {"tbb",
       "oneAPI Threading Building Blocks",
       {{"bench-tbb-gcc", "gcc"}, {"bench-tbb-clang", "clang"}, {"bench-tbb", ""}}},
      {"tbb-tuned",
       "tbb with a cut-off depth, the best that was found",
       {{"bench-tbb-gcc", "gcc"}, {"bench-tbb-clang", "clang"}, {"bench-tbb", ""}},
       {},
       searches,
       true},
      {"openmp-gcc", "OpenMP tasks, g++ and libgomp", {{"bench-openmp-gcc", "gcc"}}},
      {"openmp-clang", "OpenMP tasks, clang and libomp", {{"bench-openmp-clang", "clang"}}},
      {"openmp-gcc-tuned",
       "openmp-gcc with a cut-off depth, the best that was found",
       {{"bench-openmp-gcc", "gcc"}},
       {},
       searches,
       true},
      {"openmp-clang-tuned",
       "openmp-clang with a cut-off depth, the best that was found",
       {{"bench-openmp-clang", "clang"}},
       {},
       searches,
       true},
      {"openmp-gcc-active",
       "the same as openmp-gcc with active waiting, for loops",
       {{"bench-openmp-gcc", "gcc"}},
       {{"OMP_WAIT_POLICY", "active"}},
       {"phases"}},
      {"openmp-clang-active",
       "the same as openmp-clang with active waiting, for loops",
       {{"bench-openmp-clang", "clang"}},
       {{"OMP_WAIT_POLICY", "active"}},
       {"phases"}},
      {"taskflow",
       "Taskflow",
       {{"bench-taskflow-gcc", "gcc"}, {"bench-taskflow-clang", "clang"}, {"bench-taskflow", ""}}},
      {"rayon", "rayon (Rust)", {{"bench-rayon", "rustc"}}},
      {"rayon-tuned",
       "rayon with a cut-off depth, the best that was found",
       {{"bench-rayon", "rustc"}},
       {},
       searches,
       true},
      {"chili", "chili (Rust)", {{"bench-chili", "rustc"}}},
      {"forte", "forte (Rust)", {{"bench-forte", "rustc"}}},
      {"go", "goroutines and channels of Go", {{"bench-go", "go"}}},
      {"crossbeam", "threads and crossbeam's channels (Rust)", {{"bench-crossbeam", "rustc"}}},
      {"fiber",
       "fibers and channels of Boost.Fiber",
       {{"bench-fiber-gcc", "gcc"}, {"bench-fiber-clang", "clang"}, {"bench-fiber", ""}}},
  };
  return table;
}

std::vector<std::string> peer_names() {
  std::vector<std::string> names;
  for (const system_entry& system : systems()) {
    if (system.name != sequential_system && system.name != own_system) names.emplace_back(system.name);
  }
  return names;
}

const system_entry* find_system(std::string_view name) {
  const auto found = std::ranges::find(systems(), name, &system_entry::name);
  return found == systems().end() ? nullptr : &*found;
}

namespace {

std::vector<int> given_counts(const requested_workers& requested, int) { return requested.counts; }

std::vector<int> given_or_one_per_cpu(const requested_workers& requested, int cpus) {
  return requested.given ? requested.counts : std::vector<int>{cpus};
}

std::vector<int> given_or_few_and_many(const requested_workers& requested, int cpus) {
  return requested.given ? requested.counts : std::vector<int>{cpus, 4 * cpus};
}

std::vector<int> given_or_many(const requested_workers& requested, int cpus) {
  return requested.given ? requested.counts : std::vector<int>{4 * cpus};
}

std::vector<int> many(const requested_workers&, int cpus) { return {4 * cpus}; }

}  // namespace

std::span<const scenario_entry> scenarios() {
  using namespace std::chrono_literals;
  using hogs = surroundings::hogs;
  static const std::vector<scenario_entry> table{
      {"alone", "nothing else runs on the machine", given_counts, {}, {}},
      {"overworked", "four times as many workers as CPUs", many, {}, {}},
      {"hogs", "beside a busy loop for each CPU", given_or_one_per_cpu, {.beside = hogs::each_cpu}, {}},
      {"hog", "beside one busy loop", given_or_one_per_cpu, {.beside = hogs::one}, {}},
      {"together", "four processes at once", given_or_few_and_many, {.processes = 4}, {}},
      {"quota", "1.0 CPU by quota", given_or_many, {.quota = 1.0}, {}},
      {"quota-half", "0.5 CPU by quota", given_or_many, {.quota = 0.5}, {}},
      {"bursts",
       "beside busy loops that run and pause for 50 ms each",
       given_or_one_per_cpu,
       {.beside = hogs::each_cpu, .on = 50ms, .off = 50ms},
       {}},
      {"idle", "one sequential task, 0.5 CPU by quota", given_or_many, {.quota = 0.5}, "idle"},
  };
  return table;
}

const scenario_entry* find_scenario(std::string_view name) {
  const auto found = std::ranges::find(scenarios(), name, &scenario_entry::name);
  return found == scenarios().end() ? nullptr : &*found;
}

std::vector<std::string> scenario_names() {
  std::vector<std::string> names;
  for (const scenario_entry& scenario : scenarios()) names.emplace_back(scenario.name);
  return names;
}

const std::vector<benchmark_entry>& known_benchmarks() {
  static const std::vector<benchmark_entry> table = [] {
    std::vector<benchmark_entry> entries;
    for (const table_entry& one : benchmark_table) entries.push_back({one.name, one.about, one.default_size});
    return entries;
  }();
  return table;
}

std::optional<std::int64_t> default_size(std::string_view benchmark) {
  const auto found = std::ranges::find(known_benchmarks(), benchmark, &benchmark_entry::name);
  if (found == known_benchmarks().end()) return std::nullopt;
  return found->default_size;
}

}  // namespace sukima::cli::bench
