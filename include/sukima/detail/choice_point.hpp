// SPDX-License-Identifier: Apache-2.0
// The parts of the choice stack that generated code uses: choice points, their kinds, and the gate with the
// poll limit.
#pragma once

#include <sukima/detail/poll_assembly.h>
#include <sukima/detail/atomics.hpp>

#include <cstddef>
#include <cstdint>

namespace sukima::detail {

struct fiber;
struct task;
struct choice_point;
struct travel_point;

/// The operations and properties of one form of choice point. Each form has one constant object. The
/// operations are called on the fiber that owns the choice point, or by a helper while that fiber is
/// suspended, so there are never two calls at once.
struct choice_point_kind {
  std::uint32_t size;  ///< bytes to the next choice point; a multiple of `choice_point_alignment`
  bool (*open)(const choice_point*) noexcept;  ///< whether there is work left that could be split off
  task* (*split)(choice_point*);  ///< splits the upper part off; may throw; \pre `open` returned true
  void (*reclaim)(choice_point*,
                  task*) noexcept;  ///< undoes `split` for the newest child, which was not begun
  void (*undo)(choice_point*);  ///< backtracks over the step in progress; null: nothing to undo
  void (*redo)(choice_point*);  ///< replays it; null if and only if `undo` is
  double (*guard)(choice_point*);  ///< probability that a request is accepted here; null: always
  void (*destroy)(choice_point*) noexcept;  ///< destroys the captures; null if that does nothing
  void (*stop)(choice_point*) noexcept;  ///< makes a loop end after this iteration; null if it is not a loop
  /// For code that no exception may pass; null for other code, in which an abort waits for a poll that may
  /// throw. Called at the choice point's poll while an abort is pending. Leaves by a jump, and returns only
  /// if there is nothing to leave.
  void (*leave)(choice_point*) noexcept = nullptr;
  /// Whether its poll serves no requests. Such a poll exists only because each pushed choice point must be
  /// polled (poll.cpp).
  bool quiet = false;
  /// Whether its tasks are of type future_task (future.hpp). The language's kinds have zero padding here.
  bool is_future = false;
  const travel_point* travel = nullptr;  ///< its tasks may run on another node (travel.hpp); null: they stay
};

/// A pending choice. `word` is the address of its kind until a task is split off. After that it is the
/// address of the newest child task, with `split_mark` set, and the task has the kind.
struct choice_point {
  std::uintptr_t word;
};

/// The kind of a choice point of that size at which nothing is ever split off.
constexpr choice_point_kind closed_kind(std::uint32_t size) noexcept {
  return {size,    [](const choice_point*) noexcept { return false; },
          nullptr, nullptr,
          nullptr, nullptr,
          nullptr, nullptr,
          nullptr};
}

inline constexpr std::uintptr_t split_mark = 1;
inline constexpr std::size_t choice_point_alignment = 16;

/// Alignment of a fiber's choice region: masking any address in it finds the gate.
inline constexpr std::uintptr_t choice_span = std::uintptr_t{1} << 26;
/// The offset, in the region, of the page with the gate. It is not the first page, because the first-level
/// data caches of AMD's Zen hash an address: each of bits 12 to 19 with one of bits 20 to 27 (M. Lipp et al.,
/// "Take A Way", ASIA CCS 2020). On the two sides of an aligned address all these bits differ, so the hash is
/// the same, and a line of the C stack and one of the choice stack would evict each other.
inline constexpr std::uintptr_t gate_page = std::uintptr_t{1} << 16;
/// The offset of the gate in the region. The part of that page below it belongs to the C stack, which grows
/// downward from here, so that a fiber that does little costs one page.
inline constexpr std::uintptr_t gate_offset = gate_page + 2048;

/// The ambient context of a fiber: what a call without a context uses (ambient.hpp). Only the fiber itself
/// reads and writes it.
struct ambient_state {
  /// The top of the choice stack while code without a context runs; null while code with a context runs,
  /// because that code alone knows the top.
  char* top;
  std::uint32_t uses;  ///< number of calls that used it; a loop reads it to detect that its body forks
  /// The top that the innermost function with a context received, as far as sources in checked mode record it
  /// (checks.hpp). No correct context is below it. Code without checks does not change it.
  char* handed;
};

/// The part of a fiber that its own code reads on the fast path, at a fixed place of the choice region.
///
/// A poll reads only `limit`, which is alone on its pair of cache lines. If `choice_point >= limit`, no task
/// was split off from that choice point, and no request is pending. If `choice_point < limit`, a task may
/// have been split off, or another thread requests a poll. The runtime writes `limit` only through the class
/// poll_limit.
struct gate {
  alignas(128) atomic<char*> limit;  ///< pairs with: untouched; request_poll, publish_limit in poll_limit.hpp
  alignas(128) ambient_state ambient;  ///< on other lines than the limit: the owner writes it often
  /// Whether this region holds many small fibers. They share a limit that is always raised: each poll is
  /// slow.
  bool shared;
  /// Whether the frames of this fiber record where they should run (placed.hpp). Set when the fiber is made.
  bool follows_hints;
  /// Calls of fewer ticks are short enough for a sequential clone; 0: no call is (clone.hpp). Only the owner
  /// uses it. It grows while no worker requests work (runtime/choice/clone_grain.hpp).
  std::uint32_t clone_grain;
  std::uint32_t calls_until_sample;  ///< until the next call is timed; used by the owner only
  /// Whether heavy_fence works: a future that its own fiber computes then ends without a locked instruction.
  bool ends_plainly;
};

[[gnu::always_inline]] inline gate& gate_of(const void* in_choice_stack) noexcept {
  return *reinterpret_cast<gate*>((reinterpret_cast<std::uintptr_t>(in_choice_stack) & ~(choice_span - 1)) +
                                  gate_offset);
}

/// The fast half of every poll. The load is relaxed, because the slow path synchronises. It is written with
/// the builtin, because g++ counts a call of std::atomic::load as large when it decides about inlining.
[[gnu::always_inline]] inline bool untouched(const choice_point* r) noexcept {
  asm __inline__(
      ""
      : "+r"(r));  // without it, clang keeps the masked address in one more register across the first branch
#if defined(SUKIMA_ATOMICS)
  return reinterpret_cast<const char*>(r) >= gate_of(r).limit.load(std::memory_order_relaxed);
#else
  return reinterpret_cast<const char*>(r) >=
         __atomic_load_n(reinterpret_cast<char* const*>(&gate_of(r).limit), __ATOMIC_RELAXED);
#endif
}

extern "C" {
/// The slow half of the poll at a fork's entry and before an iteration: serves the requests to the fiber.
/// Never throws; an abort stays pending.
[[gnu::cold, gnu::noinline]] void sukima_poll_slow(choice_point* point) noexcept;
#if defined(__x86_64__)
/// `sukima_poll_slow` for a choice point in r10. Returns to the address in r11, and preserves all registers
/// except these two and the flags.
void sukima_poll_slow_keeping_registers();
#endif
}

#if defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define SUKIMA_SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define SUKIMA_SANITIZED 1
#endif

/// The poll at the entry of a fork and before an iteration, when the choice point is complete. With a visible
/// call here, g++ stops inlining (fib: 3.5 instead of 1.6 times the plain function), and clang needs one more
/// register for values that survive the call. So the call is hidden in two instructions of assembly, whose
/// cold part preserves every register.
[[gnu::always_inline]] inline void poll(choice_point* r) noexcept {
#if defined(__x86_64__) && !defined(SUKIMA_SANITIZED) && !defined(SUKIMA_ATOMICS)
  SUKIMA_POLL_ASSEMBLY(r, gate_of(r).limit);
#else
  if (!untouched(r)) [[unlikely]]
    sukima_poll_slow(r);
#endif
}

}  // namespace sukima::detail
