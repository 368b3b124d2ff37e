// SPDX-License-Identifier: Apache-2.0
// A random program of tests/runtime/random, or a scene (scene.hpp), as a program of the simulated machine.
// Each has a runtime of its own.
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
  std::size_t size = 40;  ///< leaves of a random program, about
  simplifications simpler{};
  bool broken = false;  ///< two threads lose an addition after the program, for tests of this
};

/// The program of that seed. All that needs no machine is done before it runs.
/// \param places the CPUs among which a part of the programs has hints
program simulated_program(const subject& tested, const support::made_up_machine& places);
/// Its tree; nothing if it is a scene.
std::optional<random_programs::program> program_tree(const subject& tested,
                                                     const support::made_up_machine& places);
/// The program and the runtime's settings, as text.
std::string describe_program(const subject& tested, const support::made_up_machine& places);

}  // namespace sukima::simulation
