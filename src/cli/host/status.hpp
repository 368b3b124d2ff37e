// SPDX-License-Identifier: Apache-2.0
// `sukima host status`: the acts in effect.
#pragma once

#include "host/act.hpp"

namespace sukima::cli::host {

/// Prints the acts in effect, all or those on the machines that are named, beside the present values, and
/// whether another command acts now. Changes nothing and never waits.
/// \returns the exit code: 1 if a line of the journal cannot be understood \throws usage_error
int status(const act_options& options);

}  // namespace sukima::cli::host
