// SPDX-License-Identifier: Apache-2.0
// Rules for make: what a translated file depends on (-MD, -MMD, -M, -MM).
#pragma once

#include <string>

#include "driver/command_line.hpp"
#include "translate.hpp"

namespace sukima::language {

/// As make wants the name of a target or a file.
std::string quoted_for_make(const std::string& name);

/// The rule for one input, in the form that gcc writes.
/// \param object  target where -MT and -MQ are not given
std::string dependency_rule(const command_line& line, const translation_result& files,
                            const std::string& object);

/// Where -MD writes the rule: -MF's file, else beside the output.
std::string dependency_file(const command_line& line, const std::string& input);

}  // namespace sukima::language
