// SPDX-License-Identifier: Apache-2.0
// The C stacks of objects.
#pragma once

namespace sukima::objects::detail {

struct program_core;

/// Gives each object that asks for no stack one with room for some copies of its messages. If too many
/// objects would need more than the default, none gets more: their mappings could exceed the kernel's limit.
/// For the holder of program_core::run_lock, before the objects run. O(objects + streams + ends)
void choose_stacks(program_core& of);

}  // namespace sukima::objects::detail
