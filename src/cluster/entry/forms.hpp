// SPDX-License-Identifier: Apache-2.0
// The functions that travel, by numbers that all nodes agree on.
#pragma once

#include <sukima/detail/travel.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace sukima::cluster {

/// A function's number is its place in the sorted list of the names of all that were registered before main.
/// Functions that share a name (static ones of several files) have none and stay in their node.
class form_table {
 public:
  form_table();
  /// Nothing: it stays here. Logarithmic.
  std::optional<std::uint32_t> number_of(const detail::travel_form& form) const noexcept;
  /// Null: there is no such function.
  const detail::travel_form* operator[](std::uint32_t number) const noexcept;
  /// Addresses in the objects that registered something.
  std::vector<const void*> places() const;

 private:
  std::vector<const detail::travel_form*> forms_;  ///< by name
};

}  // namespace sukima::cluster
