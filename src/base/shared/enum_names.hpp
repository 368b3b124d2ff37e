// SPDX-License-Identifier: Apache-2.0
// The names of an enumeration's values.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace sukima {

/// The names of the values 0, 1, … of an enumeration, in the order of the values.
template <class Enum, Enum last> class enum_names {
 public:
  static constexpr std::size_t count = static_cast<std::size_t>(last) + 1;

  template <class... Name> constexpr explicit enum_names(const Name&... names) noexcept : names_{names...} {
    static_assert(sizeof...(Name) == count, "each value has a name");
  }
  /// Returns the name of a value; "?" for a number that is not one of the values.
  constexpr const char* of(Enum value) const noexcept {
    const auto at = static_cast<std::size_t>(value);
    return at < count ? names_[at] : "?";
  }
  /// Returns the value of that name.
  constexpr std::optional<Enum> find(std::string_view name) const noexcept {
    for (std::size_t i = 0; i < count; ++i)
      if (name == names_[i]) return static_cast<Enum>(i);
    return std::nullopt;
  }
  /// Returns all names for a message: "one, two or three".
  std::string list() const {
    std::string text;
    for (std::size_t i = 0; i < count; ++i)
      text.append(i == 0 ? "" : i + 1 == count ? " or " : ", ").append(names_[i]);
    return text;
  }

 private:
  const char* names_[count];
};

}  // namespace sukima
