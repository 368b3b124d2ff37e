// SPDX-License-Identifier: Apache-2.0
// Which roots of a thread are expected to end at once, so that publishing their first fork is not worth it.
//
// A root's first fork is published before its first branch begins, because that branch may never poll. If
// both branches take some nanoseconds, publishing and reclaiming take more than half of the whole call. So
// each thread remembers, for each call that enters, how many roots in a row ended before a thief may take
// anything. After enough of them the first fork of the next root ignores its poll and leaves the limit
// raised, so the second poll publishes as always.
//
// A root that was expected to be short counts as long if it lasts longer than the root warm-up. Only a root
// whose branches do not poll loses anything by a wrong guess.
#pragma once

#include "short_calls.hpp"

namespace sukima::detail {

/// The code of a root: one for each call that enters.
using short_roots = short_calls<8>;

}  // namespace sukima::detail
