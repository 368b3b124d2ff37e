// SPDX-License-Identifier: Apache-2.0
// Runs a random program of tests/runtime/random, or a scene (scene.hpp), on the simulated machine. Each has
// its own runtime.
#pragma once

#include "isolated.hpp"
#include "simplification.hpp"

#include "../runtime/made_up_machine.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace sukima::simulation {

/// Identifies the program of a run.
struct subject {
  std::uint64_t seed = 0;
  std::size_t size = 40;  ///< approximate number of leaves of a random program
  simplifications simpler{};
  bool broken = false;  ///< whether two threads lose an addition at the end, to test this code
};

/// Returns the program of that seed. Preparations that need no machine are made before it runs.
/// \param places the CPUs that appear in the hints of some of the programs
program simulated_program(const subject& tested, const support::made_up_machine& places);
/// Returns its tree; nothing if the program is a scene.
std::optional<random_programs::program> program_tree(const subject& tested,
                                                     const support::made_up_machine& places);
/// Describes the program and the settings of its runtime.
std::string describe_program(const subject& tested, const support::made_up_machine& places);

}  // namespace sukima::simulation
