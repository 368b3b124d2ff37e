// SPDX-License-Identifier: Apache-2.0
// The files that `sukima objects` reads and writes: descriptions, plans, the machine profile.
#pragma once

#include <objects/shared/costs.hpp>

#include <string>

namespace sukima::cli::objects {

namespace model = sukima::objects::model;

/// The whole file; standard input for "-".
/// \param role  names the kind of the file in the message, such as "the description"
/// \throws usage_error if it cannot be read or is longer than 64 MiB, as a device without an end
std::string read_file(const std::string& path, const std::string& role);

/// Replaces the file as a whole, so that no reader sees a part of it.
/// \throws usage_error if it cannot be written
void replace_file(const std::string& path, const std::string& text);

/// The text of the machine profile, if it is of this machine and not old; else throws usage_error.
std::string read_profile(const std::string& path);

/// The costs of messages in the machine profile.
/// \throws usage_error, model::costs_error if there are none
model::cost_table read_costs();

}  // namespace sukima::cli::objects
