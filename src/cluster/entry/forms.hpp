// SPDX-License-Identifier: Apache-2.0
// Numbers of the functions that travel. All nodes agree on these numbers.
#pragma once

#include <sukima/detail/travel.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace sukima::cluster {

/// A function's number is its index in the sorted list of the names of all functions registered before main.
/// Functions that share a name (static ones of several files) have no number and stay in their node.
class form_table {
 public:
  form_table();
  /// Returns nothing if the function stays in its node. Complexity: logarithmic.
  std::optional<std::uint32_t> number_of(const detail::travel_form& form) const noexcept;
  /// Returns null if there is no such function.
  const detail::travel_form* operator[](std::uint32_t number) const noexcept;
  /// Returns addresses in the objects that registered functions.
  std::vector<const void*> places() const;

 private:
  std::vector<const detail::travel_form*> forms_;  ///< sorted by name
};

}  // namespace sukima::cluster
