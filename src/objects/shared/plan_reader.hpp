// SPDX-License-Identifier: Apache-2.0
// Reads the plan files that `sukima objects plan` writes (plan_text in planner.hpp). The library reads them,
// too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "execution_model.hpp"

namespace sukima::objects::model {

/// A plan in the form of its file: with names.
struct named_plan {
  std::string program;
  execution_model model = execution_model::simulated;
  double cpus = 1, predicted_ns = 0;
  std::vector<std::vector<std::string>> groups;  ///< objects, each in one group
  std::map<std::string, std::size_t> capacities;  ///< of each stream, in messages
};

/// Reads a plan file. The caller must check whether its names are those of the program.
/// \param machine_hash the number that sukima_capacity_machine() returns
/// \throws description_error if it is malformed, or was made for another machine
named_plan read_plan(std::string_view text, std::uint64_t machine_hash);

/// Returns a number in the form of plan files: 16 hexadecimal digits.
std::string hexadecimal(std::uint64_t value);

}  // namespace sukima::objects::model
