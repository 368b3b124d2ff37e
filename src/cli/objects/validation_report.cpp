// SPDX-License-Identifier: Apache-2.0
// A validation as text and as JSON.
#include <fmt/format.h>

#include <algorithm>

#include "objects/report.hpp"
#include "objects/validation.hpp"

namespace sukima::cli::objects {
namespace {

using nlohmann::json;

std::vector<std::size_t> ranks(const validation& of, time_range validated_model::* which) {
  std::vector<time_range> times;
  for (const validated_model& one : of.models) times.push_back(one.*which);
  return ranks_of(times);
}

/// The largest number of runs of a model. Models that are clearly slower than others have fewer runs.
std::size_t most_runs(const validation& of) {
  std::size_t most = 0;
  for (const validated_model& one : of.models) most = std::max(most, one.runs_ns.size());
  return most;
}

std::string score_text(const char* name, const prediction_score& score) {
  return fmt::format(
      "{} Kendall's tau {}; it chooses {}, {:.2f} times the best; the best's time is {:+.0f} % off.\n", name,
      score.tau ? fmt::format("{:.2f}", *score.tau) : "unknown, because all are tied",
      model::name_of(score.chosen), score.chosen_over_best, 100 * score.best_error);
}

json score_json(const prediction_score& score) {
  return {{"tau", score.tau ? json(*score.tau) : json(nullptr)},
          {"chosen", model::name_of(score.chosen)},
          {"chosen_over_best", score.chosen_over_best},
          {"best_error", score.best_error}};
}

}  // namespace

std::string validation_report(const validation& of) {
  const auto measured = ranks(of, &validated_model::measured);
  const auto simulated = ranks(of, &validated_model::simulated);
  const auto by_paper = ranks(of, &validated_model::by_paper);
  const std::size_t runs = most_runs(of);
  std::string text = fmt::format("{} on {:.3g} CPUs: {} under each model, with ranks.\n\n", of.program,
                                 of.cpus, runs == 1 ? "one run" : fmt::format("medians of {} runs", runs));
  text += fmt::format("  {:<20} {:>13} {:>3} {:>13} {:>3} {:>7} {:>13} {:>3}\n", "model", "measured", "",
                      "simulation", "", "off by", "paper", "");
  for (std::size_t i = 0; i < of.models.size(); i++) {
    const validated_model& one = of.models[i];
    text += fmt::format(
        "  {:<20} {:>13} {:>3} {:>13} {:>3} {:>6.0f}% {:>13} {:>3}\n", model::name_of(one.how.how.model),
        time_text(one.measured.middle), measured[i], time_text(one.simulated.middle), simulated[i],
        100 * (one.simulated.middle / one.measured.middle - 1), time_text(one.by_paper.middle), by_paper[i]);
  }
  for (const model::left_out_model& one : of.left_out)
    text += fmt::format("Left out: {}, because {}.\n", model::name_of(one.model), one.reason);
  return text + score_text("Simulation:", of.simulation) + score_text("Paper:", of.paper);
}

json validation_json(const validation& of) {
  const auto measured = ranks(of, &validated_model::measured);
  const auto simulated = ranks(of, &validated_model::simulated);
  const auto by_paper = ranks(of, &validated_model::by_paper);
  json models = json::array(), left_out = json::array();
  for (std::size_t i = 0; i < of.models.size(); i++) {
    const validated_model& one = of.models[i];
    models.push_back({{"model", model::name_of(one.how.how.model)},
                      {"runs_ns", one.runs_ns},
                      {"measured_ns", one.measured.middle},
                      {"measured_rank", measured[i]},
                      {"predicted_ns", one.simulated.middle},
                      {"predicted_rank", simulated[i]},
                      {"paper_ns", one.by_paper.middle},
                      {"paper_rank", by_paper[i]}});
  }
  for (const model::left_out_model& one : of.left_out)
    left_out.push_back({{"model", model::name_of(one.model)}, {"reason", one.reason}});
  return {{"program", of.program},
          {"cpus", of.cpus},
          {"models", std::move(models)},
          {"left_out", std::move(left_out)},
          {"simulation", score_json(of.simulation)},
          {"paper", score_json(of.paper)}};
}

}  // namespace sukima::cli::objects
