// SPDX-License-Identifier: Apache-2.0
// The files that `sukima objects` reads and writes: descriptions, plans, the machine profile.
#pragma once

#include <objects/shared/costs.hpp>

#include <string>

namespace sukima::cli::objects {

namespace model = sukima::objects::model;

/// Returns the whole file; "-": standard input.
/// \param role  the kind of the file for messages, such as "the description"
/// \throws usage_error if it cannot be read or is longer than 64 MiB, as an endless device is
std::string read_file(const std::string& path, const std::string& role);

/// Replaces the whole file at once, so that a reader never sees a part of it.
/// \throws usage_error if it cannot be written
void replace_file(const std::string& path, const std::string& text);

/// Returns the text of the machine profile. Throws usage_error unless the profile is of this machine and not
/// old.
std::string read_profile(const std::string& path);

/// Returns the costs in the text of the profile at this path. \throws model::costs_error with the path
model::cost_table costs_in(const std::string& profile, const std::string& path);

/// Returns the costs of messages in the machine profile.
/// \throws usage_error, model::costs_error if there are none
model::cost_table read_costs();

}  // namespace sukima::cli::objects
