// SPDX-License-Identifier: Apache-2.0
// Results of entries that have ended, which node 0 keeps for nodes that join later.
#pragma once

#include "protocol/messages.hpp"

#include <base/shared/assert.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace sukima::cluster {

/// The result of an entry, with the name of its function first, and the best solutions that it relied on.
struct entry_result {
  outcome how;
  bytes content;
  bytes solutions;
};

/// Keeps all results or none, because a node that joins needs each of them. Only one thread may use this
/// object.
class past_results {
 public:
  /// Estimated memory for one result, besides its content, in bytes.
  static constexpr std::size_t overhead = 192;
  /// Size in bytes after which an answer to a node that joins ends, so that it does not delay other messages
  /// for long.
  static constexpr std::size_t most_at_once = std::size_t{1} << 20;

  /// \param most  the most bytes for all results with their overhead; if they need more, no result is kept
  explicit past_results(std::size_t most) noexcept : most_(most) {}

  /// Adds the result of the next entry.
  void add(entry_result result) {
    ++count_;
    size_ += size_of(result);
    if (are_kept())
      all_.push_back(std::move(result));
    else
      all_ = {};
    SUKIMA_ASSERT(all_.size() == (are_kept() ? count_ : 0), "all results are kept, or none");
  }
  /// The number of entries that have ended.
  std::uint32_t count() const noexcept { return count_; }
  bool are_kept() const noexcept { return size_ <= most_; }
  /// \pre are_kept(), and the entry has ended
  const entry_result& of(std::uint32_t entry) const {
    SUKIMA_ASSERT(entry >= 1 && entry <= all_.size(), "the entry has ended, and its result is kept");
    return all_[entry - 1];
  }
  /// Returns the last entry whose result fits into an answer that begins with `first`. \pre are_kept(), and
  /// `last` has ended
  std::uint32_t end_of_answer(std::uint32_t first, std::uint32_t last) const {
    std::size_t sum = 0;
    while (first < last && (sum += size_of(of(first))) < most_at_once) ++first;
    return std::min(first, last);
  }

 private:
  static std::size_t size_of(const entry_result& result) noexcept {
    return result.content.size() + result.solutions.size() + overhead;
  }

  const std::size_t most_;
  std::vector<entry_result> all_;  ///< by entry, from 1
  std::size_t size_ = 0;  ///< of all results so far, including those not kept
  std::uint32_t count_ = 0;
};

}  // namespace sukima::cluster
