// SPDX-License-Identifier: Apache-2.0
// Runs that fail: smaller ones that fail in the same way, and files from which a run is replayed.
#pragma once

#include "choices.hpp"
#include "isolated.hpp"
#include "simulated_program.hpp"

#include <cstdint>
#include <iosfwd>
#include <string>

namespace sukima::simulation {

struct failing_run {
  subject tested;
  std::uint64_t schedule = 0;  ///< seed of the schedule that the choices were taken from
  choices plan;
};

/// How the work of shrinking went.
struct shrink_report {
  unsigned runs = 0;
  std::size_t nodes_before = 0;  ///< of a random program; 0: it is a scene
  std::size_t nodes = 0;
  std::size_t choices_before = 0;
};

/// Shrinks the run of a seed that has failed: the random program first, then the schedule.
/// \param original  its outcome
/// \throws std::runtime_error if it does not fail again in the same way
failing_run shrink_run(const subject& tested, const outcome& original, const support::made_up_machine& places,
                       shrink_report& report);

void write_run(std::ostream& to, const failing_run& run);
/// \throws std::runtime_error with the number of the wrong line
failing_run read_run(std::istream& from);

}  // namespace sukima::simulation
