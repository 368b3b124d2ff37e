// SPDX-License-Identifier: Apache-2.0
// Failing runs: reduces them to smaller runs that fail in the same way, and stores them in files for replay.
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
  std::uint64_t schedule = 0;  ///< seed of the schedule that made the choices
  choices plan;
};

/// Statistics of the shrinking.
struct shrink_report {
  unsigned runs = 0;
  std::size_t nodes_before = 0;  ///< of a random program; 0: the program is a scene
  std::size_t nodes = 0;
  std::size_t choices_before = 0;
};

/// Shrinks the run of a seed that has failed: first the random program, then the schedule.
/// \param original  the outcome of the run
/// \throws std::runtime_error the run does not fail again in the same way
failing_run shrink_run(const subject& tested, const outcome& original, const support::made_up_machine& places,
                       shrink_report& report);

void write_run(std::ostream& to, const failing_run& run);
/// \throws std::runtime_error a line is wrong; the message has its number
failing_run read_run(std::istream& from);

}  // namespace sukima::simulation
