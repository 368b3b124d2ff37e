// SPDX-License-Identifier: Apache-2.0
// Converts times of the C library to the time of the simulated machine.
#pragma once

#include <time.h>

#include <cstdint>

namespace sukima::simulation {

/// Returns the moment after that duration; null: never.
std::uint64_t after(const timespec* length) noexcept;
/// Returns the moment at which clocks show that time; null: never.
std::uint64_t moment(const timespec* shown) noexcept;

}  // namespace sukima::simulation
