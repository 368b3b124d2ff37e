// SPDX-License-Identifier: Apache-2.0
// A random program of tests/runtime/random, on a runtime of its own, as a program of the simulated machine.
#pragma once

#include "isolated.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace sukima::simulation {

/// The program of that seed. All that needs no machine is done before it runs.
/// \param size leaves of the program, about
program random_program(std::uint64_t seed, std::size_t size);
/// The program and the runtime's settings, as text.
std::string describe_program(std::uint64_t seed, std::size_t size);

}  // namespace sukima::simulation
