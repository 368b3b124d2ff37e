// SPDX-License-Identifier: Apache-2.0
// The linker's messages about missing symbols, in the terms of the language.
#pragma once

#include <string>
#include <vector>

#include "driver/command_line.hpp"
#include "translate.hpp"

namespace sukima::language {

/// Reports tasks without a `task_exec` on stderr, if all files of the program have been translated: an object
/// or a library may have one. \returns whether there is none
bool check_executions(const command_line& line, const std::vector<translation_result>& files);

/// A line of the linker's messages, with what it means for the program's text in a second one.
std::string explained(const std::string& message);

}  // namespace sukima::language
