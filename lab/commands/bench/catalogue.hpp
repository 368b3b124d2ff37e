// SPDX-License-Identifier: Apache-2.0
// The names that `sukima bench` knows: systems, scenarios and benchmarks. To add one, add a row to its table.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sukima::cli::bench {

/// The reference system: all times are divided by its times.
inline constexpr std::string_view sequential_system = "sequential";
/// The system that is compared with each peer.
inline constexpr std::string_view own_system = "sukima";

/// Busy loops that measure the CPU available to a program; they are not a system.
inline constexpr std::string_view ideal_system = "ideal";

/// A program of a system, by its file name, and the compiler that made it.
struct variant_name {
  std::string_view program;
  std::string_view compiler;  ///< empty: not known
};

struct system_entry {
  std::string_view name;
  std::string_view about;
  std::vector<variant_name> variants;  ///< the same program made by several compilers; the fastest counts
  /// Variables that distinguish the system from another one with the same programs.
  std::vector<std::pair<std::string, std::string>> environment{};
  /// The only benchmarks in which the system takes part; empty: all benchmarks of its programs.
  std::vector<std::string_view> benchmarks{};
  bool tuned = false;  ///< a search finds the best cut-off depth (--depth) for its programs
};

/// All systems: the sequential program, Sukima, and the peers in the order in which reports show them.
std::span<const system_entry> systems();

/// The names of all systems but the sequential program and Sukima.
std::vector<std::string> peer_names();

/// The system with this name, or nullptr.
const system_entry* find_system(std::string_view name);

/// The surroundings of a running program.
struct surroundings {
  enum class hogs { none, one, each_cpu };
  hogs beside = hogs::none;  ///< busy loops, each in a control group of the same weight as the program's
  std::chrono::milliseconds on{}, off{};  ///< run and pause times of the hogs, in turns; 0: no pauses
  double quota = 0;  ///< of the program's control group, in CPU seconds per second; 0: no limit
  int processes = 1;  ///< of the program at once

  /// Returns whether control groups are necessary.
  constexpr bool need_groups() const { return beside != hogs::none || quota > 0; }
  /// Returns whether the programs get only a part of the CPUs. Such runs are long, and are compared with an
  /// ideal.
  constexpr bool put_pressure() const { return need_groups() || processes > 1; }
};

/// Numbers of workers that the user requested, or the defaults.
struct requested_workers {
  std::vector<int> counts;
  bool given;  ///< by the user
};

/// A way of running the programs.
struct scenario_entry {
  std::string_view name;
  std::string_view about;
  /// The numbers of workers to measure, from the requested ones and the number of CPUs.
  std::vector<int> (*worker_counts)(const requested_workers& requested, int cpus);
  surroundings around;
  std::string_view benchmark;  ///< the only benchmark of the scenario; empty: any
};

std::span<const scenario_entry> scenarios();

/// The scenario with this name, or nullptr.
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
