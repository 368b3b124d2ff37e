// SPDX-License-Identifier: Apache-2.0
// The C stacks of objects.
#pragma once

namespace sukima::objects::detail {

struct program_core;

/// Sets the stack of each object without a size of its own, so that it has room for some copies of the
/// object's messages. If too many objects would need more than the default, no object gets more, because the
/// mappings of their stacks could exceed the kernel's limit. For the holder of program_core::run_lock, before
/// the objects run. O(objects + streams + ends)
void choose_stacks(program_core& of);

}  // namespace sukima::objects::detail
