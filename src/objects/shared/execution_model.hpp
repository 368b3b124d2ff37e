// SPDX-License-Identifier: Apache-2.0
// The units of execution of a program of concurrent objects, and the execution models made of them.
#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace sukima::objects::model {

/// The units that execute objects, or that carry the messages between them.
enum class unit : unsigned char {
  simulated,  ///< several objects take turns on one thread
  thread,
  process,  ///< messages pass through shared memory
  pipe,  ///< processes whose messages pass through pipes
};
inline constexpr std::array all_units = {unit::simulated, unit::thread, unit::process, unit::pipe};

/// The models. In a model X:Y the objects of a group are run as Y, and each group as X.
enum class execution_model : unsigned char {
  simulated,
  threads,
  processes,
  threads_simulated,
  processes_threads,
  processes_simulated,
  workers_simulated,  ///< the runtime's workers run the groups in turn
  // For comparison only: the planner does not use them.
  processes_pipe,
  processes_threads_pipe,
  processes_simulated_pipe,
};
/// The models among which the planner chooses.
inline constexpr std::array all_models = {
    execution_model::simulated,         execution_model::threads,
    execution_model::processes,         execution_model::threads_simulated,
    execution_model::processes_threads, execution_model::processes_simulated,
    execution_model::workers_simulated};
inline constexpr std::array models_of_pipes = {execution_model::processes_pipe,
                                               execution_model::processes_threads_pipe,
                                               execution_model::processes_simulated_pipe};

/// The properties of a model.
struct model_parts {
  std::string_view name;  ///< as users write it
  unit between;  ///< the unit that carries messages between groups
  unit within;  ///< the unit that carries messages within a group
  bool grouped;  ///< whether the grouping has an effect
  bool island_each;  ///< whether each object has a thread of its own
  bool pipes = false;  ///< whether messages between processes pass through pipes
};

constexpr model_parts parts_of(execution_model model) {
  switch (model) {
    case execution_model::simulated:
      return {"simulated", unit::simulated, unit::simulated, false, false};
    case execution_model::threads:
      return {"threads", unit::thread, unit::thread, false, true};
    case execution_model::processes:
      return {"processes", unit::process, unit::process, false, true};
    case execution_model::threads_simulated:
      return {"threads:simulated", unit::thread, unit::simulated, true, false};
    case execution_model::processes_threads:
      return {"processes:threads", unit::process, unit::thread, true, true};
    case execution_model::processes_simulated:
      return {"processes:simulated", unit::process, unit::simulated, true, false};
    case execution_model::processes_pipe:
      return {"processes:pipe", unit::process, unit::process, false, true, true};
    case execution_model::processes_threads_pipe:
      return {"processes:threads:pipe", unit::process, unit::thread, true, true, true};
    case execution_model::processes_simulated_pipe:
      return {"processes:simulated:pipe", unit::process, unit::simulated, true, false, true};
    case execution_model::workers_simulated:
      break;
  }
  return {"workers:simulated", unit::thread, unit::simulated, true, false};
}

constexpr std::string_view name_of(execution_model model) { return parts_of(model).name; }

constexpr std::string_view name_of(unit which) {
  constexpr std::array<std::string_view, 4> names = {"simulated", "thread", "process", "pipe"};
  return names[static_cast<std::size_t>(which)];
}

/// Returns the unit with this name; empty if there is none.
constexpr std::optional<unit> unit_called(std::string_view name) {
  for (const unit one : all_units)
    if (name_of(one) == name) return one;
  return std::nullopt;
}
/// Returns the model with this name; empty if there is none.
constexpr std::optional<execution_model> model_called(std::string_view name) {
  for (const execution_model one : all_models)
    if (name_of(one) == name) return one;
  for (const execution_model one : models_of_pipes)
    if (name_of(one) == name) return one;
  return std::nullopt;
}

}  // namespace sukima::objects::model
