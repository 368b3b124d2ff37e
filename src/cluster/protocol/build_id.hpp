// SPDX-License-Identifier: Apache-2.0
// The identity of a program. Nodes work together only if they run the same program.
#pragma once

#include <span>
#include <string>

namespace sukima::cluster {

/// Returns the GNU build id of the program, in hexadecimal. If some of the addresses are in shared objects,
/// returns a hash of the ids of the program and these objects. For an object without a build id, a hash of
/// its file replaces the id.
/// \param registered addresses in the objects that contain the functions that travel
std::string build_id(std::span<const void* const> registered);

}  // namespace sukima::cluster
