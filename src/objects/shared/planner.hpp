// SPDX-License-Identifier: Apache-2.0
// Chooses how a program of concurrent objects is run: the model, the groups, the capacities.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "prediction.hpp"

namespace sukima::objects::model {

struct plan_request {
  machine where;
  bool by_paper = false;  ///< the paper's formula decides, not the simulation
  double most_bytes = 64 << 20;  ///< memory that the streams together may take
};

/// A model with the grouping and the capacities that suit it best.
struct candidate {
  configuration how;
  prediction simulated;
  double paper_ns = 0;
  std::size_t units = 1;  ///< threads, and processes beside the first
};

/// A model that the program or the machine rules out.
struct left_out_model {
  execution_model model;
  std::string reason;
};

struct plan {
  std::vector<candidate> ranking;  ///< the fastest first
  std::size_t chosen =
      0;  ///< its place in the ranking: of the first and its ties, the one with the fewest units
  std::size_t tied = 1;  ///< how many of the first are tied
  std::vector<left_out_model> left_out;
  std::string bottleneck;  ///< the limit of the chosen one, as a sentence

  /// The first invariant that does not hold, as a sentence, or null.
  const char* violated_invariant() const;
};

/// Makes a plan, by at most some hundred short simulations.
/// \throws description_error as flow_of, and if no model is left
plan make_plan(const description& program, const plan_request& request);

/// The text of a plan file, for read_plan (plan_reader.hpp).
/// \param machine_hash the number that sukima_capacity_machine() returns
std::string plan_text(const description& program, const candidate& chosen, double cpus,
                      std::uint64_t machine_hash);

}  // namespace sukima::objects::model
