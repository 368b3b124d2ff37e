// SPDX-License-Identifier: Apache-2.0
// The result of a cell: the truth and the estimates. It is stored as one line of JSON.
#pragma once

#include <array>
#include <iosfwd>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "truth/cell.hpp"
#include "truth/observer.hpp"

namespace sukima::truth {

/// The estimate for a number of threads.
struct estimate {
  double low = 0;
  double usable = 0;
  double high = 0;
};
using estimates = std::array<estimate, asked_threads.size()>;

/// The short window some time after the hogs started or stopped, and the mean of the next half second.
struct after_change {
  double after_seconds = 0;
  double estimated_now = 0;
  double got = 0;
};

struct cell_result {
  std::string name;
  double got = 0;  ///< CPUs that our threads got, from the process's CPU clock
  std::vector<double> windows;  ///< `now` of each 500 ms window of that time
  estimates tree_idle;  ///< with all groups visible, before our threads start
  estimates tree;  ///< the same while they run
  estimates blind_idle;  ///< in a namespace
  estimates blind;
  std::vector<after_change> changes;
  double experiment_estimate = 0;
  double experiment_got = 0;
  bool shielded = false;  ///< other processes of the machine had hardly any weight
  double foreign = 0;  ///< CPUs used by unrelated processes during the run
  double cost = 0;  ///< CPU time per second of the estimator that sees all groups
};

/// The largest foreign load of a usable cell. A larger load would differ between cells.
inline constexpr double most_foreign = 0.08;

/// Returns whether other processes changed the CPU of our threads.
bool is_disturbed(const cell_result& result, const cell& one);

void to_json(nlohmann::json& json, const cell_result& result);
void from_json(const nlohmann::json& json, cell_result& result);

/// Reads the results of a file, one per line. Skips an incomplete last line.
/// \throws std::runtime_error with one sentence about a malformed file
std::vector<cell_result> read_results(const std::string& path);

/// Opens a file of results to append more of them. Removes an incomplete last line.
/// \throws std::runtime_error the file cannot be written
std::ofstream append_results(const std::string& path);

}  // namespace sukima::truth
