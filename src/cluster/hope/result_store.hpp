// SPDX-License-Identifier: Apache-2.0
// Stores the results of named tasks that this node knows. If a result is dropped, its task runs here, which
// costs only time.
#pragma once

#include "hope/named_task.hpp"

#include <base/shared/walk_pace.hpp>

#include <chrono>
#include <cstddef>
#include <set>
#include <unordered_map>
#include <utility>

namespace sukima::cluster::hope {

/// A bounded store. Only one thread may use it.
class result_store {
 public:
  /// Estimated memory for one result besides its content: the nodes of the table and of the order.
  static constexpr std::size_t overhead = 192;

  /// \param most  the most bytes for the results and their overhead
  explicit result_store(std::size_t most) noexcept : most_(most) {}

  /// Stores a result. If the limit is exceeded, the store drops the results that are cheapest to compute
  /// again, and among equal costs those with the smaller key; the new result may be among them. A result that
  /// is already stored stays, because equal keys have equal results.
  /// \param cost  the time that it took to compute the result
  /// Complexity: logarithmic in the number of results, for the new one and for each one dropped
  void put(const task_key& key, bytes result, std::chrono::nanoseconds cost);
  /// Returns the result, or nullptr. Valid until the next put() or clear().
  const bytes* find(const task_key& key) const;
  /// Calls a function with the key, the cost and the content of each result, the most expensive first.
  template <class Function> void for_each(Function function) const {
    for (auto at = cheapest_.rbegin(); at != cheapest_.rend(); ++at)
      function(at->second, at->first, byte_view(results_.at(at->second).result));
  }
  /// Removes all results, because an entry has ended.
  void clear() noexcept;

  std::size_t size() const noexcept { return results_.size(); }
  std::size_t used() const noexcept { return used_; }  ///< in bytes, including the overhead

  /// Returns the first invariant that does not hold, as a sentence; null: all hold. Complexity: linear in the
  /// results
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
