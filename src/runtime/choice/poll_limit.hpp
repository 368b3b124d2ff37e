// SPDX-License-Identifier: Apache-2.0
// The poll limit of a fiber: the one word by which others get the attention of code that is running.
//
// The fiber's own code compares each choice point with it, when a fork has been entered and when its first
// branch has ended (`poll` and `untouched` in sukima/detail/choice_point.hpp). On the fast path it reads
// nothing else and writes nothing. `choice point >= limit` means: nothing was split off from it, and nobody
// wants anything.
//
// Two sides write the word, both by exchange:
//   others first write what they want (a flag of the worker, `publish_wanted`, the worker counts, a steal
//   request), then raise the limit above all choice points (`request_poll`);
//   the owner, in the slow path of a poll, first writes the true limit (`publish_limit`), then reads what may
//   be wanted.
// So a request is either seen by the owner's reads, or its raise comes after the owner's write and the next
// poll is slow again. "Write the flag, read the limit" against "write the limit, read the flag" is the
// pattern in which both sides may read old values unless all four accesses are sequentially consistent. They
// are.
//
// Whoever writes the true limit may wipe out a request, and must therefore look at all that may be wanted
// afterwards: poll_slow (poll.cpp) and execute (join.cpp). Invariant of a fiber between two polls:
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
  /// The limit of small fibers, which share one that stays raised: nothing below changes it.
  poll_limit() noexcept = default;
  /// \param word of the fiber's gate
  explicit poll_limit(atomic<char*>& word) noexcept : word_(&word) {}

  /// Any thread, which has written what it wants before: makes the fiber's next poll slow. Where the limit is
  /// raised already, reading that is enough, because load and exchange are sequentially consistent. May come
  /// when the fiber has stopped running, or was given back: then it costs one needless slow path.
  /// Partner: publish_limit.
  void request_poll() const noexcept {
    stress_point();
    if (word_ != nullptr && word_->load(std::memory_order_seq_cst) != all_ones) word_->exchange(all_ones);
  }

  /// Owner: writes the true limit. What may be wanted is read afterwards. Partner: request_poll.
  void publish_limit(char* limit) const noexcept {
    stress_point();
    if (word_ != nullptr) word_->exchange(limit);
    stress_point();
  }

  /// Owner: is the limit that high, so that what lies below polls slowly? Only the owner lowers it.
  bool covers(const char* limit) const noexcept { return word_ == nullptr || word_->load() >= limit; }

  /// Owner: a task begins. Writes the limit only where it is another one: what is not written wipes out no
  /// request, so the load is relaxed. Partner: request_poll.
  void begin_limit(char* limit) const noexcept {
    if (word_ != nullptr && word_->load(std::memory_order_relaxed) != limit) publish_limit(limit);
  }

  /// Owner: the true limit has grown since publish_limit. A request that came in between stays.
  void restore_limit(char* limit) const noexcept {
    if (word_ != nullptr && word_->exchange(limit) == all_ones) word_->exchange(all_ones);
  }

  /// Owner: the true limit has become lower. The load is relaxed: a request that stands is left for the next
  /// real poll, and restore_limit keeps one that comes after the load.
  void lower_limit(char* limit) const noexcept {
    if (word_ != nullptr && word_->load(std::memory_order_relaxed) != all_ones) restore_limit(limit);
  }

 private:
  atomic<char*>* word_ = nullptr;
};

}  // namespace sukima::detail
