// SPDX-License-Identifier: Apache-2.0
// The runs of `sukima bench --nodes --hope`, in which nodes are killed at planned moments.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "bench/nodes_run.hpp"

namespace sukima::cli::bench {

class hope_runner {
 public:
  /// \param seed of the killed nodes and their moments, for all benchmarks
  hope_runner(const node_stage& stage, std::uint64_t seed) : stage_(stage), seed_(seed) {}

  /// Runs a task of hope_tasks(). Moments are drawn from the shortest time of a run of the benchmark without
  /// a death. If there is no such run yet, it makes one first. It repeats a run that ends before a planned
  /// death, with all moments halved. Throws what node_stage::run() throws.
  outcome run(const task& task, std::chrono::nanoseconds limit);

 private:
  outcome run_undisturbed(const task& task, std::chrono::nanoseconds limit);

  const node_stage& stage_;
  std::uint64_t seed_;
  std::map<std::string, double> shortest_;  ///< seconds without a death, by benchmark
  std::map<std::pair<std::string, int>, std::uint64_t> runs_;  ///< by benchmark and deaths
};

}  // namespace sukima::cli::bench
