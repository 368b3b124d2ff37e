// SPDX-License-Identifier: Apache-2.0
// The help of `sukima host`: of the command, and of each of its actions.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class FormatterBase;
}

namespace sukima::cli::host {

/// Returns the actions, in the order of the help.
std::vector<std::string> action_names();

/// Returns the actions that have this option, such as "--json", in the order of the help.
std::vector<std::string> actions_with(std::string_view option);

/// Returns the examples of all actions, for the help of the command.
std::string all_examples();

/// Makes the formatter of the help.
/// \param action  the action given so far; empty: the help of the command. It may change until the help is
/// printed, and must outlive the formatter.
std::shared_ptr<CLI::FormatterBase> help_formatter(const std::string& action);

}  // namespace sukima::cli::host
