// SPDX-License-Identifier: Apache-2.0
// The check of an entry before it makes a node or runs alone.
#pragma once

namespace sukima::cluster {

/// Ends this process with status 2 and one sentence if a launcher started it beside others without joining
/// them, because each of them would compute everything. Only the first call is costly.
void check_start();

/// Whether other nodes run the entries of this process, too, or may join it and run them.
bool shares_entries();

}  // namespace sukima::cluster
