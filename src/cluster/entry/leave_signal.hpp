// SPDX-License-Identifier: Apache-2.0
// The signal SIGUSR1, which requests a node that steals to leave.
#pragma once

namespace sukima::cluster {

/// Installs a handler for SIGUSR1 in this process.
/// \returns an eventfd that counts the signals; -1: the program handles or ignores that signal itself, or no
/// descriptor is free
int leave_requests();

}  // namespace sukima::cluster
