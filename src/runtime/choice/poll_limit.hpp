// SPDX-License-Identifier: Apache-2.0
// The poll limit of a fiber: the one word through which other threads send requests to running code.
//
// The fiber's own code compares each choice point with it, when a fork has been entered and when its first
// branch has ended (`poll` and `untouched` in sukima/detail/choice_point.hpp). On the fast path it reads
// nothing else and writes nothing. `choice point >= limit` means: nothing was split off from it, and no poll
// is requested.
//
// Two sides write the word, both by exchange:
//   other threads first write their request (a flag of the worker, `publish_wanted`, the worker
//   counts, a steal request), then raise the limit above all choice points (`request_poll`); the
//   owner, in the slow path of a poll, first writes the true limit (`publish_limit`), then reads all
//   requests.
// So either the owner reads the request, or the limit is raised after the owner's write and the next poll is
// slow again. In the pattern "write the flag, read the limit" against "write the limit, read the flag" both
// sides may read old values unless all four accesses are sequentially consistent. They are, and
// publish_limit must be an exchange: x86-64 lets the reads that follow overtake a plain store.
//
// A write of the true limit may overwrite a raised limit, so the owner must read all requests afterwards.
// poll_slow (poll.cpp) and execute (execute.cpp) do that. Invariant of a fiber between two polls:
//   limit >= true_limit >= clean_from >= oldest (the limit may be raised; poll.hpp)
// Model: model/limit.pml.
#pragma once

#include "stress.hpp"

#include <sukima/detail/atomics.hpp>

#include <cstdint>

namespace sukima::detail {

/// An address above every choice point.
inline char* const all_ones = reinterpret_cast<char*>(~std::uintptr_t{0});

class poll_limit {
 public:
  /// The limit of small fibers: they share a limit that is always raised, and no function below changes it.
  poll_limit() noexcept = default;
  /// \param word of the fiber's gate
  explicit poll_limit(atomic<char*>& word) noexcept : word_(&word) {}

  /// Makes the fiber's next poll slow. Any thread, after it has written its request. If the limit is already
  /// raised, reading it is sufficient, because load and exchange are sequentially consistent. If the fiber
  /// has stopped running, or was given back, this costs one needless slow path.
  void request_poll() const noexcept {
    stress_point();
    if (word_ != nullptr && word_->load(std::memory_order_seq_cst) != all_ones)
      word_->exchange(all_ones, std::memory_order_seq_cst);
  }

  /// Owner: writes the true limit. All requests must be read afterwards.
  void publish_limit(char* limit) const noexcept {
    stress_point();
    if (word_ != nullptr) word_->exchange(limit, std::memory_order_seq_cst);
    stress_point();
  }

  /// Owner: whether the limit is at least this high, so that choice points below poll slowly. Only the owner
  /// lowers it.
  bool covers(const char* limit) const noexcept {
    return word_ == nullptr || word_->load(std::memory_order_seq_cst) >= limit;
  }

  /// Owner: a task begins. Writes the limit only if it differs. Without a write no raised limit is
  /// overwritten, so the load is relaxed.
  void begin_limit(char* limit) const noexcept {
    if (word_ != nullptr && word_->load(std::memory_order_relaxed) != limit) publish_limit(limit);
  }

  /// Owner: the true limit has grown since publish_limit. A request that arrived in between stays pending.
  void restore_limit(char* limit) const noexcept {
    if (word_ != nullptr && word_->exchange(limit, std::memory_order_seq_cst) == all_ones)
      word_->exchange(all_ones, std::memory_order_seq_cst);
  }

  /// Owner: the true limit has become lower. The load is relaxed: a pending request stays pending for the
  /// next real poll, and restore_limit keeps a request that arrives after the load.
  void lower_limit(char* limit) const noexcept {
    if (word_ != nullptr && word_->load(std::memory_order_relaxed) != all_ones) restore_limit(limit);
  }

 private:
  /// Null: the shared limit of small fibers. pairs with: request_poll, publish_limit, restore_limit
  atomic<char*>* word_ = nullptr;
};

}  // namespace sukima::detail
