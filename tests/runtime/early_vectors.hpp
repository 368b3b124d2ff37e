// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace early_vectors {

/// Adds up numbers in vector registers while workers come and go. \returns whether the sum is right
bool are_kept();

}  // namespace early_vectors
