// SPDX-License-Identifier: Apache-2.0
// Calls of worker functions from plain C, and the end of a call in which a tag was not caught.
#include "support.hpp"

#include <sukima/sukima.h>
#include <sukima/tascell/unwind.h>
#include <sukima/errors.hpp>

#include <cstdio>
#include <cstdlib>
#include <exception>

namespace sukima::detail {

namespace {

struct language_root : root_task {
  segment_end end;
  void (*enter)(char*, void*) = nullptr;
  void* frame = nullptr;
};

/// The facts that a thread stores about its last call.
struct last_error {
  bool asked = false;  ///< the thread has called sukima_last_error
  bool set = false;
  char text[256] = {};
};
thread_local last_error error_here;

/// The fiber may have been on another thread before, so the compiler must not keep that thread's address.
[[gnu::noinline]] last_error& this_threads_error() noexcept {
  asm volatile("" : : : "memory");
  return error_here;
}

void note_uncaught(const thrown_tag& thrown) noexcept {
  last_error& e = this_threads_error();
  std::snprintf(e.text, sizeof e.text, "%s:%d: uncaught throw of tag %zu", thrown.file, thrown.line,
                thrown.tag);
  if (!e.asked) {
    std::fflush(stdout);
    std::fprintf(stderr, "%s\n", e.text);
    std::_Exit(70);
  }
  e.set = true;
}

[[noreturn]] void refuse(const char* message, int status) noexcept {
  std::fflush(stdout);
  std::fprintf(stderr, "%s\n", message);
  std::_Exit(status);
}

/// Continues with a tag that was not caught in the call. If a worker function called the plain C that made
/// the call, the tag leaves both functions, and jumps past the plain C. A program's erasure, which has no
/// parallel constructs, does the same.
void end_with_tag(const thrown_tag& thrown) noexcept {
  char* const top = remembered_top();
  const void* const segment = running_segment();
  if (segment != nullptr && top != nullptr && segment_begin(top - 1) == segment) leave_throwing(top, thrown);
  note_uncaught(thrown);
}

}  // namespace

void check_entry() noexcept {
  if (const char* block = running_block()) {
    std::fflush(stdout);
    std::fprintf(stderr, "sukima: a worker function was called in %s, which may call only plain functions\n",
                 block);
    std::_Exit(70);
  }
  if (sukima_is_in_level(__builtin_frame_address(0)))
    refuse(
        "sukima: a worker function was called below a function that was compiled with -fclosures=unwind; "
        "compile that file with -fclosures=frame",
        70);
}

void end_after_failed_start() noexcept {
  try {
    throw;
  } catch (const sukima::bad_setting& e) {
    refuse(e.what(), 2);
  } catch (const std::exception& e) {
    refuse(e.what(), 70);
  }
}

void end_entry(const segment_end& end, char* top) noexcept {
  if (top != nullptr) sukima_remember_top(top);  // other fibers may have run on this thread
  // Calls that began within this call on this thread have stored their own ends there.
  this_threads_error().set = false;
  if (end.threw && end.thrown.exit != nullptr) take_exit(end.thrown);
  if (end.threw) end_with_tag(end.thrown);
}

}  // namespace sukima::detail

using namespace sukima::detail;

extern "C" {

void sukima_enter(void (*run)(char* top, void* frame), void* frame) {
  check_entry();
  language_root root;
  root.enter = run;
  root.frame = frame;
  root.jumps = true;
  root.run = [](task* t, sukima::context c) {
    auto* const me = static_cast<language_root*>(t);
    run_segment(c.top, me->end, me->enter, me->frame, 0);
  };
  char* const top = remembered_top();
  try {
    enter_masked(root);
  } catch (...) {
    end_after_failed_start();
  }
  end_entry(root.end, top);
}

const char* sukima_last_error(void) {
  last_error& e = this_threads_error();
  e.asked = true;
  return e.set ? e.text : nullptr;
}

}  // extern "C"
