// SPDX-License-Identifier: Apache-2.0
// Simulated runs in separate processes: each begins in the same state, and may hang or die.
#pragma once

#include "machine.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace sukima::simulation {

/// The end of a run.
struct outcome {
  enum class end { as_expected, wrong, hanging, killed } how = end::killed;
  int signal = 0;    ///< the signal that killed the process
  std::string text;  ///< the error, or the report on a hang
  trace steps;       ///< if the run returned
};

/// A simulated program returns an error; empty: the run was as expected.
using program = std::function<std::string()>;

/// Makes the machine of a run.
using machine_maker = std::function<std::unique_ptr<machine>(const limits&, hang_handler)>;
/// Returns a maker of machines whose schedule comes from that seed.
machine_maker seeded(std::uint64_t seed);

/// Runs a program in a child process.
outcome run_isolated(const machine_maker& make, const program& p, const limits& most = {});
outcome run_isolated(std::uint64_t seed, const program& p, const limits& most = {});
/// Runs a program in this process, for a debugger. A hang ends the process with SIGABRT, while all threads
/// still wait. Only once per process.
outcome run_here(std::uint64_t seed, const program& p, const limits& most = {});

}  // namespace sukima::simulation
