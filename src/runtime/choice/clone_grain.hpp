// SPDX-License-Identifier: Apache-2.0
// How long a call may take that runs as a sequential clone.
//
// Parallel code costs more than a clone, so clones should be long. But a worker that asks for work may wait
// for a clone's end: while a search runs as a clone, its older choices are closed. So a clone may take a
// fixed part of the time since work was last split off on its worker: a request then waits for that part at
// most, and where none comes, nearly all work runs in clones. A fiber that is used again begins with its last
// length.
#pragma once

#include <cstdint>

namespace sukima::detail {

struct fiber;

/// Work is split off for another worker: the next clones of this fiber are short.
/// \param now in ticks
void note_split(fiber& s, std::uint64_t now) noexcept;
/// Lets the fiber's next clones be as long as the time since that allows. A fiber without clones stays so.
/// \param now in ticks
void fit_clone_grain(fiber& s, std::uint64_t now) noexcept;

}  // namespace sukima::detail
