// SPDX-License-Identifier: Apache-2.0
// Results of whole entries: of later entries, which other nodes have already sent, and of past entries, for
// nodes that are late.
#pragma once

#include "hope/announcements.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

namespace sukima::cluster::hope {

/// If a result is dropped, a late node, or this one, must compute its entry itself. Only one thread may use
/// this object.
class entry_results {
 public:
  /// Estimated memory for one result, besides its content, in bytes.
  static constexpr std::size_t overhead = 192;

  /// \param entries  the number of past entries that are kept
  /// \param size     the most bytes for results with their overhead, except those of the last entry that
  ///                 began, and of the entries before and after it
  entry_results(std::uint64_t entries, std::size_t size) noexcept : entries_(entries), most_(size) {}

  void put(std::uint64_t entry, entry_value value) {
    remove(entry);
    size_ += size_of(value);
    all_.emplace(entry, std::move(value));
    shrink();
  }
  /// Returns the result, or null. Valid until the next change.
  const entry_value* find(std::uint64_t entry) const {
    const auto found = all_.find(entry);
    return found == all_.end() ? nullptr : &found->second;
  }
  void remove(std::uint64_t entry) {
    const auto found = all_.find(entry);
    if (found == all_.end()) return;
    size_ -= size_of(found->second);
    all_.erase(found);
  }
  /// Removes the oldest results, because that entry begins. Results of later entries stay.
  void begin_entry(std::uint64_t entry) {
    begun_ = entry;
    while (!all_.empty() && all_.begin()->first < entry &&
           (entry - all_.begin()->first > entries_ || (size_ > most_ && all_.begin()->first + 1 < entry)))
      remove(all_.begin()->first);
  }
  /// All results, ordered by entry.
  const std::map<std::uint64_t, entry_value>& all() const noexcept { return all_; }

 private:
  /// Removes results if they need too much memory: first the oldest ones, which late nodes may lack, and then
  /// those of the latest entries, which this node needs last.
  void shrink() {
    while (size_ > most_) {
      if (all_.begin()->first + 1 < begun_)
        remove(all_.begin()->first);
      else if (all_.rbegin()->first > begun_ + 1)
        remove(all_.rbegin()->first);
      else
        return;
    }
  }
  static std::size_t size_of(const entry_value& value) noexcept {
    return value.content.size() + value.solutions.size() + overhead;
  }

  const std::uint64_t entries_;
  const std::size_t most_;
  std::map<std::uint64_t, entry_value> all_;
  std::size_t size_ = 0;  ///< of all results together
  std::uint64_t begun_ = 0;  ///< the last entry that began
};

}  // namespace sukima::cluster::hope
