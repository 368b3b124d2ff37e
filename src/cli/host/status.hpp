// SPDX-License-Identifier: Apache-2.0
// `sukima host status`: prints the acts in effect.
#pragma once

#include "host/act.hpp"

namespace sukima::cli::host {

/// Prints the acts in effect with the present values, and whether another command is acting. If arguments
/// name machines, it prints only the acts on them. It changes nothing and never waits.
/// \returns the exit code: 1 if a line of the journal cannot be parsed \throws usage_error
int status(const act_options& options);

}  // namespace sukima::cli::host
