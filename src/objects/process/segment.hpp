// SPDX-License-Identifier: Apache-2.0
// The memory that the processes of a program share: a memory file, sized and sealed before they start. It has
// offsets instead of pointers, because each process maps it at another address.
#pragma once

#include "process/doorbell.hpp"

#include <base/shared/descriptor.hpp>
#include <sukima/objects/core.hpp>

#include <pthread.h>

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace sukima::objects::detail {

/// Whether a process still holds an end on this side of the stream. That process stores it, or the parent
/// after the process's death. After storing 0, that process checks whether the side has any process left.
struct party {
  std::uint32_t process = 0;
  /// Sequentially consistent: of two processes that store 0 at least one reads both words.
  /// pairs with: close_party, close_ends_of_dead_process in remote.cpp
  std::atomic<std::uint32_t> open{1};
};

/// The constant facts about a stream between processes.
struct stream_facts {
  std::uint32_t outs = 0;  ///< processes that hold sending ends
  std::uint32_t ins = 0;  ///< processes that hold receiving ends
  std::uint64_t capacity = 0;  ///< number of slots
  std::uint64_t slot_size = 0;
  std::uint64_t parties_at = 0;  ///< offset of the parties: the senders, then the receivers
  std::uint64_t slots_at = 0;  ///< offset of the slots; with a pipe: of the records' lengths
  std::uint64_t large_at = 0;  ///< offset of the room for an encoded message that is too large for the slots
  int pipe_in = -1;  ///< descriptor to read the pipe, the same in each process; -1: there is no pipe
  int pipe_out = -1;  ///< descriptor to write the pipe
};
/// A stream between processes.
struct shared_stream : stream_words {
  static constexpr std::size_t most_text = 400;
  // Robust locks. Holders write the slots and store `tail`, or read the slots and store `head`. One word
  // decides, so nothing needs a repair after the death of a holder.
  pthread_mutex_t out_lock;
  pthread_mutex_t in_lock;
  /// Number + 1 of the process that writes `failure` and then sets `failed`. Sequentially consistent,
  /// because a failure is rare. pairs with: fail in remote.cpp
  std::atomic<std::uint32_t> failing{0};
  /// With a pipe: 1 if a process has inherited a lock from a dead one, and the indices were not repaired yet.
  /// Sequentially consistent, because its writer may die before it releases the lock that orders the word.
  /// pairs with: lock, repair, lock_piped in pipe.cpp
  std::atomic<std::uint32_t> repair{0};
  /// Index after the newest record whose message is in the room for large messages; the room is free again
  /// when `head` has reached it. If it is beyond `tail`, the sender died before it published that record. For
  /// senders, under their lock.
  std::uint64_t large_until = 0;
  char failure[most_text]{};  ///< read only if `failed` is set
  stream_facts facts;
};

/// The place where an object runs.
struct home {
  std::uint32_t process;
  std::uint32_t island;
  std::uint64_t waits_at;  ///< offset of its object_waits
};

/// The answers of a process to the parent's search for deadlocks (watch_round). Model: deadlock.pml.
struct process_words {
  /// The last round that the process has answered: the object_waits of its objects are those of that round.
  /// The process stores this word after them. pairs with: answer_watch, ask_processes in watch.cpp
  alignas(64) std::atomic<std::uint32_t> answered{0};
  /// 1 if its objects have ended, and its ends are closed. The process stores it, or the parent after the
  /// process's death. pairs with: ask_processes in watch.cpp; run_islands in program.cpp; run_as_parent in
  /// process_roles.cpp; close_ends_of_dead_process in remote.cpp
  std::atomic<std::uint32_t> gone{0};
};
/// An observed_object in shared memory. A number for each of its ends follows: twice that of the stream, plus
/// 1 for a sending end.
struct object_waits {
  struct one {
    std::uint32_t stream, receives;
    std::uint64_t fill;
  };
  std::uint64_t count = 0;
  std::uint32_t has_ended = 0;
  std::uint32_t waits = 0;
  std::uint32_t ends = 0;
  std::uint32_t most_ends = 0;
  std::uint32_t kept_by = 0;
  one all[object_core::most_waits]{};
};

struct segment_facts {
  std::uint32_t processes = 0;
  std::uint32_t objects = 0;
  std::uint32_t streams = 0;
  std::uint32_t model = 0;  ///< model::execution_model
  std::uint64_t size = 0;
  std::uint64_t homes_at = 0;
  std::uint64_t streams_at = 0;  ///< for each stream the offset of its shared_stream; 0: within one process
  std::uint64_t bells_at = 0;
  std::uint64_t bell_size = 0;
  std::uint64_t processes_at = 0;
  std::uint64_t graph_at = 0;
  std::uint64_t graph_size = 0;
};
struct segment_header : segment_facts {
  // Doorbells announce these words, so they are sequentially consistent, as the words of the doorbells.
  /// 1 if the program was stopped. pairs with: stop, run_as_parent, run_as_child in process_roles.cpp; run in
  /// listener.cpp
  std::atomic<std::uint32_t> stopping{0};
  /// 1 if the program was aborted. abort_began reads it without a ring. pairs with: abort, abort_began,
  /// run_as_parent, run_as_child in process_roles.cpp; run in listener.cpp
  std::atomic<std::uint32_t> aborting{0};
  /// The round to which the parent expects answers. pairs with: ask_processes, answer_watch in watch.cpp
  std::atomic<std::uint32_t> watch_round{0};
};

/// Bytes of the largest encoded message. The room for it takes address space; it takes memory only as far as
/// a message has filled it.
inline constexpr std::uint64_t most_record_bytes = std::uint64_t{64} << 20;

/// The mapped memory file.
class segment {
 public:
  /// Makes the memory file and fills in the constant parts. \pre the objects' homes are set
  /// \throws std::system_error if there is no memory
  segment(const program_core& p, std::uint32_t processes, std::uint32_t model, std::string_view graph);
  /// Maps a file that the parent process has made. \throws std::system_error
  explicit segment(int file);
  segment(const segment&) = delete;
  segment& operator=(const segment&) = delete;
  ~segment();

  int file() const noexcept { return file_.get(); }
  /// Returns both ends of all pipes.
  const std::vector<descriptor>& pipes() const noexcept { return pipes_; }
  segment_header& header() const noexcept { return *at<segment_header>(0); }
  std::span<home> homes() const noexcept { return {at<home>(header().homes_at), header().objects}; }
  /// Returns a stream between processes; null if the stream does not leave its process.
  shared_stream* stream(std::size_t index) const noexcept;
  std::span<party> senders(const shared_stream& s) const noexcept {
    return {at<party>(s.facts.parties_at), s.facts.outs};
  }
  std::span<party> receivers(const shared_stream& s) const noexcept {
    return {at<party>(s.facts.parties_at) + s.facts.outs, s.facts.ins};
  }
  std::byte* slots(const shared_stream& s) const noexcept { return at<std::byte>(s.facts.slots_at); }
  std::byte* large(const shared_stream& s) const noexcept { return at<std::byte>(s.facts.large_at); }
  doorbell bell(std::uint32_t process) const noexcept;
  std::string_view graph() const noexcept { return {at<char>(header().graph_at), header().graph_size}; }
  process_words& process(std::uint32_t number) const noexcept {
    return at<process_words>(header().processes_at)[number];
  }
  object_waits& waits(std::size_t object) const noexcept {
    return *at<object_waits>(homes()[object].waits_at);
  }
  std::span<std::uint32_t> ends(object_waits& of) const noexcept {
    return {reinterpret_cast<std::uint32_t*>(&of + 1), of.most_ends};
  }
  void ring_all() const noexcept;
  /// Returns the first invariant of the constant parts that does not hold, as a sentence, or null.
  const char* violated_invariant() const;

 private:
  template <class T> T* at(std::uint64_t offset) const noexcept {
    return reinterpret_cast<T*>(base_ + offset);
  }
  void map(std::size_t size);
  void place_objects(const program_core& p, const std::vector<std::uint64_t>& waits_at);
  void take_pipes(const stream_facts& of);
  descriptor file_;
  std::vector<descriptor> pipes_;
  std::byte* base_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace sukima::objects::detail
