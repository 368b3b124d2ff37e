// SPDX-License-Identifier: Apache-2.0
// Times of the C library in the time of the simulated machine.
#pragma once

#include <time.h>

#include <cstdint>

namespace sukima::simulation {

/// The moment after so long; null: never.
std::uint64_t after(const timespec* length) noexcept;
/// The moment when clocks show that; null: never.
std::uint64_t moment(const timespec* shown) noexcept;

}  // namespace sukima::simulation
