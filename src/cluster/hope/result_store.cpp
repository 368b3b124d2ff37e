// SPDX-License-Identifier: Apache-2.0
#include "hope/result_store.hpp"

namespace sukima::cluster::hope {

void result_store::put(const task_key& key, bytes result, std::chrono::nanoseconds cost) {
  const std::size_t size = result.size() + overhead;
  if (size > most_) return;
  if (!results_.try_emplace(key, known{std::move(result), cost}).second) return;
  cheapest_.emplace(cost, key);
  used_ += size;
  while (used_ > most_) {
    const auto first = cheapest_.begin();
    const auto gone = results_.find(first->second);
    used_ -= gone->second.result.size() + overhead;
    results_.erase(gone);
    cheapest_.erase(first);
  }
  SUKIMA_ASSERT_VALID_PACED(*this, walks_, results_.size());
}

const bytes* result_store::find(const task_key& key) const {
  const auto at = results_.find(key);
  return at == results_.end() ? nullptr : &at->second.result;
}

void result_store::clear() noexcept {
  results_.clear();
  cheapest_.clear();
  used_ = 0;
}

const char* result_store::violated_invariant() const {
  std::size_t used = 0;
  for (const auto& [cost, key] : cheapest_) {
    const auto at = results_.find(key);
    if (at == results_.end() || at->second.cost != cost)
      return "each place in the order of costs belongs to a result of that cost";
    used += at->second.result.size() + overhead;
  }
  if (results_.size() != cheapest_.size()) return "each result has one place in the order of costs";
  if (used != used_) return "the used bytes are those of all results";
  if (used_ > most_) return "the results fit into the bytes of the store";
  return nullptr;
}

}  // namespace sukima::cluster::hope
