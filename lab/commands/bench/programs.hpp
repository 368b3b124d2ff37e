// SPDX-License-Identifier: Apache-2.0
// Finds the benchmark programs and asks each for its benchmarks.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "bench/catalogue.hpp"
#include "shared/find_program.hpp"

namespace sukima::cli::bench {

/// An installed benchmark program.
struct program {
  std::filesystem::path file;
  std::string compiler;              ///< as in variant_name
  std::set<std::string> benchmarks;  ///< the names that it prints for --list
};

/// A system with its installed programs.
struct installed_system {
  std::string name;
  std::vector<program> programs;

  /// The programs that have a benchmark.
  std::vector<program> having(const std::string& benchmark) const;
};

/// Finds the programs of each system of the catalogue. A file that cannot list its benchmarks is reported on
/// stderr and left out.
std::vector<installed_system> find_programs(const std::vector<std::filesystem::path>& directories);

}  // namespace sukima::cli::bench
