// SPDX-License-Identifier: Apache-2.0
// The memory of launched futures. A thread keeps memory that it frees for its next launches, because
// otherwise the general allocator takes half of the time of a launch and its touch. A thread that only frees
// fills its cache once, and then gives all memory to the allocator. A thread that has launched no future
// keeps nothing, because its first free may come after its own thread-local objects have been destroyed.
#include "constants.hpp"
#include "fiber/sanitizer.hpp"

#include <sukima/detail/launched.hpp>

#include <array>
#include <cstddef>
#include <new>

namespace sukima::detail {

namespace {

constexpr std::size_t class_size = 64;
constexpr std::size_t classes = 16;  ///< sizes above 1 KiB are not kept

struct spare {
  spare* next;
};

enum class keeping : unsigned char { not_yet, yes, no };

/// The cache of one thread. It is trivial, so that a thread may use it until it ends.
struct cache {
  std::array<spare*, classes> lists;
  std::size_t kept;  ///< bytes
  keeping state;
};
// Initial-exec: each function computes its address anew, and none of them switches fibers.
__thread cache own __attribute__((tls_model("initial-exec")));

std::size_t class_of(std::size_t size) noexcept { return (size - 1) / class_size; }

/// Frees the memory that the thread has kept, when the thread ends. Memory that it frees later goes to the
/// allocator.
struct emptying {
  ~emptying() {
    own.state = keeping::no;
    for (std::size_t c = 0; c < classes; ++c)
      while (spare* const s = own.lists[c]) {
        own.lists[c] = s->next;
        ::operator delete(s);
      }
  }
};

/// Sanitizers must see the beginning and the end of each object.
bool is_checked() noexcept { return program_has_asan() || program_has_tsan(); }

[[gnu::cold, gnu::noinline]] void begin_keeping() noexcept {
  own.state = keeping::no;
  if (is_checked()) return;
  static thread_local emptying at_end;
  static_cast<void>(at_end);
  own.state = keeping::yes;
}

}  // namespace

// Out of line, so that no function keeps the address of `own` across a switch of fibers.
[[gnu::noinline]] void* launched::operator new(std::size_t size) {
  const std::size_t c = class_of(size);
  if (c >= classes) return ::operator new(size);
  if (spare* const found = own.lists[c]) [[likely]] {
    own.lists[c] = found->next;
    own.kept -= (c + 1) * class_size;
    return found;
  }
  if (own.state == keeping::not_yet) [[unlikely]]
    begin_keeping();
  return ::operator new(is_checked() ? size : (c + 1) * class_size);
}

[[gnu::noinline]] void launched::operator delete(void* memory, std::size_t size) noexcept {
  const std::size_t c = class_of(size);
  const std::size_t bytes = (c + 1) * class_size;
  if (c < classes && own.state == keeping::yes && own.kept + bytes <= tuning::kept_launch_bytes) [[likely]] {
    own.lists[c] = ::new (memory) spare{own.lists[c]};
    own.kept += bytes;
    return;
  }
  ::operator delete(memory);
}

}  // namespace sukima::detail
