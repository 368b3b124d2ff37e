// SPDX-License-Identifier: Apache-2.0
// Plans the run of a program of concurrent objects: the model, the groups, the capacities.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "prediction.hpp"

namespace sukima::objects::model {

/// The wishes for a plan.
struct plan_request {
  machine where;
  bool by_paper = false;  ///< true: the paper's formula decides instead of the simulation
  double most_bytes = 64 << 20;  ///< memory that the streams together may take
};

/// A model with its best grouping and capacities.
struct candidate {
  configuration how;
  prediction simulated;
  double paper_ns = 0;
  std::size_t units = 1;  ///< number of threads, and of processes beside the first
};

/// A model that the program or the machine excludes.
struct left_out_model {
  execution_model model;
  std::string reason;
};

/// The result of planning.
struct plan {
  std::vector<candidate> ranking;  ///< the fastest first
  std::size_t chosen =
      0;  ///< place of the chosen candidate, which has the fewest units of the first one and its ties
  std::size_t tied = 1;  ///< number of the first candidates that are tied
  std::vector<left_out_model> left_out;
  std::string bottleneck;  ///< the limit of the chosen candidate, as a sentence

  /// The first invariant that does not hold, as a sentence, or null.
  const char* violated_invariant() const;
};

/// Makes a plan, by at most some hundred short simulations.
/// \throws description_error as flow_of, and if no model is left
plan make_plan(const description& program, const plan_request& request);

/// Returns the text of a plan file, for read_plan (plan_reader.hpp).
/// \param machine_hash the number that sukima_capacity_machine() returns
std::string plan_text(const description& program, const candidate& chosen, double cpus,
                      std::uint64_t machine_hash);

}  // namespace sukima::objects::model
