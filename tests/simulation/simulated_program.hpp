// SPDX-License-Identifier: Apache-2.0
// A random program of tests/runtime/random, or a scene (scene.hpp), as a program of the simulated machine.
// Each has a runtime of its own.
#pragma once

#include "isolated.hpp"

#include "../runtime/made_up_machine.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace sukima::simulation {

/// The program of that seed. All that needs no machine is done before it runs.
/// \param size leaves of a random program, about
/// \param places the CPUs among which a part of the programs has hints
program random_program(std::uint64_t seed, std::size_t size, const support::made_up_machine& places);
/// The program and the runtime's settings, as text.
std::string describe_program(std::uint64_t seed, std::size_t size, const support::made_up_machine& places);

}  // namespace sukima::simulation
