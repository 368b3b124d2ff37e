// SPDX-License-Identifier: Apache-2.0
// A plan of a program of concurrent objects as text and as JSON.
#pragma once

#include <objects/shared/planner.hpp>

#include <nlohmann/json.hpp>
#include <string>

namespace sukima::cli::objects {

namespace model = sukima::objects::model;

/// The plan and its request.
struct planned {
  model::description program;
  model::plan plan;
  double cpus = 1;
  std::string cpus_reason;  ///< the source of that number
  bool by_paper = false;
};

/// Returns the object as text of several lines. A path in it may have bytes that are not UTF-8; they are
/// replaced.
std::string text_of(const nlohmann::json& object);

std::string plan_report(const planned& planning);
nlohmann::json plan_json(const planned& planning);

/// The observations of a program.
std::string recording_report(const model::description& seen);
nlohmann::json recording_json(const model::description& seen);

/// The measured costs.
std::string costs_report(const model::cost_table& costs);
nlohmann::json costs_json(const model::cost_table& costs);

/// Returns "1.23 ms", with a unit that suits the number.
std::string time_text(double ns);

}  // namespace sukima::cli::objects
