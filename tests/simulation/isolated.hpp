// SPDX-License-Identifier: Apache-2.0
// Simulated runs in processes of their own: each begins in the same state, and may hang or die.
#pragma once

#include "machine.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace sukima::simulation {

/// How a run ended.
struct outcome {
  enum class end { as_expected, wrong, hanging, killed } how = end::killed;
  int signal = 0;    ///< that killed the process
  std::string text;  ///< the error or the report on a hang
  trace steps;       ///< of a run that returned
};

/// A simulated program returns an error; empty: all was as expected.
using program = std::function<std::string()>;

/// Makes the machine of a run.
using machine_maker = std::function<std::unique_ptr<machine>(const limits&, hang_handler)>;
/// Makes the machine whose schedule comes from that seed.
machine_maker seeded(std::uint64_t seed);

/// Runs it in a child process.
outcome run_isolated(const machine_maker& make, const program& p, const limits& most = {});
outcome run_isolated(std::uint64_t seed, const program& p, const limits& most = {});
/// Runs it in this process, for a debugger. A hang ends it with SIGABRT, all threads where they wait. Once in
/// a process.
outcome run_here(std::uint64_t seed, const program& p, const limits& most = {});

}  // namespace sukima::simulation
