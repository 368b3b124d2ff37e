// SPDX-License-Identifier: Apache-2.0
// The report on a run that does not end.
#pragma once

#include "machine.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace sukima::simulation {

/// Lists each thread that has not ended, and what it waits for.
std::string describe_hang(const char* why, std::uint64_t nanoseconds, std::uint64_t steps,
                          const std::vector<std::unique_ptr<thread>>& threads);

}  // namespace sukima::simulation
