// SPDX-License-Identifier: Apache-2.0
// Divides an island while it runs.
#pragma once

namespace sukima::objects::detail {

struct island_core;
struct object_core;
struct program_core;

/// Moves objects of the island to a new island, if that saves time. For the holder of the island's token.
/// \param stays the running object
/// \returns whether any object was moved
bool divide(program_core& p, island_core& of, const object_core& stays);

}  // namespace sukima::objects::detail
