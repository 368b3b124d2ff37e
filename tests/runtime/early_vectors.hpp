// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace early_vectors {

/// Adds up in vector registers while workers come and go. Is the sum right?
bool are_kept();

}  // namespace early_vectors
