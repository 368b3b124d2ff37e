// SPDX-License-Identifier: Apache-2.0
// Predicts how long a program of concurrent objects takes: by a discrete-event simulation, and by the paper's
// formula.
#pragma once

#include <cstdint>
#include <vector>

#include "costs.hpp"
#include "description.hpp"

namespace sukima::objects::model {

/// One way to run a program.
struct configuration {
  execution_model model = execution_model::simulated;
  std::vector<std::size_t>
      groups;  ///< of each object, from 0 without gaps; for models without groups ignored
  std::vector<std::size_t> capacities;  ///< of each stream, in messages

  /// The first invariant that does not hold, as a sentence, or null.
  const char* violated_invariant() const;
};

/// The machine that a prediction is for.
struct machine {
  double cpus = 1;  ///< usable ones; a part of a CPU is one that a quota or the neighbours take away
  cost_table costs;
};

/// The length of a simulation. The bound is on events, not on time, so the same seed gives the same answer.
struct effort {
  std::uint64_t events = 200'000;  ///< at most so many computations and messages
  double agreement = 0.01;  ///< ends when the means of batches agree within this part
  std::uint64_t seed = 1;
};

struct prediction {
  double time_ns = 0;  ///< of the whole run
  double spread_ns = 0;  ///< half of the 95 % confidence interval
  double busy_cpus = 0;  ///< CPUs that are busy on average, looking around included
  /// All objects wait for each other, so the program never ends. Always false for a recorded program, because
  /// its run has ended.
  bool stuck = false;
  std::uint64_t events = 0;
  std::vector<double> computing;  ///< of each object: the part of the time in which it computes
  std::vector<double> blocked;  ///< the part of the time in which its thread sleeps in the kernel
  std::vector<double> full;  ///< of each stream: the part of the sends that found no room
};

/// The line of the machine profile that a simulation of this model needs and does not find; empty: none.
std::string missing_costs(const cost_table& costs, execution_model model);

/// Simulates.
/// \pre missing_costs is empty; the groups and capacities are those of the program
/// \throws description_error as flow_of
prediction predict(const description& program, const configuration& how, const machine& where,
                   const effort& most = {});

/// The same by the paper's formula; waiting counts nothing. \pre as predict
double predict_by_paper(const description& program, const configuration& how, const machine& where);

}  // namespace sukima::objects::model
