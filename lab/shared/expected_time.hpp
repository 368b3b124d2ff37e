// SPDX-License-Identifier: Apache-2.0
// Estimates how long runs will take.
#pragma once

#include <cstddef>
#include <vector>

#include "experiment.hpp"
#include "record.hpp"

namespace sukima::lab {

/// Estimates the time of an experiment's runs. A cell with earlier runs takes as long as these, including the
/// time to set environments up. A cell without any takes the program's time alone, multiplied by the shortage
/// of CPU, up to the limit; the time to set an environment up is divided among its cells.
class expected_times {
 public:
  /// O(records + cells)
  expected_times(const experiment& experiment, const run_choice& choice, unsigned cpus,
                 const std::vector<record>& records);
  /// Returns the seconds of a run of this cell. O(1).
  double of(const cell& one) const;
  /// Returns the seconds of a run that is stopped at the limit. O(1).
  double most_of(const cell& one) const;
  /// Adds the time of a run of this cell. O(1).
  void add(const cell& one, double seconds);

 private:
  struct known {
    double seconds = 0;  ///< of all runs together
    std::size_t runs = 0;
    double guess = 0;  ///< of a run, if there are no runs
    double set_up = 0;  ///< this cell's part of the time to set the environment up
  };
  std::size_t index_of(const cell& one) const;

  std::size_t settings_, environments_;
  double limit_;
  std::vector<known> cells_;
};

}  // namespace sukima::lab
