// SPDX-License-Identifier: Apache-2.0
// Predicts the time that a program of concurrent objects takes, by a discrete-event simulation, and by the
// paper's formula.
#pragma once

#include <cstdint>
#include <vector>

#include "costs.hpp"
#include "description.hpp"

namespace sukima::objects::model {

/// The settings with which a program is run.
struct configuration {
  execution_model model = execution_model::simulated;
  std::vector<std::size_t>
      groups;  ///< group of each object, from 0 without gaps; ignored for models without groups
  std::vector<std::size_t> capacities;  ///< capacity of each stream, in messages

  /// The first invariant that does not hold, as a sentence, or null.
  const char* violated_invariant() const;
};

/// The machine for which a prediction is made.
struct machine {
  double cpus = 1;  ///< usable CPUs; a fraction if a quota or neighbours take a part of a CPU
  cost_table costs;
};

/// The length of a simulation. Events are bounded, not time, so the same seed gives the same answer.
struct effort {
  std::uint64_t events = 200'000;  ///< largest number of computations and messages
  double agreement = 0.01;  ///< the simulation ends when the means of batches agree within this part
  std::uint64_t seed = 1;
};

/// The result of a prediction.
struct prediction {
  double time_ns = 0;  ///< of the whole run
  double spread_ns = 0;  ///< half of the 95 % confidence interval
  double busy_cpus = 0;  ///< CPUs that are busy on average, including threads that look for work
  /// Whether all objects wait for each other, so that the program never ends. Always false for a recorded
  /// program, because its run has ended.
  bool stuck = false;
  std::uint64_t events = 0;
  std::vector<double> computing;  ///< for each object: the part of the time in which it computes
  std::vector<double> blocked;  ///< the part of the time in which its thread sleeps in the kernel
  std::vector<double> full;  ///< for each stream: the part of the sends that found no room
};

/// Returns the line of the machine profile that a simulation of this model needs and does not find; empty if
/// none is missing.
std::string missing_costs(const cost_table& costs, execution_model model);

/// Predicts the time of a run by a simulation.
/// \pre missing_costs returns an empty text; the groups and capacities are those of the program
/// \throws description_error as flow_of
prediction predict(const description& program, const configuration& how, const machine& where,
                   const effort& most = {});

/// Returns the time in nanoseconds by the paper's formula, without waiting time. \pre as for predict
double predict_by_paper(const description& program, const configuration& how, const machine& where);

}  // namespace sukima::objects::model
