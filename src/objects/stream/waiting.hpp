// SPDX-License-Identifier: Apache-2.0
// Ends waits and releases ends, for the other rooms (stream.cpp).
#pragma once

namespace sukima::objects::detail {

struct object_core;
struct wait_state;

/// Ends a wait, so that its object runs on: a wait of another island, or, for the holder of its token, of
/// this one. False: it had ended before.
bool claim(wait_state& w) noexcept;
/// Releases the ends that were dropped while an exception unwound the object.
void release_dropped(object_core& me) noexcept;

}  // namespace sukima::objects::detail
