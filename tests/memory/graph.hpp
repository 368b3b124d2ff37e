// SPDX-License-Identifier: Apache-2.0
// An execution graph of the C++ memory model, and the check of its consistency.
//
// The model is RC11 (Lahav, Vafeiadis, Kang, Hur, Dreyer: Repairing sequential consistency in C/C++11, PLDI
// 2017), which C++20 adopted, with the release sequences of C++20 (a store and the read-modify-writes that
// follow it):
//   coherence    hb ; eco? is irreflexive
//   atomicity    no write is between a read-modify-write and the write that it reads
//   SC           psc_base ∪ psc_F is acyclic (sequential_consistency.cpp)
//   no thin air  program order ∪ reads-from is acyclic
// RC11 adds the last axiom to C++: events can be added one after the other, each read after its write. So a
// graph grows by one event at a time. A new event has no happens-before successors. A read may take any write
// that coherence allows. A write may be put anywhere into the modification order where coherence and
// atomicity allow it, also before writes that were added earlier.
#pragma once

#include <array>
#include <atomic>
#include <bitset>
#include <cstdint>
#include <string>
#include <vector>

namespace sukima::memory {

inline constexpr unsigned max_threads = 5;
/// Largest number of events in an execution, including the first writes of its locations.
inline constexpr std::size_t max_events = 512;
inline constexpr int none = -1;

/// How many steps of each thread happened before, as far as is known.
struct clock {
  std::array<std::uint16_t, max_threads> steps{};
  void join(const clock& other) noexcept;
  bool covers(int thread, std::uint16_t step) const noexcept {
    return thread == none || steps[static_cast<unsigned>(thread)] >= step;
  }
};

enum class access : std::uint8_t { first, load, store, rmw, fence };

struct event {
  access kind = access::first;
  std::memory_order order = std::memory_order_relaxed;
  int thread = none;  ///< none: the event precedes all threads
  std::uint16_t step = 0;  ///< number in its thread, from 1
  int location = none;
  int reads = none;  ///< the write that a load or read-modify-write reads
  std::size_t index = 0;  ///< index among the events of its thread
  std::size_t place = 0;  ///< of a write: its index in the modification order of its location
  bool consumed = false;  ///< of a write: whether a read-modify-write reads it
  std::uint64_t value = 0;  ///< the value written; of a load: the value read
  std::uint32_t stamp = 0;  ///< the number of its addition
  int site = none;  ///< its access in the program; for traces
  clock known;  ///< events that happen before it, including itself
  clock released;  ///< of a write: the clock with which an acquiring load of it synchronises

  bool writes() const noexcept {
    return kind == access::first || kind == access::store || kind == access::rmw;
  }
  bool is_read() const noexcept { return kind == access::load || kind == access::rmw; }
  bool is_sc() const noexcept { return order == std::memory_order_seq_cst && kind != access::first; }
};

bool acquires(std::memory_order order) noexcept;
bool releases(std::memory_order order) noexcept;

class graph {
 public:
  void clear();

  // Locations. If `thread` is none, the location existed before all threads.
  int add_location(int thread, std::uint64_t value);
  /// Ends an atomic object. \return false: an access is not ordered before the end
  bool end_location(int thread, int location);
  bool ended(int location) const noexcept { return locations_[at(location)].ended; }
  /// Whether the beginning of the object happens before the thread's next step.
  bool knows_location(int thread, int location) const noexcept;

  // Functions that add an event as the last one. The caller sets the event's kind, order, thread, location
  // and value; the functions set the other members. A read-modify-write is placed after the write that it
  // reads.
  int add_load(event e, int write);
  int add_store(event e, std::size_t place);
  int add_rmw(event e, int write);
  int add_fence(event e);

  // The events that coherence and atomicity allow.
  /// \param also another clock that limits the choice; null: only the clock of the thread
  std::vector<int> readable(int thread, int location, const clock* also = nullptr) const;
  std::vector<std::size_t> places(int thread, int location) const;
  bool may_consume(int write) const noexcept { return !events_[at(write)].consumed; }
  /// Whether the SC axiom would hold with this event.
  bool sc_allows_load(const event& e, int write);
  bool sc_allows_store(const event& e, std::size_t place);
  bool sc_allows_rmw(const event& e, int write);

  const event& operator[](int id) const noexcept { return events_[at(id)]; }
  int size() const noexcept { return static_cast<int>(events_.size()); }
  std::uint32_t now() const noexcept { return stamp_; }
  std::uint32_t next_stamp() noexcept { return ++stamp_; }
  /// Returns the last write in the modification order.
  int last_write(int location) const noexcept { return locations_[at(location)].order.back(); }

  // The clock of a thread, for steps that are not atomic accesses.
  const clock& known(int thread) const noexcept { return threads_[at(thread)].known; }
  std::uint16_t step(int thread) noexcept;
  void learn(int thread, const clock& seen) noexcept { threads_[at(thread)].known.join(seen); }

  /// Checks the SC axiom by its definition, over the whole graph.
  bool sc_holds() const;

 private:
  struct location_state {
    std::vector<int> order;  ///< modification order
    std::vector<int> accesses;
    clock accessed;
    int maker = none;
    std::uint16_t made = 0;
    bool ended = false;
  };
  struct thread_state {
    clock known;
    clock read_relaxed;  ///< an acquire fence joins it
    clock at_release_fence;
  };
  using set = std::bitset<max_events>;

  static std::size_t at(int i) noexcept { return static_cast<std::size_t>(i); }
  std::size_t oldest_readable(int thread, int location, const clock* also) const;
  int append(event e);
  void insert_write(int id, std::size_t place);
  void begin(event& e);
  void learn_by_reading(event& e, const event& write);
  clock released_by(const event& e) const;
  void undo_last();
  template <class Add> bool sc_allows(const event& e, Add add);
  /// For graphs without SC fences: adds the edges of the newest event.
  void link_sc(int id);
  bool reaches(const set& from, int to) const;
  bool different_location_path(const event& s, const event& e) const;
  bool happens_before(const event& a, const event& b) const noexcept;
  bool extended_coherence(const event& a, const event& b) const noexcept;
  bool scb(const event& a, const event& b) const;
  bool psc(const event& a, const event& b) const;
  long read_place(const event& e) const noexcept;

  std::vector<event> events_;
  std::vector<location_state> locations_;
  std::array<thread_state, max_threads> threads_;
  std::array<std::vector<int>, max_threads> in_thread_;  ///< the events of each thread
  std::vector<set> sc_after_;
  std::vector<int> sc_events_;
  bool has_sc_fence_ = false;
  std::uint32_t stamp_ = 1;  ///< 0 is the stamp of events before all threads
};

}  // namespace sukima::memory
