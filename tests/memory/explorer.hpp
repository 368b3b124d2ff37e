// SPDX-License-Identifier: Apache-2.0
// Explores all executions that the C++ memory model (graph.hpp) allows for a few threads.
//
// Each thread runs on its own stack, one thread at a time. Each access to a memory::atomic (atomics.hpp)
// stops its thread until the explorer has chosen which write it reads, or where it writes in the modification
// order. For each sequence of choices the program runs from its beginning, depth first.
//
// Each execution graph is built once, in one order of its events: the lowest thread whose next read finds its
// write continues. So if a thread is left behind for a higher one, it must read a later write. A branch in
// which no such write is added is *redundant* and is given up. Stores and fences do not wait and are executed
// at once, because later writes may be placed before them.
//
// Checked in each execution: the program's own requirements; data races of memory::plain and of the beginning
// and end of an atomic object; threads that wait for ever.
#pragma once

#include "graph.hpp"

#include <functional>
#include <optional>
#include <set>
#include <source_location>
#include <string>
#include <vector>

namespace sukima::memory {

/// One small program to be explored.
struct program {
  std::string name;
  /// Called before each execution, outside all threads. It must reset every object to its first state.
  std::function<void()> set_up;
  std::vector<std::function<void()>> threads;
  /// Called after an execution in which all threads have ended. Atomics have their last values.
  std::function<void()> at_end;
  /// Largest number of waits with a time-out that time out. A wait times out only if no other step is
  /// possible, so the clock is as slow as it may be. at_stall is called before.
  unsigned timeouts = 0;
  std::function<void()> at_stall;
  /// If a thread of an execution has more accesses than this, the execution is counted, but not followed
  /// further.
  unsigned accesses_per_thread = 200;
};

/// A different order for one access of the source text (sites.hpp).
struct weakening {
  int site = none;
  std::memory_order order = std::memory_order_relaxed;
};

struct outcome {
  std::uint64_t executions = 0;
  std::uint64_t redundant = 0;  ///< branches that led to no new execution
  std::uint64_t cut = 0;  ///< number of executions with too many accesses
  std::optional<std::string> error;  ///< the first error, and the events that led to it
  std::set<int> sites;  ///< the sites that were executed
};

/// Explores all executions, or those up to the first error.
outcome explore(const program& p, const std::optional<weakening>& weaker = std::nullopt);

/// In a thread or in at_end: reports an error if `holds` is false.
void require(bool holds, const char* claim);
/// For a thread that can continue only after another thread writes: the yield of a waiting loop. The loop
/// must have no effects except its reads, because failing iterations are not followed, only those that
/// succeed.
void wait_for_change();
/// Ends the running thread at once.
void end_thread();
/// In at_stall: returns how many threads are in a wait with a time-out.
unsigned timed_waits();
/// Returns the number of the running thread; none: during set-up or at the end.
int running_thread() noexcept;
/// The thread-local variables of the program under test: `leave` is called before another thread runs,
/// `enter` with its result before the thread runs again, and with null at the thread's first start.
struct thread_locals {
  void* (*leave)();
  void (*enter)(void*);
};
void keep(thread_locals hooks);

/// Futex calls by the kernel's rules. The calls for one word have one total order. A wait compares and begins
/// to sleep in one step of this order, and sees all writes before the earlier calls.
class atomic_base;
void futex_wait(atomic_base& word, std::uint64_t expected, bool timed);
void futex_wake(atomic_base& word);

/// A lock: actions before unlock happen before actions after the next lock.
class mutex {
 public:
  void lock();
  void unlock();
  bool try_lock();  ///< only for templates that name it: a call is an error

 private:
  friend class explorer;
  void renew();  ///< makes it free at its first use in an execution
  std::uint32_t generation_ = 0;
  bool held_ = false;
  std::uint32_t changed_ = 0;
  clock released_;
};

/// The common part of all atomics.
class atomic_base {
 public:
  atomic_base(const atomic_base&) = delete;
  atomic_base& operator=(const atomic_base&) = delete;

 protected:
  explicit atomic_base(std::uint64_t first);
  ~atomic_base();
  std::uint64_t load(std::memory_order order, const std::source_location& where) const;
  void store(std::uint64_t value, std::memory_order order, const std::source_location& where);
  /// \param change returns the new value for the value read; nothing: leaves the value unchanged (a
  ///        failed compare-exchange)
  std::uint64_t change(const std::function<std::optional<std::uint64_t>(std::uint64_t)>& change,
                       const char* operation, std::memory_order order, std::memory_order failure,
                       const std::source_location& where);

 private:
  friend class explorer;
  mutable std::uint64_t first_ = 0;  ///< the value outside executions, and at the beginning of each
  mutable std::uint32_t generation_ = 0;  ///< of the execution to which location_ belongs
  mutable int location_ = none;
};

void fence(std::memory_order order, const std::source_location& where = std::source_location::current());

/// A plain variable, whose data races are errors.
class plain_base {
 protected:
  void note_read() const;
  void note_write();
  plain_base() { note_write(); }
  ~plain_base() { note_write(); }

 private:
  mutable std::uint32_t generation_ = 0;
  mutable int writer_ = none;
  mutable std::uint16_t written_ = 0;
  mutable clock read_;
};

template <class T> class plain : plain_base {
 public:
  plain() = default;
  explicit plain(T value) : value_(value) {}
  T get() const {
    note_read();
    return value_;
  }
  void set(T value) {
    note_write();
    value_ = value;
  }

 private:
  T value_{};
};

}  // namespace sukima::memory
