// SPDX-License-Identifier: Apache-2.0
// The declarations that the files of this folder share.
#pragma once

#include "shared/segments.hpp"

#include <sukima/detail/jump.hpp>

#include <cstddef>
#include <cstdint>

namespace sukima::detail {

inline choice_point* from_c(sukima_choice_point* r) noexcept { return reinterpret_cast<choice_point*>(r); }
inline const choice_point* from_c(const sukima_choice_point* r) noexcept {
  return reinterpret_cast<const choice_point*>(r);
}
inline sukima_choice_point* to_c(choice_point* r) noexcept {
  return reinterpret_cast<sukima_choice_point*>(r);
}
inline const sukima_kind* language_kind(const choice_point* r) noexcept {
  return reinterpret_cast<const sukima_kind*>(kind_of(r));
}
inline char* end_of(choice_point* r) noexcept { return reinterpret_cast<char*>(r) + kind_of(r)->size; }

// choice_point_kinds.cpp
/// Ends and frees a task whose object `make_task` made.
void destroy_task(task* t) noexcept;
/// Sets the block of the program that the runtime itself runs. The runtime must not be entered during that
/// block.
/// \param name the block's name in the language; null: no block runs now
void set_running_block(const char* name) noexcept;
/// Returns the name of that block; null: none.
const char* running_block() noexcept;

// clones.cpp
/// Returns the depth of a call whose choice points begin at `top`.
std::uint32_t depth_at(const char* top) noexcept;

// throw_and_abort.cpp
/// Returns the depth of the first call in the segment that begins there.
std::uint32_t depth_of_segment(const char* begin) noexcept;
/// Leaves the running segment's choice points below `end`, the youngest first, because an abort has reached
/// one of them.
[[noreturn]] void leave_aborted(char* end) noexcept;
/// The same for a goto out of a closure, or for a tag that a call by plain C did not catch.
[[noreturn]] void leave_throwing(char* end, const thrown_tag& thrown) noexcept;

// closure_exits.cpp
/// Continues a goto that has left a whole segment.
[[noreturn]] void take_exit(const thrown_tag& thrown) noexcept;
[[noreturn]] void jump_to_exit(const sukima_exit* exit) noexcept;

// trampoline.cpp
extern "C" [[noreturn]] void sukima_jump(void* context) noexcept;

}  // namespace sukima::detail
