// SPDX-License-Identifier: Apache-2.0
// The CPUs of this process.
#pragma once

#include <vector>

namespace sukima::lab {

/// Returns the numbers of the CPUs on which this process may run, ascending.
/// \throws std::system_error if they cannot be read. O(CPUs)
std::vector<unsigned> own_cpus();

/// Returns the first `count` of these, or all of them if there are fewer.
/// \throws std::system_error as own_cpus. O(CPUs)
std::vector<unsigned> first_cpus(unsigned count);

}  // namespace sukima::lab
