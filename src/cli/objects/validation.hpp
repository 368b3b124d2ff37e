// SPDX-License-Identifier: Apache-2.0
// `sukima objects validate`: plans a program, runs it under each model, and compares the times.
#pragma once

#include <objects/shared/planner.hpp>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "objects/scores.hpp"

namespace sukima::cli::objects {

namespace model = sukima::objects::model;

/// One model: its predicted and measured times in nanoseconds.
struct validated_model {
  model::candidate how;
  std::vector<double> runs_ns;
  time_range measured, simulated, by_paper;
};

/// The quality of one way of predicting.
struct prediction_score {
  std::optional<double> tau;  ///< Kendall's tau of all models; nothing: there is no order to compare with
  model::execution_model chosen = model::execution_model::simulated;
  double chosen_over_best = 1;  ///< measured time of the chosen model / of the measured best
  double best_error = 0;  ///< predicted / measured time of the measured best, minus 1
};

struct validation {
  std::string program;
  double cpus = 1;
  std::vector<validated_model> models;  ///< in the order of the simulation's ranking
  std::vector<model::left_out_model> left_out;
  prediction_score simulation, paper;
};

/// Records the program, plans it, and runs it by the best plan for each model, the models in turn. A line on
/// a terminal shows the progress.
/// \param seconds the longest time of the recording
/// \param runs    number of runs under each model
/// \throws usage_error if the program fails or runs longer; model::description_error as make_plan
validation validate_program(const std::vector<std::string>& program, double seconds, int runs,
                            const model::plan_request& request);

/// Computes the scores. \pre the models have runs
void score(validation& of, std::size_t chosen_by_simulation);

std::string validation_report(const validation& of);
nlohmann::json validation_json(const validation& of);

}  // namespace sukima::cli::objects
