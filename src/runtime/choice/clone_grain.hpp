// SPDX-License-Identifier: Apache-2.0
// The longest time that a call may take to run as a sequential clone.
//
// Parallel code costs more than a clone, so clones should be long. But a thief may have to wait for the end
// of a clone: while a search runs as a clone, its older choices cannot be split. So a clone may take at most
// a fixed fraction of the time since its worker last split off work. A request then waits at most for that
// fraction, and if no requests arrive, nearly all work runs in clones. A fiber that is used again begins with
// its last length.
#pragma once

#include <cstdint>

namespace sukima::detail {

struct fiber;

/// Records that work was split off for another worker: the next clones of this fiber are short.
/// \param now in ticks
void note_split(fiber& s, std::uint64_t now) noexcept;
/// Lets the fiber's next clones be as long as the time since then allows. Does nothing to a fiber that runs
/// no clones.
/// \param now in ticks
void fit_clone_grain(fiber& s, std::uint64_t now) noexcept;

}  // namespace sukima::detail
