// SPDX-License-Identifier: Apache-2.0
// The memory that the processes of a program share: a memory file, sized and sealed before they start. It has
// offsets instead of pointers, because each process sees it at another address.
#pragma once

#include "doorbell.hpp"

#include <sukima/objects/core.hpp>

#include <pthread.h>

#include <cstdint>
#include <span>
#include <string_view>

namespace sukima::objects::detail {

/// Does the process still hold an end on this side of the stream? Stored by that process, or by the parent
/// after its death; whoever stores 0 then looks whether the side has anybody left.
struct party {
  std::uint32_t process = 0;
  std::atomic<std::uint32_t> open{1};
};

struct stream_facts {
  std::uint32_t outs = 0;  ///< processes that hold sending ends
  std::uint32_t ins = 0;
  std::uint64_t capacity = 0;  ///< slots
  std::uint64_t slot_size = 0;
  std::uint64_t parties_at = 0;  ///< those of the senders, then those of the receivers
  std::uint64_t slots_at = 0;
};
/// A stream between processes.
struct shared_stream : stream_words {
  static constexpr std::size_t most_text = 400;
  pthread_mutex_t out_lock;  ///< robust: around "write the slots, store tail"; one word decides, so there is
  pthread_mutex_t in_lock;  ///< nothing to repair when its holder has died
  /// The process + 1 that writes `failure` and then sets `failed`. Sequentially consistent.
  std::atomic<std::uint32_t> failing{0};
  char failure[most_text]{};  ///< read when `failed` is set
  stream_facts facts;
};

/// Where an object runs.
struct home {
  std::uint32_t process;
  std::uint32_t island;
};

struct segment_facts {
  std::uint32_t processes = 0;
  std::uint32_t objects = 0;
  std::uint32_t model = 0;  ///< model::execution_model
  std::uint64_t size = 0;
  std::uint64_t homes_at = 0;
  std::uint64_t streams_at = 0;  ///< for each the offset of its shared_stream; 0: within one process
  std::uint64_t bells_at = 0;
  std::uint64_t bell_size = 0;
  std::uint64_t graph_at = 0;
  std::uint64_t graph_size = 0;
};
struct segment_header : segment_facts {
  std::atomic<std::uint32_t> stopping{0};  ///< told by doorbells, as is the next one
  std::atomic<std::uint32_t> aborting{0};
};

class segment {
 public:
  /// Makes the memory file and fills in what does not change. The objects' homes are set.
  /// \throws std::system_error no memory
  segment(const program_core& p, std::uint32_t processes, std::uint32_t model, std::string_view graph);
  /// One that the parent process has made. \throws std::system_error
  explicit segment(int file);
  segment(const segment&) = delete;
  segment& operator=(const segment&) = delete;
  ~segment();

  int file() const noexcept { return file_; }
  segment_header& header() const noexcept { return *at<segment_header>(0); }
  std::span<home> homes() const noexcept { return {at<home>(header().homes_at), header().objects}; }
  /// Null: it does not leave its process.
  shared_stream* stream(std::size_t index) const noexcept;
  std::span<party> senders(const shared_stream& s) const noexcept {
    return {at<party>(s.facts.parties_at), s.facts.outs};
  }
  std::span<party> receivers(const shared_stream& s) const noexcept {
    return {at<party>(s.facts.parties_at) + s.facts.outs, s.facts.ins};
  }
  std::byte* slots(const shared_stream& s) const noexcept { return at<std::byte>(s.facts.slots_at); }
  doorbell bell(std::uint32_t process) const noexcept;
  std::string_view graph() const noexcept { return {at<char>(header().graph_at), header().graph_size}; }
  void ring_all() const noexcept;

 private:
  template <class T> T* at(std::uint64_t offset) const noexcept {
    return reinterpret_cast<T*>(base_ + offset);
  }
  void map(std::size_t size);
  int file_ = -1;
  std::byte* base_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace sukima::objects::detail
