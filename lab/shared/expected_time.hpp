// SPDX-License-Identifier: Apache-2.0
// How long runs will take.
#pragma once

#include <cstddef>
#include <vector>

#include "experiment.hpp"
#include "record.hpp"

namespace sukima::lab {

/// What is known of the time of an experiment's runs. A cell's runs will take as long as those before them,
/// with what was needed to set their environments up. Without any, they take the program's time alone, as
/// much longer as CPU is short, but never longer than the limit; setting an environment up is divided among
/// its cells.
class expected_times {
 public:
  /// O(records + cells)
  expected_times(const experiment& what, const run_choice& choice, unsigned cpus,
                 const std::vector<record>& records);
  /// Seconds of a run of this cell. O(1).
  double of(const cell& one) const;
  /// Seconds of a run that is stopped at the limit. O(1).
  double most_of(const cell& one) const;
  /// A run of this cell has taken so long. O(1).
  void add(const cell& one, double seconds);

 private:
  struct known {
    double seconds = 0;  ///< of all runs together
    std::size_t runs = 0;
    double guess = 0;  ///< of a run, if there are none
    double set_up = 0;  ///< this cell's part
  };
  std::size_t index_of(const cell& one) const;

  std::size_t settings_, environments_;
  double limit_;
  std::vector<known> cells_;
};

}  // namespace sukima::lab
