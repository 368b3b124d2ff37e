// SPDX-License-Identifier: Apache-2.0
// Functions of stream.cpp that end waits and release ends, for the other folders.
#pragma once

namespace sukima::objects::detail {

struct object_core;
struct wait_state;

/// Ends a wait, so that its object continues. The caller holds the token of the object's island, or the wait
/// is one that other threads may end. \returns false if the wait has already ended
bool claim(wait_state& w) noexcept;
/// Releases the ends that were dropped while an exception unwound the object.
void release_dropped(object_core& me) noexcept;

}  // namespace sukima::objects::detail
