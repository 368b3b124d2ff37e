// SPDX-License-Identifier: Apache-2.0
// The memory of launched futures. A thread keeps what it frees for its next launches, because the general
// allocator is half of what a launch and its touch cost. A thread that only frees fills its cache once, and
// then gives all to the allocator.
#include "constants.hpp"
#include "fiber/sanitizer.hpp"

#include <sukima/detail/future.hpp>

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

/// Of one thread. Trivial, so that a thread may use it as long as it runs.
struct cache {
  std::array<spare*, classes> lists;
  std::size_t kept;  ///< bytes
  keeping state;
};
// Initial-exec: formed by each function anew, none of which switches fibers.
__thread cache own __attribute__((tls_model("initial-exec")));

std::size_t class_of(std::size_t size) noexcept { return (size - 1) / class_size; }

/// Frees what the thread has kept, when it ends. Futures that it frees later go to the allocator.
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

/// \returns whether this thread keeps memory
[[gnu::cold, gnu::noinline]] bool begin_keeping() noexcept {
  if (own.state == keeping::no) return false;
  // Sanitizers must see each object's beginning and end.
  if (program_has_asan() || program_has_tsan()) {
    own.state = keeping::no;
    return false;
  }
  static thread_local emptying at_end;
  static_cast<void>(at_end);
  own.state = keeping::yes;
  return true;
}

}  // namespace

void* launched::operator new(std::size_t size) {
  const std::size_t c = class_of(size);
  if (c >= classes) return ::operator new(size);
  if (spare* const found = own.lists[c]) [[likely]] {
    own.lists[c] = found->next;
    own.kept -= (c + 1) * class_size;
    return found;
  }
  return ::operator new((c + 1) * class_size);
}

void launched::operator delete(void* memory, std::size_t size) noexcept {
  const std::size_t c = class_of(size);
  const std::size_t bytes = (c + 1) * class_size;
  if (c < classes && own.kept + bytes <= tuning::kept_launch_bytes &&
      (own.state == keeping::yes || begin_keeping())) [[likely]] {
    own.lists[c] = ::new (memory) spare{own.lists[c]};
    own.kept += bytes;
    return;
  }
  ::operator delete(memory);
}

}  // namespace sukima::detail
