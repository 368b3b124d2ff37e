// SPDX-License-Identifier: Apache-2.0
// Results of named tasks that this node knows. Losing one costs time and nothing else: its task runs here.
#pragma once

#include "hope/named_task.hpp"

#include <base/shared/walk_pace.hpp>

#include <chrono>
#include <cstddef>
#include <set>
#include <unordered_map>
#include <utility>

namespace sukima::cluster::hope {

/// A bounded store. One thread.
class result_store {
 public:
  /// Estimate of the memory that one result takes besides its bytes: nodes of the table and of the order.
  static constexpr std::size_t overhead = 192;

  /// \param most bytes that the results and their overhead may take
  explicit result_store(std::size_t most) noexcept : most_(most) {}

  /// Keeps a result. If there are too many, the store drops the results that are cheapest to compute again,
  /// among equals those with the smaller key; the new result may be among them. A result that is already in
  /// the store stays, because equal keys have equal results.
  /// \param cost the time that its computation took
  /// Complexity: logarithmic in the number of results, for it and for each that goes
  void put(const task_key& key, bytes result, std::chrono::nanoseconds cost);
  /// The result, or nullptr. Valid until the next put() or clear().
  const bytes* find(const task_key& key) const;
  /// Calls a function with the key, the cost and the bytes of each result, the most expensive first.
  template <class Function> void for_each(Function function) const {
    for (auto at = cheapest_.rbegin(); at != cheapest_.rend(); ++at)
      function(at->second, at->first, byte_view(results_.at(at->second).result));
  }
  /// Forgets all: an entry has ended.
  void clear() noexcept;

  std::size_t size() const noexcept { return results_.size(); }
  std::size_t used() const noexcept { return used_; }  ///< bytes, overhead included

  /// The first invariant that does not hold, as a sentence; null: all hold. Complexity: linear in the results
  const char* violated_invariant() const;

 private:
  struct known {
    bytes result;
    std::chrono::nanoseconds cost;
  };

  std::size_t most_;
  std::size_t used_ = 0;
  std::unordered_map<task_key, known, task_key_hash> results_;
  std::set<std::pair<std::chrono::nanoseconds, task_key>> cheapest_;
  walk_pace walks_;
  friend struct test_access;
};

}  // namespace sukima::cluster::hope
