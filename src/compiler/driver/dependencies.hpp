// SPDX-License-Identifier: Apache-2.0
// Rules for make: what a .tc file depends on (-MD, -MMD, -M, -MM).
#pragma once

#include <string>

#include "driver/command_line.hpp"
#include "translate.hpp"

namespace sukima::language {

/// The name of a target or file, quoted for make.
std::string quoted_for_make(const std::string& name);

/// The rule for one input, in the form that gcc writes.
/// \param object  the target unless -MT or -MQ is given
std::string dependency_rule(const command_line& line, const translation_result& files,
                            const std::string& object);

/// The file that -MD writes the rule to: that of -MF, else one beside the output.
std::string dependency_file(const command_line& line, const std::string& input);

}  // namespace sukima::language
