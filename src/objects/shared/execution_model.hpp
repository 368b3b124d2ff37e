// SPDX-License-Identifier: Apache-2.0
// How a program of concurrent objects can be run: the units of execution, and the models made of them.
#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace sukima::objects::model {

/// What executes objects, or what carries the messages between them.
enum class unit : unsigned char {
  simulated,  ///< several objects take turns on one thread
  thread,
  process,  ///< messages go through shared memory
  pipe,  ///< processes whose messages go through pipes
};
inline constexpr std::array all_units = {unit::simulated, unit::thread, unit::process, unit::pipe};

/// The models; X:Y is Y within a group and X for each group.
enum class execution_model : unsigned char {
  simulated,
  threads,
  processes,
  threads_simulated,
  processes_threads,
  processes_simulated,
  workers_simulated,  ///< the runtime's workers run the groups in turn
  // For comparison only: nothing plans them.
  processes_pipe,
  processes_threads_pipe,
  processes_simulated_pipe,
};
/// Those that are planned.
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
  unit between;  ///< carries messages between groups
  unit within;  ///< carries messages within a group
  bool grouped;  ///< the grouping matters
  bool island_each;  ///< each object has a thread of its own
  bool pipes = false;  ///< messages between processes go through pipes
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

/// The one with this name; nothing if there is none.
constexpr std::optional<unit> unit_called(std::string_view name) {
  for (const unit one : all_units)
    if (name_of(one) == name) return one;
  return std::nullopt;
}
constexpr std::optional<execution_model> model_called(std::string_view name) {
  for (const execution_model one : all_models)
    if (name_of(one) == name) return one;
  for (const execution_model one : models_of_pipes)
    if (name_of(one) == name) return one;
  return std::nullopt;
}

}  // namespace sukima::objects::model
