// SPDX-License-Identifier: Apache-2.0
// The check before an entry makes a node or runs alone.
#pragma once

namespace sukima::cluster {

/// Ends this process with status 2 and one sentence if a launcher started it beside others without connecting
/// them, because each process would compute everything. Only the first call is expensive.
void check_start();

/// Whether other nodes run the entries of this process, too, or may join later.
bool shares_entries();

}  // namespace sukima::cluster
