// SPDX-License-Identifier: Apache-2.0
// The identity of a program. Nodes work together only if they run the same program.
#pragma once

#include <span>
#include <string>

namespace sukima::cluster {

/// The GNU build ids of the program and of every shared object that one of these addresses is in, as one
/// hexadecimal text; of several, and of an object without one, a hash.
/// \param registered addresses in the objects whose functions travel
std::string build_id(std::span<const void* const> registered);

}  // namespace sukima::cluster
