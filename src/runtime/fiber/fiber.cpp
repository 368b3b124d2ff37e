// SPDX-License-Identifier: Apache-2.0
// Memory of fibers.
//
// A large fiber is one mapping:
//
//   [guard][ C stack, grows down … | gate, header, choice stack, grows up … ][guard]
//
// The gate is at a fixed offset from a multiple of choice_span, so that masking any address of the choice
// stack finds it. The top of the C stack, the gate and the first choice points share pages, so a fiber that
// does little uses two pages.
//
// A guard is address space that belongs to no stack. It is wider than a page because a frame may be wider: a
// function that writes to the far end of a large array skips a page. A compiler with -fstack-clash-protection
// touches every page of a frame (every 64 KiB on aarch64). Then no frame skips a guard.
//
// Small fibers (a C stack of at most small_stack_limit) share regions of choice_span. They have one gate,
// whose limit is always raised, so each fork takes the slow path. Each header is in its fiber's own piece. In
// return, 100,000 fibers need only a few mappings and 8 KiB each. Their pieces are multiples of 4 KiB on
// every kernel; on a kernel with larger pages several fibers share a page.
#include <base/shared/assert.hpp>
#include "constants.hpp"
#include "fiber/fault.hpp"
#include "fiber/sanitizer.hpp"
#include "fiber/switch.hpp"
#include "fiber/unannounced.hpp"
#include "fiber/valgrind.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <thread>

#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102
#endif

namespace sukima::detail {

namespace {

/// Unit of the layout of small fibers: the smallest page that a kernel has.
constexpr std::size_t small_page = 4096;
/// Fibers with a C stack of up to this size are made small.
constexpr std::size_t small_stack_limit = 64 * 1024;
static_assert(gate_page <= small_stack_limit, "the mapping of a large fiber begins below its choice region");
/// Guard space below the C stack of a large fiber. It is larger because frames that are not probed may be
/// larger there.
constexpr std::size_t large_guard = 1024 * 1024;
/// Guard space above a choice stack, because a choice point contains its closure's captures.
constexpr std::size_t choice_guard = 64 * 1024;
static_assert(large_guard % gate_page == 0 && choice_guard % gate_page == 0 && small_guard % small_page == 0,
              "guards are whole pages, of 64 KiB at most");
/// Choice stack of a small fiber, header included.
constexpr std::size_t small_choice = 8 * 1024;
/// Offset of a small fiber's header in its first small page; the C stack begins right below it.
constexpr std::size_t small_header_offset = 2048;
/// Caches map aligned bases to the same sets, so fibers begin at different lines.
constexpr std::size_t colours = 8;
constexpr std::size_t colour_step = 64;
/// Part of the C stack that may stay in memory when a fiber is cached.
constexpr std::size_t keep_stack = 64 * 1024;
constexpr std::size_t keep_choice = 32 * 1024;

std::size_t round_up(std::size_t n, std::size_t to) { return (n + to - 1) / to * to; }

void* map(std::size_t size) noexcept {
  void* p = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) return nullptr;
  madvise(p, size, MADV_NOHUGEPAGE);  // a fiber that touches one page must not cost 2 MiB
  return p;
}

/// Maps `size` bytes so that `address + before` is a multiple of choice_span.
char* map_aligned(std::size_t size, std::size_t before) noexcept {
  const std::size_t all = size + choice_span;
  auto* p = static_cast<char*>(map(all));
  if (p == nullptr) return nullptr;
  const auto wanted = round_up(reinterpret_cast<std::uintptr_t>(p) + before, choice_span) - before;
  char* begin = reinterpret_cast<char*>(wanted);
  if (begin > p) munmap(p, static_cast<std::size_t>(begin - p));
  char* end = begin + size;
  if (p + all > end) munmap(end, static_cast<std::size_t>(p + all - end));
  return begin;
}

}  // namespace

bool install_guard(char* begin, std::size_t size) noexcept {
  return page_size() == small_page && madvise(begin, size, MADV_GUARD_INSTALL) == 0;
}

namespace {

/// Header of a region of small fibers, which begins with their gate.
struct slab {
  gate shared_gate;
  memory_region region;
  char* first;
  std::size_t piece;  ///< bytes from fiber to fiber
  std::size_t header_at;  ///< of the fiber's header in its piece
};

slab& slab_of(const void* address) noexcept { return *reinterpret_cast<slab*>(&gate_of(address)); }

/// Checks a sample of a page's words. Their distance is a prime number of words, so that they meet different
/// members of equal frames or choice points, one of which may always be zero.
bool looks_used(const char* p, std::size_t page) noexcept {
  constexpr std::size_t distance = 61 * sizeof(std::uint64_t);
  for (std::size_t offset = 0; offset < page; offset += distance)
    if (*reinterpret_cast<const volatile std::uint64_t*>(p + offset) != 0) return true;
  return false;
}

}  // namespace

fiber& small_fiber_at(const void* address) noexcept {
  slab& s = slab_of(address);
  const auto index = static_cast<std::size_t>(static_cast<const char*>(address) - s.first) / s.piece;
  return *reinterpret_cast<fiber*>(s.first + index * s.piece + s.header_at);
}

fiber& fiber_of(const void* address) noexcept {
  fiber& s = fiber_at(address);
  if (s.unannounced.load(std::memory_order_relaxed)) [[unlikely]]
    return announce_own(s);  // the caller may be a thread that only compares addresses
  return s;
}

ambient_state& ambient_of_small(const void* address) noexcept {
  return small_fiber_at(address).small_ambient;
}

shortage no_fiber() {
  return {std::errc::not_enough_memory, "sukima: no address space for a fiber; make SUKIMA_STACK smaller"};
}

std::size_t page_size() noexcept {
  static const auto size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return size;
}

// Besides its guard, the choice stack of a large fiber has at least a page.
fiber_pool::fiber_pool(runtime_core& runtime, const settings& chosen, std::size_t stack_size)
    : runtime_(runtime),
      chosen_(chosen),
      small_(stack_size <= small_stack_limit),
      stack_size_(round_up(stack_size, small_ ? small_page : page_size())),
      choice_size_(std::clamp<std::size_t>(round_up(chosen.choices, page_size()), page_size(),
                                           choice_span - gate_page - choice_guard)),
      shortest_clone_grain_(clone_grain_of(chosen.clones_ns)) {}

fiber_pool::~fiber_pool() {
  for (fiber* s = free_; s != nullptr;) {
    fiber* const next = s->next;
    forget_sanitizer_state(*s);
    deregister_stack(s->registered_stack);
    std::destroy_at(s);
    ends_to_own(s, sizeof *s);
    s = next;
  }
  for (memory_region* r = regions_; r != nullptr;) {
    memory_region* const next = r->next;
    munmap(r->address, r->size);
    r = next;
  }
}

fiber* fiber_pool::take() {
  while (lock_.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
  struct unlock {
    std::atomic_flag& lock;
    ~unlock() { lock.clear(std::memory_order_release); }
  } unlock_at_end{lock_};
  fiber* s = free_;
  if (s != nullptr)
    free_ = s->next;
  else
    s = small_ ? make_small() : make_large();
  if (s == nullptr) return nullptr;
  takes_over(s);  // partner: give
  const std::size_t now = in_use_.fetch_add(1, std::memory_order_relaxed) + 1;
  if (now > peak_.load(std::memory_order_relaxed)) peak_.store(now, std::memory_order_relaxed);
  reset(*s);
  return s;
}

void fiber_pool::give(fiber* s) noexcept {
  hands_over(s);  // partner: take
  while (lock_.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
  s->next = free_;
  free_ = s;
  in_use_.fetch_sub(1, std::memory_order_relaxed);
  lock_.clear(std::memory_order_release);
}

void trim(fiber& s) noexcept {
  s.steps.release();
  if (s.small) return;
  const std::size_t page = page_size();
  // The page next to those that may stay shows whether more pages were used, because a fresh page is zero.
  char* stack_low = s.stack_top - s.stack_size;
  char* keep_from =
      reinterpret_cast<char*>(reinterpret_cast<std::uintptr_t>(s.stack_top - keep_stack) & ~(page - 1));
  if (s.stack_size > keep_stack + 2 * page && looks_used(keep_from, page))
    madvise(stack_low, static_cast<std::size_t>(keep_from + page - stack_low), MADV_DONTNEED);
  char* choice_from =
      reinterpret_cast<char*>(round_up(reinterpret_cast<std::uintptr_t>(s.base + keep_choice), page));
  if (choice_from + page < s.choice_end && looks_used(choice_from, page))
    madvise(choice_from, static_cast<std::size_t>(s.choice_end - choice_from), MADV_DONTNEED);
}

void reset(fiber& used) noexcept {
  used.is_reset = false;
  used.segment = used.base;
  used.oldest = used.base;
  used.clean_from = used.base;
  used.steps.forget();
  SUKIMA_ASSERT(used.newest_covered == nullptr, "a covered segment ends before its fiber");
  used.running = nullptr;
  used.first = nullptr;
  used.retry_at = 0;
  used.entered_at.store(0, std::memory_order_relaxed);
  used.lets_pass = nullptr;
  used.is_short_root = false;
  used.ignored = nullptr;
  used.abort_pending = false;
  used.oldest_ended_loop = all_ones;
  used.thread_bindings = 0;
  used.exceptions = {};
  used.suspended_end = nullptr;
  used.home = nullptr;
  used.label = nullptr;
  used.ambient->top = nullptr;
  used.ambient->handed = nullptr;
  used.publish_wanted.store(false, std::memory_order_relaxed);
}

fiber* fiber_pool::make_large() {
  const std::size_t stack = large_guard + stack_size_;
  const std::size_t size = stack + choice_size_ + choice_guard;
  char* begin = map_aligned(size, stack - gate_page);
  if (begin == nullptr) return nullptr;
  char* const first = begin + stack;  // the page with the gate
  if (mprotect(begin, large_guard, PROT_NONE) != 0 ||
      mprotect(first + choice_size_, choice_guard, PROT_NONE) != 0) {
    munmap(begin, size);
    return nullptr;
  }
  static std::atomic<std::size_t> made{0};  // no partner: only spreads the bases
  const std::size_t colour = made.fetch_add(1, std::memory_order_relaxed) % colours * colour_step;
  auto* own_gate = ::new (static_cast<void*>(first + (gate_offset - gate_page))) gate{};
  own_gate->clone_grain = shortest_clone_grain_;
  own_gate->follows_hints = chosen_.placement != placement_policy::off;
  own_gate->ends_plainly = has_heavy_fence();
  auto* s = ::new (static_cast<void*>(own_gate + 1)) fiber;
  begins_to_own(s, sizeof *s);
  s->runtime = &runtime_;
  s->pool = this;
  s->limit = poll_limit(own_gate->limit);
  s->ambient = &own_gate->ambient;
  regions_ = ::new (static_cast<void*>(s + 1)) memory_region{begin, size, regions_};
  s->base = reinterpret_cast<char*>(round_up(reinterpret_cast<std::uintptr_t>(regions_ + 1), 128)) + colour;
  s->choice_end = first + choice_size_;
  s->stack_top = first + (gate_offset - gate_page) - 128 - colour;
  s->stack_size = static_cast<std::size_t>(s->stack_top - (begin + large_guard));
  s->guard = large_guard;
  s->registered_stack = register_stack(s->stack_top - s->stack_size, s->stack_top);
  own_gate->limit.store(s->base, std::memory_order_relaxed);
  return s;
}

fiber* fiber_pool::make_small() {
  // A piece: [guard][C stack … ][header page][choice stack …]
  // The C stack begins below the header, in the middle of its page.
  const std::size_t piece = small_guard + stack_size_ + small_page + small_choice;
  const std::size_t header_at = small_guard + stack_size_ + small_header_offset;
  if (slab_next_ == slab_end_) {
    char* begin = map_aligned(choice_span, 0);
    if (begin == nullptr) return nullptr;
    auto* shared = ::new (static_cast<void*>(begin + gate_offset)) slab{};
    shared->region = {begin, choice_span, regions_};
    regions_ = &shared->region;
    shared->shared_gate.shared = true;
    shared->shared_gate.follows_hints = chosen_.placement != placement_policy::off;
    shared->shared_gate.limit.store(all_ones, std::memory_order_relaxed);
    shared->first = begin + round_up(gate_offset + sizeof(slab), small_page);
    shared->piece = piece;
    shared->header_at = header_at;
    slab_next_ = shared->first;
    // The last choice stack has a guard above it, too.
    const auto room = static_cast<std::size_t>(begin + choice_span - small_guard - shared->first);
    slab_end_ = shared->first + room / piece * piece;
    install_guard(slab_end_, small_guard);
  }
  char* begin = slab_next_;
  slab_next_ += piece;
  // Without a guard, the space stays accessible and its last bytes are a canary. An overflow into it damages
  // nothing else, and ends the program at the next switch.
  const bool guarded = install_guard(begin, small_guard);
  auto* s = ::new (static_cast<void*>(begin + header_at)) fiber;
  begins_to_own(s, sizeof *s);
  s->runtime = &runtime_;
  s->pool = this;
  s->small = true;
  s->ambient = &s->small_ambient;
  s->base = reinterpret_cast<char*>(round_up(reinterpret_cast<std::uintptr_t>(s + 1), 128));
  s->choice_end = begin + piece;
  s->stack_top = begin + header_at;
  s->stack_size = header_at - small_guard;
  s->guard = small_guard;
  s->registered_stack = register_stack(s->stack_top - s->stack_size, s->stack_top);
  s->canary = !guarded;
  if (!guarded) place_canary(*s);
  return s;
}

}  // namespace sukima::detail
