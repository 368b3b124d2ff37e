// SPDX-License-Identifier: Apache-2.0
// What `sukima bench` knows by name: systems, scenarios and the benchmarks' default sizes. New ones are table
// rows.
#pragma once

#include <chrono>
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

/// In place of a system: busy loops that measure how much CPU there is for a program.
inline constexpr std::string_view ideal_system = "ideal";

/// A program file that a system may come in, by name, and the compiler that made it.
struct variant_name {
  std::string_view program;
  std::string_view compiler;  ///< empty: not known
};

struct system_entry {
  std::string_view name;
  std::string_view about;
  std::vector<variant_name> variants;  ///< of one system that the compilers make equally; the best one counts
  /// Variables that make it differ from another system with the same programs.
  std::vector<std::pair<std::string, std::string>> environment{};
  std::string_view benchmark{};  ///< the only one that it is for; empty: all that its programs have
};

/// All systems: the sequential program, Sukima, and the peers in the order in which reports show them.
std::span<const system_entry> systems();

/// The names of all systems but the sequential program and Sukima.
std::vector<std::string> peer_names();

/// The system of that name, or nullptr.
const system_entry* find_system(std::string_view name);

/// What surrounds a program while it runs.
struct surroundings {
  enum class hogs { none, one, each_cpu };
  hogs beside = hogs::none;  ///< busy loops, each in a control group of the same weight as the program's
  std::chrono::milliseconds on{}, off{};  ///< how long the hogs come and go by turns; 0: always there
  double quota = 0;  ///< CPU seconds a second that the program's control group gets; 0: no limit
  int processes = 1;  ///< of the program at once

  /// Whether control groups have to be made.
  constexpr bool need_groups() const { return beside != hogs::none || quota > 0; }
  /// Whether the programs get less, or share, what is there: then runs are long, and compared with an ideal.
  constexpr bool are_pressing() const { return need_groups() || processes > 1; }
};

/// Numbers of workers that the user asked for.
struct workers_wish {
  std::vector<int> counts;  ///< the usual ones, if none was given
  bool given;
};

/// A way of running the programs.
struct scenario_entry {
  std::string_view name;
  std::string_view about;
  /// The numbers of workers to measure, from those that were asked for and the number of CPUs.
  std::vector<int> (*worker_counts)(const workers_wish& wish, int cpus);
  surroundings around;
  std::string_view benchmark;  ///< the only one that it is for; empty: any
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
