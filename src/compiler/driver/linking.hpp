// SPDX-License-Identifier: Apache-2.0
// The linker's messages about missing symbols, in the terms of the language.
#pragma once

#include <string>
#include <vector>

#include "driver/command_line.hpp"
#include "translate.hpp"

namespace sukima::language {

/// Reports tasks without a `task_exec` on stderr if this run has translated all files of the program.
/// Otherwise an object or a library may contain the `task_exec`. \returns whether no such task was found
bool check_executions(const command_line& line, const std::vector<translation_result>& files);

/// Returns a line of the linker's messages, followed by a line that explains it in terms of the program's
/// text.
std::string explained(const std::string& message);

}  // namespace sukima::language
