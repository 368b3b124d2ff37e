// SPDX-License-Identifier: Apache-2.0
// Rules for make with the dependencies of a .tc file (-MD, -MMD, -M, -MM).
#pragma once

#include <string>

#include "driver/command_line.hpp"
#include "translate.hpp"

namespace sukima::language {

/// Quotes the name of a target or file for make.
std::string quoted_for_make(const std::string& name);

/// Writes the rule for one input, in gcc's format.
/// \param file  "-" is the standard output
/// \param object  the target unless -MT or -MQ is given
/// \returns whether that was possible; if not, a message has been printed
bool write_dependencies(const command_line& line, const translation_result& files, const std::string& file,
                        const std::string& object);

/// Returns the file to which -MD writes the rule: the file of -MF, otherwise one beside the output.
std::string dependency_file(const command_line& line, const std::string& input);

}  // namespace sukima::language
