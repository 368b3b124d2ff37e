// SPDX-License-Identifier: Apache-2.0
// The state of a background worker without work, for the check at rest (invariants/at_rest.hpp). It is kept
// only if SUKIMA_ASSERT is on; otherwise these classes are empty.
//
// A worker marks itself before it sleeps, and as busy when it continues, before it changes anything else. A
// worker that never sleeps marks itself when a search has found nothing, and as busy only after a search that
// has found work. So its searches are counted. No worker changes anything by itself any more if two readings
// of all marks are equal, no worker is busy in them, and each worker that never sleeps has made two searches
// after the first reading. Each mark is an event for the check that waits until all workers have settled.
#pragma once

#include <base/shared/assert.hpp>

#include <atomic>
#include <cstdint>

namespace sukima::detail {

/// `searching`: its wait policy never sleeps, and its last search found nothing.
enum class rest_place : std::uint8_t { no_thread, busy, at_home, parked, sentinel, searching };

#if defined(SUKIMA_ASSERTIONS)

/// Counts an event for each mark of any worker of the runtime.
class rest_events {
 public:
  std::uint32_t read() const noexcept { return count_.load(std::memory_order_seq_cst); }
  void add() noexcept {
    count_.fetch_add(1, std::memory_order_seq_cst);
    count_.notify_all();
  }
  /// Sleeps until there was another event since `seen`.
  void wait(std::uint32_t seen) const noexcept { count_.wait(seen); }

 private:
  std::atomic<std::uint32_t> count_{0};  ///< pairs with: read, add
};

class rest_mark {
 public:
  struct reading {
    std::uint64_t bits;
    rest_place place() const noexcept { return static_cast<rest_place>(bits & 0xff); }
    bool sleeps() const noexcept { return (bits >> 8 & 1) != 0; }
    /// The wake epoch. Its worker sleeps until the epoch advances.
    std::uint32_t epoch() const noexcept { return static_cast<std::uint32_t>(bits >> 9); }
    bool operator==(const reading&) const = default;
  };
  reading read() const noexcept { return {word_.load(std::memory_order_seq_cst)}; }
  /// How many searches of its worker have found nothing.
  std::uint32_t looks() const noexcept { return looks_.load(std::memory_order_acquire); }
  void sleeps(rest_events& events, rest_place place, std::uint32_t epoch) noexcept {
    set(events, place, std::uint64_t{epoch} << 9 | 1u << 8);
  }
  void is(rest_events& events, rest_place place) noexcept {
    // A worker that never sleeps changes its mark once, not in each turn.
    if ((word_.load(std::memory_order_relaxed) & 0x1ff) != static_cast<std::uint64_t>(place))
      set(events, place, 0);
    else
      looks_.store(looks_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }

 private:
  void set(rest_events& events, rest_place place, std::uint64_t sleep) noexcept {
    const std::uint64_t version = (word_.load(std::memory_order_relaxed) >> 41) + 1;
    word_.store(version << 41 | sleep | static_cast<std::uint64_t>(place), std::memory_order_seq_cst);
    events.add();
  }
  /// pairs with: read, set
  std::atomic<std::uint64_t> word_{static_cast<std::uint64_t>(rest_place::no_thread)};
  std::atomic<std::uint32_t> looks_{0};  ///< pairs with: is, looks
};

#else

class rest_events {};
class rest_mark {
 public:
  void sleeps(rest_events& /*events*/, rest_place /*place*/, std::uint32_t /*epoch*/) noexcept {}
  void is(rest_events& /*events*/, rest_place /*place*/) noexcept {}
};

#endif

}  // namespace sukima::detail
