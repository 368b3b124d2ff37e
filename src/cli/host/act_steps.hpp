// SPDX-License-Identifier: Apache-2.0
// Steps that `sukima host act`, `optimise` and `revert` share: reading the description, the journal, undoing.
#pragma once

#include <host/shared/act.hpp>
#include <host/shared/steering.hpp>
#include <memory>
#include <string>
#include <vector>

#include "host/act.hpp"

namespace sukima::cli::host {

namespace model = sukima::host;

/// Reads the description of the machines that may be changed. \throws usage_error
model::description read_config(const act_options& options);

/// Returns the position of the machine of that name. \throws usage_error
std::size_t find_vm(const model::description& host, const std::string& name, const act_options& options);

/// Makes the actuator that plugs virtual CPUs into this machine. \throws usage_error
std::unique_ptr<model::actuator> plug_of(const model::steering& how);

/// \throws usage_error
model::journal open_journal(const act_options& options, model::journal_use use);

/// Undoes the acts in effect, and prints a line for each.
/// \param vms  only the acts on these machines; empty: on all
/// \returns whether the journal shows that no act is left in effect
bool undo(model::journal& written, const line_format& format, const std::vector<std::string>& vms = {});

}  // namespace sukima::cli::host
