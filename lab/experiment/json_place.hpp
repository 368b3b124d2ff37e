// SPDX-License-Identifier: Apache-2.0
// Reads JSON, with messages that name the place of a mistake.
#pragma once

#include <base/shared/json_place.hpp>
#include <base/shared/parse_json.hpp>

#include <algorithm>
#include <string>
#include <string_view>

#include "shared/experiment.hpp"

namespace sukima::lab {

using nlohmann::json;

class place : public json_place<place, experiment_error> {
 public:
  /// \param where path from the root; empty for the root \param root the name of the root in messages
  place(const json& value, std::string where, const char* root) : json_place(value, std::move(where), root) {}

  /// Requires that the value is an object whose names have no control characters, because messages print
  /// them.
  void expect_printable_names() const {
    expect_object();
    for (const auto& [name, unused] : value().items())
      if (!printable(name)) fail("the name of a member has control characters");
  }
  /// Requires that the value is an object without members other than these.
  void expect_members(std::initializer_list<const char*> known) const {
    expect_printable_names();
    expect_only(known, "docs/lab.md");
  }
  /// Calls `take` with each element of the array, which has at most most_entries.
  template <class Take>
  void each(Take take) const {
    if (value().size() > most_entries) fail("has more than " + std::to_string(most_entries) + " entries");
    json_place::each(take);
  }
  /// Returns a text without control characters, because messages and tables print it.
  std::string text(std::size_t most = 2000) const {
    const std::string text = json_place::text();
    if (text.empty() || text.size() > most || !printable(text))
      fail("must be a text of 1 to " + std::to_string(most) + " characters without control characters");
    return text;
  }
  /// Returns a name: letters, digits and "-._:", because files and command lines contain it.
  std::string name() const {
    const std::string text = this->text(100);
    const auto allowed = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
             std::string_view("-._:").find(c) != std::string_view::npos;
    };
    for (const char c : text)
      if (!allowed(c)) fail("'" + text + "' is not a name: use letters, digits and -._:");
    if (text.front() == '.' || text.front() == '-') fail("a name begins with a letter, a digit, _ or :");
    return text;
  }

 private:
  static bool printable(std::string_view text) {
    return std::ranges::none_of(text,
                                [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
  }
};

}  // namespace sukima::lab
