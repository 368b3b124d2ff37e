// SPDX-License-Identifier: Apache-2.0
// SIGUSR1 asks a node that steals to leave.
#pragma once

namespace sukima::cluster {

/// Takes SIGUSR1 over for this process. \returns an eventfd that counts the signals; -1: the program handles
/// or ignores that signal itself, or no descriptor is free
int leave_requests();

}  // namespace sukima::cluster
