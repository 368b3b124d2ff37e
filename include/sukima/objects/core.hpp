// SPDX-License-Identifier: Apache-2.0
// Objects, islands, and streams without their type, for the templates of streams.
//
// Objects of one island take turns on one executor (sukima/detail/executor.hpp), so a stream between them
// (`!shared`) needs neither lock nor atomic instruction. A shared stream has the same layout. The sender
// writes the slot, then stores `tail`; the receiver moves the message out, then stores `head`. Several
// senders, or several receivers, exclude one another by a lock. No object holds this lock while it waits.
//
// The indices and slots of a stream between processes (`remote`) are in memory that the processes share
// (src/objects/process/segment.hpp).
//
// An object waits on a shared stream as follows: it begins a suspension, enters the stream's list and sets
// its bit in `waiting`, then checks the stream once more. The other side stores `tail`, `head` or `state`,
// then reads `waiting`. All four accesses are sequentially consistent, so at least one side sees the store of
// the other.
#pragma once

#include <sukima/context.hpp>
#include <sukima/detail/ambient.hpp>
#include <sukima/detail/executor.hpp>
#include <sukima/errors.hpp>
#include <sukima/objects/errors.hpp>
#include <sukima/objects/select_turns.hpp>
#include <sukima/objects/times.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sukima::objects::detail {

struct island;
struct program_core;
struct recorded_object;
struct stream_core;
struct object_core;

/// One end that an object holds.
struct held_end {
  stream_core* stream;
  bool is_out;
};

/// A wait of an object, for one or several streams.
struct wait_state {
  object_core& object;
  bool shared;  ///< whether other threads may end it, by the number of its suspension
  std::uint64_t number;  ///< that number
};
/// One of the streams for which an object waits.
struct wait_case {
  stream_core* stream = nullptr;
  bool receives = false;
  bool is_listed = false;
  std::uint64_t room = 1;  ///< number of free slots that a sender needs
  wait_state* wait = nullptr;
  wait_case* before = nullptr;
  wait_case* after = nullptr;
};

/// An object, whatever the type of its function.
struct object_core : sukima::detail::bound_task {
  object_core() = default;
  object_core(const object_core&) = delete;
  object_core& operator=(const object_core&) = delete;
  virtual ~object_core() = default;
  /// Calls the user's function.
  virtual void call(context c) = 0;
  /// Destroys the function and its arguments, and so the ends among them.
  virtual void drop() noexcept = 0;

  program_core* program = nullptr;
  island* home = nullptr;
  sukima::detail::fiber* self = nullptr;
  const sukima::detail::ambient_state* ambient = nullptr;  ///< of its fiber; identifies the running object
  /// Ambient state for the fast path of its operations. While the program is recorded it matches no fiber.
  const sukima::detail::ambient_state* recognized = nullptr;
  recorded_object* recorded = nullptr;  ///< while the program is recorded
  std::string name;
  std::string group;
  std::size_t stack = 0;  ///< bytes that object_options::stack has set; 0: the default
  bool at_home = false;  ///< it runs in the process that calls program::run
  /// Made by program::timer: it runs in the island of its first receiver, and ends at program::stop.
  bool is_timer = false;
  std::uint32_t process = 0;  ///< number of its process; 0: the process that calls program::run
  std::uint32_t island_number = 0;  ///< no two islands of a program have the same
  select_turns turns;
  std::vector<std::byte> record;  ///< the last record that it has received
  std::uint64_t room_wanted = 1;  ///< free slots that its last attempt to send needed

  // Guarded by program_core::ends_lock.
  std::vector<held_end> ends;
  std::vector<held_end> dropped;  ///< while an exception unwinds the object; used by the object only
  std::optional<std::string> failing;  ///< text of the exception that has ended it; an end may outlive it
  bool is_cut_off = false;  ///< the cause of that exception is a reader that left early
  std::uint64_t sampled_ticks = 0;  ///< ticks that it computed in the last sample; for the token's holder
  /// Its wait for streams of its island, until `claim`; for the token's holder.
  wait_state* local_wait = nullptr;
  // For a wait for one stream of its island without a time limit.
  wait_state single_wait{*this, false, 0};
  wait_case single_case{.wait = &single_wait};

  // The streams for which the object waits. The object writes them, and the search for deadlocks reads them.
  static constexpr std::size_t most_waits = 32;
  /// A sequence lock: odd while the object waits. pairs with: step_wait_count in stream.cpp; read_wait in
  /// find_deadlock.cpp
  std::atomic<std::uint64_t> wait_count{0};
  /// Of a wait that other threads may end; 0: an island's wait. Its number is sequentially consistent with
  /// program_core::aborting and stopping. pairs with: announce_wait, wait_for_others in stream.cpp; read_wait
  /// in find_deadlock.cpp; abort_here in program.cpp; wake_timers in sleep.cpp
  std::atomic<std::uint64_t> suspension{0};
  /// Number of streams; above most_waits the object counts as alive.
  /// pairs with: announce_wait, wait_in_island in stream.cpp; read_wait in find_deadlock.cpp
  std::atomic<std::uint32_t> waits{0};
  /// The stream, plus 1 for a receiver.
  /// pairs with: announce_wait, wait_in_island in stream.cpp; read_wait in find_deadlock.cpp
  std::atomic<std::uintptr_t> waits_for[most_waits]{};
  /// Slots for which it waits in shared streams.
  /// pairs with: announce_wait in stream.cpp; read_wait in find_deadlock.cpp
  std::atomic<std::uint64_t> rooms[most_waits]{};
  /// The object of its island that waits inside thread_bound for other islands. It keeps this one from
  /// running, or is this one. It stores itself before its wait_count becomes odd, and null after its wait.
  /// pairs with: keep_island in stream.cpp; observe, read_wait in find_deadlock.cpp
  std::atomic<const object_core*> kept_by{nullptr};
  /// Whether its function is about to be called, or was called. Sequentially consistent with
  /// program_core::aborting. pairs with: run_object, abort_here in program.cpp
  std::atomic<bool> begun{false};
  /// Whether its ends are closed, or it is an object of another process.
  /// pairs with: run_object in program.cpp; drop_others in process_roles.cpp; observe, read_wait in
  /// find_deadlock.cpp
  std::atomic<bool> has_ended{false};
};

/// Objects that take turns.
struct island : sukima::detail::executor {
  /// The most messages that an object handles in a row before others of its island run
  /// (src/objects/schedule/slice.hpp).
  static constexpr unsigned slice = 64;
  using executor::executor;
  unsigned budget = slice;
};

struct wait_list {
  wait_case* first = nullptr;
  wait_case* last = nullptr;
  void push(wait_case& c) noexcept {
    c.before = last;
    c.after = nullptr;
    (last != nullptr ? last->after : first) = &c;
    last = &c;
    c.is_listed = true;
  }
  wait_case& pop() noexcept {
    wait_case& c = *first;
    first = c.after;
    (first != nullptr ? first->before : last) = nullptr;
    c.is_listed = false;
    return c;
  }
  void remove(wait_case& c) noexcept {
    (c.before != nullptr ? c.before->after : first) = c.after;
    (c.after != nullptr ? c.after->before : last) = c.before;
    c.is_listed = false;
  }
};

/// The words of a stream that its two sides share. The indices count messages (slots, if messages are
/// encoded) and never wrap. A shared stream stores an index or `state` before it reads `waiting`, and a
/// waiting object does the reverse, so these accesses are sequentially consistent. A side reads its own index
/// relaxed, and the index of the other side before it uses slots, which is an acquire.
struct stream_words {  // NOLINT(clang-analyzer-optin.performance.Padding): a line for each side
  // The cache line of the receivers.
  /// pairs with: room, move, has_message, has_room, give_back_in_island; is_ready, read_wait in
  /// find_deadlock.cpp; repair in pipe.cpp; wake_here in remote.cpp
  alignas(64) std::atomic<std::uint64_t> head{0};
  std::uint64_t tail_seen = 0;
  // The cache line of the senders.
  /// pairs with: messages, move, has_message, has_room, publish_in_island; is_ready, read_wait in
  /// find_deadlock.cpp; repair in pipe.cpp; wake_here in remote.cpp
  alignas(64) std::atomic<std::uint64_t> tail{0};
  std::uint64_t head_seen = 0;
  // Words that are seldom written.
  /// The sides that wait, of a shared stream; otherwise the lists show it.
  /// pairs with: move; enlist, clear_waiting, withdraw in stream.cpp; leave_slots in failures.cpp; wake_here,
  /// wake_remote in remote.cpp
  alignas(64) std::atomic<std::uint32_t> waiting{0};
  /// The flags closed, broken, failed and cut_off of stream_core. A flag of a failure is set after its text.
  /// pairs with: now; is_ready, close_end, release in stream.cpp; is_ready in find_deadlock.cpp; close_party,
  /// fail, wake_here in remote.cpp
  std::atomic<std::uint32_t> state{0};
  /// Number of messages that were dropped for newer ones. no partner: a count
  std::atomic<std::uint64_t> dropped{0};
};

/// The additional data of a stream between processes (src/objects/stream/remote.hpp).
struct remote_stream;
struct remote_deleter {
  void operator()(remote_stream* r) const noexcept;
};

/// A stream, whatever the type of its messages.
struct stream_core {  // NOLINT(clang-analyzer-optin.performance.Padding): a line for each side
  static constexpr std::uint32_t closed = 1;  ///< no sender is left
  static constexpr std::uint32_t broken = 2;  ///< no receiver is left
  static constexpr std::uint32_t failed = 4;  ///< a sender has ended by an exception
  static constexpr std::uint32_t cut_off = 8;  ///< that sender failed because its own reader had left
  static constexpr std::uint32_t receivers_wait = 1;
  static constexpr std::uint32_t senders_wait = 2;

  stream_words own_words;
  stream_words* words = &own_words;  ///< or in the memory of several processes
  /// Whether its ends are, or may be, in several islands. Its objects read this member. When their island is
  /// divided, the holder of the token of all of them writes it. The search for deadlocks reads it, too.
  bool shared = true;
  bool many_out = false;
  bool many_in = false;
  bool drops_oldest = false;  ///< a full stream drops its oldest message, so senders take messages out, too
  bool in_records = false;  ///< its messages pass as records: put_record, take_record
  bool piped = false;  ///< the records pass through a pipe (src/objects/stream/pipe.hpp)
  std::uint64_t capacity = 0;  ///< a power of two
  std::byte* slots = nullptr;
  const std::size_t message_size;  ///< sizeof of a message
  std::size_t slot_size = 0;
  std::size_t slot_alignment = 0;
  void (*destroy)(void* message) noexcept = nullptr;
  program_core* program = nullptr;
  std::uint32_t number = 0;  ///< among the program's streams
  std::unique_ptr<remote_stream, remote_deleter> remote;  ///< null: all its ends are in this process
  /// Number of open sending ends; in this process once it runs. Relaxed before that, and for the search for
  /// deadlocks, which the lock of the ends orders. pairs with: close_end in stream.cpp; observe_all in
  /// find_deadlock.cpp
  std::atomic<std::uint32_t> outs{0};
  /// The same for receiving ends. pairs with: close_end in stream.cpp; observe_all in find_deadlock.cpp
  std::atomic<std::uint32_t> ins{0};
  std::uint64_t tail_at_sample = 0;  ///< `tail` when its island's sample began; for the token's holder
  std::mutex out_lock;  ///< senders in several islands hold it to write the slot and store `tail`
  std::mutex in_lock;  ///< receivers in several islands hold it to empty the slot and store `head`
  std::mutex lists_lock;  ///< guards the lists and `failure`, if the stream is shared
  wait_list receivers;
  wait_list senders;
  std::string name;
  std::string failure;
  const char* type = "";  ///< mangled type of its messages
  enum class journey { none, copied, encoded } to_processes = journey::none;

  stream_core(std::string called, std::uint64_t room, std::size_t size, std::size_t alignment);
  stream_core(const stream_core&) = delete;
  stream_core& operator=(const stream_core&) = delete;
  ~stream_core();
  /// Sets the capacity, before the program runs. \param room is rounded up to a power of two \throws
  /// std::system_error
  void set_capacity(std::uint64_t room);

  std::byte* slot(std::uint64_t index) const noexcept { return slots + (index & (capacity - 1)) * slot_size; }
  /// The slot of a message of type T that is not encoded.
  template <class T> T* slot_of(std::uint64_t index) const noexcept {
    return reinterpret_cast<T*>(slots + (index & (capacity - 1)) * sizeof(T));
  }
  bool has_message() const noexcept {
    return words->tail.load(std::memory_order_seq_cst) != words->head.load(std::memory_order_seq_cst);
  }
  bool has_room(std::uint64_t wanted) const noexcept {
    return words->tail.load(std::memory_order_seq_cst) - words->head.load(std::memory_order_seq_cst) +
               wanted <=
           capacity;
  }
  std::uint32_t now() const noexcept { return words->state.load(std::memory_order_acquire); }

  /// Returns the number of free slots from an index on, for the sender. If fewer than wanted are known, reads
  /// `head` again. To be called under the senders' lock if there are several senders.
  /// \throws stream_failed if the indices are impossible: another process wrote into the shared memory
  std::uint64_t room(std::uint64_t from, std::uint64_t wanted = 1) {
    if (!shared) return capacity - (from - own_words.head.load(std::memory_order_relaxed));
    std::uint64_t& seen = words->head_seen;
    if (from - seen + wanted > capacity) {
      seen = words->head.load(std::memory_order_acquire);
      if (from - seen > capacity) [[unlikely]]
        throw_corrupt();
    }
    return capacity - (from - seen);
  }
  /// Returns the number of messages from an index on, for the receiver; otherwise as `room`.
  std::uint64_t messages(std::uint64_t from) {
    if (!shared) return own_words.tail.load(std::memory_order_relaxed) - from;
    std::uint64_t& seen = words->tail_seen;
    if (seen == from) {
      seen = words->tail.load(std::memory_order_acquire);
      if (seen - from > capacity) [[unlikely]]
        throw_corrupt();
    }
    return seen - from;
  }
  /// Publishes the slots below `to`, which the sender has written.
  void publish(std::uint64_t to, std::uint64_t count) noexcept {
    move(words->tail, to, count, receivers_wait);
  }
  /// Gives the slots below `to` back, which the receiver has emptied.
  void give_back(std::uint64_t to, std::uint64_t count) noexcept {
    move(words->head, to, count, senders_wait);
  }
  // The same for a stream that is not shared, which only objects of its island use, one at a time.
  void publish_in_island(std::uint64_t to) noexcept {
    own_words.tail.store(to, std::memory_order_release);  // pairs with: read_wait in find_deadlock.cpp
    if (receivers.first != nullptr) wake_in_island(receivers);
  }
  void give_back_in_island(std::uint64_t to) noexcept {
    own_words.head.store(to, std::memory_order_release);  // pairs with: read_wait in find_deadlock.cpp
    if (senders.first != nullptr) wake_in_island(senders);
  }
  /// Locks out other senders, or other receivers, of several islands while the caller uses slots and moves
  /// the index.
  void lock_side(bool out);
  void unlock_side(bool out) noexcept;

  void wake(std::uint32_t side, std::uint64_t count) noexcept;
  /// Called when a message or room is left unused, because an exception ends the operation: wakes the next
  /// waiting object of that side. The caller may have been woken for what it leaves.
  void leave_slots(std::uint32_t side) noexcept;
  /// Takes the oldest message out if the stream is still full. The caller holds no lock of a side.
  void drop_oldest(object_core& sender);
  /// Prepares for ends in several islands, before its island is divided. For the token's holder.
  void become_shared() noexcept;
  /// Wakes the first of its receivers, or of its senders. \pre it is not shared
  void wake_in_island(wait_list& list) noexcept;
  void release(bool out, object_core* owner) noexcept;
  [[noreturn]] void throw_broken(const object_core* sender) const;
  void throw_if_failed() const;
  [[noreturn]] void throw_corrupt() const;
  /// Returns the first invariant that does not hold, as a sentence, or null. For the holder of `lists_lock`,
  /// or of the token if the stream is not shared. \par Complexity linear in the waiting objects
  const char* violated_invariant() const noexcept;

 private:
  void move(std::atomic<std::uint64_t>& index, std::uint64_t to, std::uint64_t count,
            std::uint32_t side) noexcept {
    if (shared) {
      // Before `waiting` is read. pairs with: enlist, is_ready in stream.cpp; wake_here in remote.cpp
      index.store(to, std::memory_order_seq_cst);
      if ((words->waiting.load(std::memory_order_seq_cst) & side) != 0) wake(side, count);
    } else {
      index.store(to, std::memory_order_release);  // pairs with: read_wait in find_deadlock.cpp
      if ((side == receivers_wait ? receivers : senders).first != nullptr) wake(side, count);
    }
  }
};

/// Returns the running object, which must be the owner of the end. \throws usage_error if another object runs
object_core& find_user(stream_core& core, object_core*& owner, bool out);
inline object_core& user_of(stream_core& s, object_core*& owner, bool out) {
  if (owner != nullptr && owner->recognized == sukima::detail::find_ambient()) [[likely]]
    return *owner;
  return find_user(s, owner, out);
}

/// Waits until one of the cases may be ready, or until that time. \returns false if the time has come
/// \throws aborted when the program is aborted
bool wait(object_core& me, wait_case* cases, std::size_t count, const clock::time_point* until);
/// The same for a stream that is not shared, and without a time limit.
void wait_in_island(object_core& me, stream_core& core, bool receives);
inline bool wait_for(object_core& me, stream_core& s, bool receives, const clock::time_point* until = nullptr,
                     std::uint64_t room = 1) {
  if (!s.shared && until == nullptr) {
    wait_in_island(me, s, receives);
    return true;
  }
  wait_case c;
  c.stream = &s;
  c.receives = receives;
  c.room = room;
  return wait(me, &c, 1, until);
}

/// Polls at the end of a slice: other objects of the island run first, or another island gets the worker.
void turn_over(object_core& me);
inline void count_message(object_core& me, unsigned messages = 1) {
  unsigned& budget = me.home->budget;
  if (budget > messages) [[likely]]
    budget -= messages;
  else
    turn_over(me);
}

bool stop_requested(const stream_core& s) noexcept;
/// Returns the running object. \param called name of the function, for the message \throws usage_error if no
/// object runs
object_core& running_object(const char* called);

}  // namespace sukima::objects::detail
