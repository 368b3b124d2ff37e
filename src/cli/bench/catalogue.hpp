// SPDX-License-Identifier: Apache-2.0
// What `sukima bench` knows by name: systems, scenarios and the benchmarks' default sizes. New ones are table
// rows.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sukima::cli::bench {

/// The system whose times everything is divided by.
inline constexpr std::string_view sequential_system = "sequential";
/// The system that is compared with each peer.
inline constexpr std::string_view own_system = "sukima";

/// A program file that a system may come in, by name, and the compiler that made it.
struct variant_name {
  std::string_view program;
  std::string_view compiler;  ///< empty: not known
};

struct system_entry {
  std::string_view name;
  std::string_view about;
  std::vector<variant_name> variants;  ///< of one system that the compilers make equally; the best one counts
};

/// All systems: the sequential program, Sukima, and the peers in the order in which reports show them.
std::span<const system_entry> systems();

/// The names of all systems but the sequential program and Sukima.
std::vector<std::string> peer_names();

/// The system of that name, or nullptr.
const system_entry* find_system(std::string_view name);

/// A way of running the programs.
struct scenario_entry {
  std::string_view name;
  std::string_view about;
  /// The numbers of workers to measure, from those that were asked for and the number of CPUs.
  std::vector<int> (*worker_counts)(const std::vector<int>& requested, int cpus);
};

std::span<const scenario_entry> scenarios();

/// The scenario of that name, or nullptr.
const scenario_entry* find_scenario(std::string_view name);

std::vector<std::string> scenario_names();

/// A benchmark of the table that all benchmark programs share.
struct benchmark_entry {
  std::string name;
  std::string about;
  std::int64_t default_size;
};

/// The benchmarks whose default sizes are known, in the table's order.
const std::vector<benchmark_entry>& known_benchmarks();

/// The benchmark's default size, if the table has it.
std::optional<std::int64_t> default_size(std::string_view benchmark);

}  // namespace sukima::cli::bench
