// SPDX-License-Identifier: Apache-2.0
// What an entry looks at before it makes a node or runs alone.
#pragma once

namespace sukima::cluster {

/// Ends this process with status 2 and one sentence if it was started beside others that nothing joins: each
/// of them would compute everything. Cheap but for the first call.
void check_start();

}  // namespace sukima::cluster
