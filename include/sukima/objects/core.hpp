// SPDX-License-Identifier: Apache-2.0
// Objects, islands, and streams without their type, for the templates of streams.
//
// Objects of one island take turns on one executor (sukima/detail/executor.hpp), so a stream between
// them (`!shared`) needs neither lock nor atomic instruction. A shared stream has the same layout. The
// sender writes the slot, then stores `tail`; the receiver moves the message out, then stores `head`.
// Several senders, or several receivers, exclude one another by a lock. No object holds it while it waits.
//
// The indices and slots of a stream between processes (`remote`) are in memory that the processes share
// (src/objects/process/segment.hpp).
//
// Waiting on a shared stream: the waiter begins a suspension, enters the stream's list and sets its bit in
// `waiting`, then looks once more. The other side stores `tail`, `head` or `state`, then reads
// `waiting`. All four are sequentially consistent, so one of them sees the other.
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
  bool out;
};

/// A wait of an object.
struct wait_state {
  object_core& object;
  bool shared;  ///< other threads may end it, by the number of its suspension
  std::uint64_t number;
};
/// One of the streams that a wait is for.
struct wait_case {
  stream_core* stream = nullptr;
  bool receives = false;
  bool is_listed = false;
  std::uint64_t room = 1;  ///< how many slots a sender wants
  wait_state* wait = nullptr;
  wait_case* before = nullptr;
  wait_case* after = nullptr;
};

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
  const sukima::detail::ambient_state* ambient = nullptr;  ///< of its fiber; shows which object runs
  /// Ambient state for the fast path of its operations; while the program is recorded it matches no fiber.
  const sukima::detail::ambient_state* recognized = nullptr;
  recorded_object* recorded = nullptr;  ///< while the program is recorded
  std::string name;
  std::string group;
  std::size_t stack = 0;  ///< bytes that it asks for
  bool at_home = false;  ///< in the process that calls program::run
  /// Made by program::timer: it runs in the island of its first receiver, and ends at program::stop.
  bool is_timer = false;
  std::uint32_t process = 0;  ///< its number; 0: that process
  std::uint32_t island_number = 0;  ///< no two islands of a program have the same
  select_turns turns;
  std::vector<std::byte> record;  ///< the last one that it has received
  std::uint64_t room_wanted = 1;  ///< slots that were missing for its last attempt to send

  // Guarded by program_core::ends_lock.
  std::vector<held_end> ends;
  std::vector<held_end> dropped;  ///< while an exception unwinds the object; used by the object only
  const std::string* failing = nullptr;  ///< text of the exception that ends it
  bool is_cut_off = false;  ///< that exception follows from a reader that left early
  std::uint64_t sampled_ticks = 0;  ///< computed in the last sample; for the token's holder
  /// It waits for streams of its island, until claim; for the token's holder.
  wait_state* local_wait = nullptr;
  // Of a wait for one stream of its island without a time.
  wait_state single_wait{*this, false, 0};
  wait_case single_case{.wait = &single_wait};

  // The streams that it waits for, written by itself, and read by the search for deadlocks. `wait_count` is a
  // sequence lock: odd while the object waits. `waits_for` holds stream | 1 for a receiver.
  static constexpr std::size_t most_waits = 32;
  std::atomic<std::uint64_t> wait_count{0};
  std::atomic<std::uint64_t> suspension{0};  ///< of a wait that other threads may end; 0: an island's wait
  std::atomic<std::uint32_t> waits{0};  ///< streams; above most_waits: counts as alive
  std::atomic<std::uintptr_t> waits_for[most_waits]{};
  std::atomic<std::uint64_t> rooms[most_waits]{};  ///< slots that it waits for in shared streams
  /// Its function is about to be called. Sequentially consistent. Partner: program_core::abort.
  std::atomic<bool> begun{false};
  std::atomic<bool> over{false};
};

/// Objects that take turns.
struct island : sukima::detail::executor {
  /// Messages that an object handles in a row, at most, before it lets others go first
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

/// The words of a stream that its two sides share. The indices count messages (slots, if these are encoded)
/// and never wrap.
struct stream_words {  // NOLINT(clang-analyzer-optin.performance.Padding): a line for each side
  // The receivers' line.
  alignas(64) std::atomic<std::uint64_t> head{0};
  std::uint64_t tail_seen = 0;
  // The senders' line.
  alignas(64) std::atomic<std::uint64_t> tail{0};
  std::uint64_t head_seen = 0;
  // Written seldom.
  alignas(64) std::atomic<std::uint32_t> waiting{0};  ///< of a shared stream; otherwise the lists show it
  std::atomic<std::uint32_t> state{0};
  /// Messages that made room for newer ones. Relaxed: a count. Partners: drop_oldest, dropped.
  std::atomic<std::uint64_t> dropped{0};
};

/// The additional data of a stream between processes (src/objects/stream/remote.hpp).
struct remote_stream;
struct remote_deleter {
  void operator()(remote_stream* r) const noexcept;
};

/// A stream, whatever its type.
struct stream_core {  // NOLINT(clang-analyzer-optin.performance.Padding): a line for each side
  static constexpr std::uint32_t closed = 1;  ///< no sender is left
  static constexpr std::uint32_t broken = 2;  ///< no receiver is left
  static constexpr std::uint32_t failed = 4;  ///< a sender has ended by an exception
  static constexpr std::uint32_t cut_off = 8;  ///< that sender failed because its own reader had left
  static constexpr std::uint32_t receivers_wait = 1;
  static constexpr std::uint32_t senders_wait = 2;

  stream_words own_words;
  stream_words* words = &own_words;  ///< or in the memory of several processes
  /// Its ends are in several islands, or may be. Its objects read it. The holder of the token of all of them
  /// writes it when their island is divided. Partner of that write: is_ready (find_deadlock.cpp).
  bool shared = true;
  bool many_out = false;
  bool many_in = false;
  bool drops_oldest = false;  ///< when full it makes room, so senders take messages out, too
  bool in_records = false;  ///< its messages pass as records: put_record, take_record
  bool piped = false;  ///< they go through a pipe (src/objects/stream/pipe.hpp)
  std::uint64_t capacity = 0;  ///< a power of two
  std::byte* slots = nullptr;
  const std::size_t message_size;  ///< as it was declared
  std::size_t slot_size = 0;
  std::size_t slot_alignment = 0;
  void (*destroy)(void* message) noexcept = nullptr;
  program_core* program = nullptr;
  std::uint32_t number = 0;  ///< among the program's streams
  std::unique_ptr<remote_stream, remote_deleter> remote;  ///< null: all its ends are in this process
  std::atomic<std::uint32_t> outs{0};  ///< of this process once it runs
  std::atomic<std::uint32_t> ins{0};
  std::uint64_t tail_at_sample = 0;  ///< when its island's sample began; for the token's holder
  std::mutex out_lock;  ///< of several senders in several islands: around "write the slot, store tail"
  std::mutex in_lock;
  std::mutex lists_lock;  ///< guards the lists and `failure`, if the stream is shared
  wait_list receivers;
  wait_list senders;
  std::string name;
  std::string failure;
  const char* type = "";  ///< of its messages, mangled
  enum class journey { none, copied, encoded } to_processes = journey::none;

  stream_core(std::string called, std::uint64_t room, std::size_t size, std::size_t alignment);
  stream_core(const stream_core&) = delete;
  stream_core& operator=(const stream_core&) = delete;
  ~stream_core();
  /// Before the program runs. \param room is rounded up to a power of two \throws std::system_error
  void set_capacity(std::uint64_t room);

  std::byte* slot(std::uint64_t index) const noexcept { return slots + (index & (capacity - 1)) * slot_size; }
  /// The same for messages of type T that are not encoded.
  template <class T> T* slot_of(std::uint64_t index) const noexcept {
    return reinterpret_cast<T*>(slots + (index & (capacity - 1)) * sizeof(T));
  }
  bool has_message() const noexcept { return words->tail.load() != words->head.load(); }
  bool has_room(std::uint64_t wanted) const noexcept {
    return words->tail.load() - words->head.load() + wanted <= capacity;
  }
  std::uint32_t now() const noexcept { return words->state.load(std::memory_order_acquire); }

  /// Free slots from the index on, for the sender: at least those that are known, and all of them if fewer
  /// than wanted are known. Under the senders' lock if there are several.
  /// \throws stream_failed the indices cannot be: another process wrote into the shared memory
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
  /// Messages from the index on, for the receiver; as room.
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
  /// The sender has written the slots below `to`. Partner: wait() (stream.cpp).
  void publish(std::uint64_t to, std::uint64_t count) noexcept {
    move(words->tail, to, count, receivers_wait);
  }
  /// The receiver has emptied them.
  void give_back(std::uint64_t to, std::uint64_t count) noexcept {
    move(words->head, to, count, senders_wait);
  }
  // The same for a stream that is not shared: only objects of its island use it, one at a time.
  void publish_in_island(std::uint64_t to) noexcept {
    own_words.tail.store(to, std::memory_order_release);  // partner: the search for deadlocks
    if (receivers.first != nullptr) wake_in_island(receivers);
  }
  void give_back_in_island(std::uint64_t to) noexcept {
    own_words.head.store(to, std::memory_order_release);
    if (senders.first != nullptr) wake_in_island(senders);
  }
  /// Several senders, or several receivers, in several islands exclude one another while they write slots and
  /// move the index.
  void lock_side(bool out);
  void unlock_side(bool out) noexcept;

  void wake(std::uint32_t side, std::uint64_t count) noexcept;
  /// An object of that side, perhaps one that was woken, leaves a message or room: wakes the next that waits.
  void pass_on(std::uint32_t side) noexcept {
    const wait_list& list = side == receivers_wait ? receivers : senders;
    if (shared ? (words->waiting.load() & side) != 0 : list.first != nullptr) wake(side, 1);
  }
  /// Takes the oldest message out if the stream is still full. No lock of a side is held. Partner of the
  /// count: dropped
  void drop_oldest(object_core& sender);
  /// Prepares for ends in several islands, before its island is divided. For the token's holder.
  void become_shared() noexcept;
  /// Wakes the first of its receivers, or of its senders. \pre it is not shared
  void wake_in_island(wait_list& list) noexcept;
  void release(bool out, object_core* owner) noexcept;
  [[noreturn]] void throw_broken(const object_core* sender) const;
  void throw_if_failed() const;
  [[noreturn]] void throw_corrupt() const;
  /// The first invariant that does not hold, as a sentence, or null. For the holder of `lists_lock`, or of
  /// the token if the stream is not shared. \par Complexity linear in the waiting objects
  const char* violated_invariant() const noexcept;

 private:
  void move(std::atomic<std::uint64_t>& index, std::uint64_t to, std::uint64_t count,
            std::uint32_t side) noexcept {
    if (shared) {
      index.store(to);
      if ((words->waiting.load() & side) != 0) wake(side, count);
    } else {
      index.store(to, std::memory_order_release);
      if ((side == receivers_wait ? receivers : senders).first != nullptr) wake(side, count);
    }
  }
};

/// Locks only if asked to.
class optional_lock {
 public:
  optional_lock(std::mutex& of, bool wanted) : lock_(wanted ? &of : nullptr) {
    if (lock_ != nullptr) lock_->lock();
  }
  optional_lock(const optional_lock&) = delete;
  optional_lock& operator=(const optional_lock&) = delete;
  ~optional_lock() {
    if (lock_ != nullptr) lock_->unlock();
  }

 private:
  std::mutex* lock_;
};

class side_lock {
 public:
  side_lock(stream_core& of, bool out)
      : locked_(of.shared && (out ? of.many_out : of.many_in) ? &of : nullptr), out_(out) {
    if (locked_ != nullptr) locked_->lock_side(out_);
  }
  side_lock(const side_lock&) = delete;
  side_lock& operator=(const side_lock&) = delete;
  ~side_lock() {
    if (locked_ != nullptr) locked_->unlock_side(out_);
  }

 private:
  stream_core* locked_;
  bool out_;
};

/// The object that uses an end of the stream now: its owner. \throws usage_error for any other
object_core& find_user(stream_core& core, object_core*& owner, bool out);
inline object_core& user_of(stream_core& s, object_core*& owner, bool out) {
  if (owner != nullptr && owner->recognized == sukima::detail::find_ambient()) [[likely]]
    return *owner;
  return find_user(s, owner, out);
}

/// Waits until one of the cases may be ready, or until that time. False: the time has come.
/// \throws aborted when the program is aborted
bool wait(object_core& me, wait_case* cases, std::size_t count, const clock::time_point* until);
/// The same for a stream that is not shared, and without a time.
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

/// Polls: at the end of a slice others of the island go first, or another island gets the worker.
void turn_over(object_core& me);
inline void count_message(object_core& me, unsigned messages = 1) {
  unsigned& budget = me.home->budget;
  if (budget > messages) [[likely]]
    budget -= messages;
  else
    turn_over(me);
}

bool stop_requested(const stream_core& s) noexcept;
/// The object that runs. \param called the function, for the message \throws usage_error no object runs
object_core& running_object(const char* called);

}  // namespace sukima::objects::detail
