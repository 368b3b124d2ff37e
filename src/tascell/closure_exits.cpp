// SPDX-License-Identifier: Apache-2.0
// goto out of a closure, to a label of the function that declared it. That function waits further down the
// stack.
//
// Inside a segment the goto is a throw that ends at the end of the choice points of the function with the
// label. A goto whose label is below the segment ends the segment like an uncaught tag. A task passes it to
// the construct from which it was split off. An entry from C continues it at the place of the call.
#include "support.hpp"

#include <sukima/tascell/unwind.h>

#include <csetjmp>
#include <cstdio>
#include <cstdlib>

namespace sukima::detail {

namespace {

static_assert(sizeof(std::jmp_buf) <= sizeof(sukima_exit::sukima_context));

thread_local char* top_here = nullptr;

/// Returns the variable of this thread. The fiber may have been on another thread before, so the compiler
/// must not keep that thread's address.
[[gnu::noinline]] char*& this_threads_top() noexcept {
  asm volatile("" : : : "memory");
  return top_here;
}

[[noreturn]] void refuse(const thrown_tag& from, const char* why) noexcept {
  std::fflush(stdout);
  std::fprintf(stderr, "%s:%d: this 'goto' cannot leave the closure: %s\n", from.file, from.line, why);
  std::_Exit(70);
}

}  // namespace

char* remembered_top() noexcept { return this_threads_top(); }

void jump_to_exit(const sukima_exit* exit) noexcept {
  sukima_tickets_left(__builtin_frame_address(0), exit->sukima_frame);
  auto* const context = const_cast<long long*>(exit->sukima_context);
  std::longjmp(*reinterpret_cast<std::jmp_buf*>(context), 1);
}

void take_exit(const thrown_tag& thrown) noexcept {
  const sukima_exit* const exit = thrown.exit;
  const void* const segment = running_segment();
  const bool is_of_block = exit->sukima_in_block != 0;
  sukima_levels_left(is_of_block || exit->sukima_top == nullptr ? exit->sukima_frame : nullptr);
  // The label is in the block that runs, or in plain C below it, because only plain C has been called since.
  if (is_of_block) jump_to_exit(exit);
  if (const char* block = running_block()) {
    char text[96];
    std::snprintf(text, sizeof text, "it would leave %s, which must run to its end", block);
    refuse(thrown, text);
  }
  const bool is_here =
      exit->sukima_segment == segment && (segment != nullptr || exit->sukima_thread == &this_threads_top());
  // Two activations of plain C in one segment have no choice points between them, because a worker function
  // that plain C calls begins a new segment.
  if (is_here && exit->sukima_top == nullptr) jump_to_exit(exit);
  if (segment == nullptr) refuse(thrown, "the function with the label is not waiting on this thread");
  char* const top = remembered_top();
  if (top == nullptr || segment_begin(top - 1) != segment)
    refuse(thrown, "it would leave a worker function of a file that does not use closures");
  leave_throwing(top, thrown);
}

}  // namespace sukima::detail

using namespace sukima::detail;

extern "C" {

int sukima_exits_used = 0;

void sukima_remember_top(char* top) { this_threads_top() = top; }

void sukima_exit_begin(sukima_exit* x, char* top) {
  x->sukima_top = top;
  x->sukima_frame = __builtin_frame_address(0);
  x->sukima_segment = running_segment();
  x->sukima_thread = &this_threads_top();
  x->sukima_in_block = running_block() != nullptr ? 1 : 0;
  __atomic_store_n(&sukima_exits_used, 1, __ATOMIC_RELAXED);
}

void sukima_exit_take(sukima_exit* x, const char* file, int line) { take_exit({0, file, line, x}); }

}  // extern "C"
