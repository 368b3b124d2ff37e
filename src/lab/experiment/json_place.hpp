// SPDX-License-Identifier: Apache-2.0
// Reading JSON with messages that say where something is wrong.
#pragma once

#include <cmath>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "shared/experiment.hpp"

namespace sukima::lab {

using nlohmann::json;

/// A JSON value with its place, for messages.
class place {
 public:
  /// \param where from the root, which is empty; \param root what the root is
  place(const json& value, std::string where, const char* root)
      : value_(value), where_(std::move(where)), root_(root) {}

  [[noreturn]] void fail(const std::string& what) const {
    throw experiment_error((where_.empty() ? root_ : where_) + ": " + what);
  }
  const json& value() const { return value_; }

  /// The value is an object with no other members than these.
  void expect_members(std::initializer_list<const char*> known) const {
    if (!value_.is_object()) fail("must be a JSON object");
    for (const auto& [name, unused] : value_.items()) {
      bool found = false;
      for (const char* one : known) found = found || name == one;
      if (!found) fail("unknown member '" + printable(name) + "'; see docs/lab.md");
    }
  }
  bool has(const char* name) const { return value_.contains(name); }
  place member(const char* name) const {
    if (!value_.is_object()) fail("must be a JSON object");
    if (!has(name)) fail(std::string("the member '") + name + "' is missing");
    return {value_.at(name), where_.empty() ? name : where_ + "." + printable(name), root_};
  }
  /// Calls `take` with each element of the array.
  template <class Take>
  void each(Take take) const {
    if (!value_.is_array()) fail("must be an array");
    if (value_.size() > most_entries) fail("has more than " + std::to_string(most_entries) + " entries");
    std::size_t position = 0;
    for (const json& element : value_)
      take(place(element, where_ + "[" + std::to_string(position++) + "]", root_));
  }
  /// A text without control characters, because messages and tables print it.
  std::string text(std::size_t most = 2000) const {
    if (!value_.is_string()) fail("must be a string");
    const std::string text = value_.get<std::string>();
    if (text.empty() || text.size() > most || printable(text) != text)
      fail("must be a text of 1 to " + std::to_string(most) + " characters without control characters");
    return text;
  }
  /// A name: letters, digits and "-._:", because files and command lines have it.
  std::string name() const {
    const std::string text = this->text(100);
    const auto allowed = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
             std::string_view("-._:").find(c) != std::string_view::npos;
    };
    for (const char c : text)
      if (!allowed(c)) fail("'" + text + "' is no name: use letters, digits and -._:");
    if (text.front() == '.' || text.front() == '-') fail("a name begins with a letter, a digit, _ or :");
    return text;
  }
  bool flag() const {
    if (!value_.is_boolean()) fail("must be true or false");
    return value_.get<bool>();
  }
  double number(double least, double most) const {
    const double value = value_.is_number() ? value_.get<double>() : std::nan("");
    if (!(value >= least && value <= most))
      fail("must be a number from " + json(least).dump() + " to " + json(most).dump());
    return value;
  }
  std::int64_t whole(double least, double most) const {
    const double value = number(least, most);
    if (value != std::floor(value)) fail("must be a whole number");
    return static_cast<std::int64_t>(value);
  }

 private:
  static std::string printable(std::string text) {
    for (char& c : text)
      if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
    return text;
  }

  const json& value_;
  std::string where_;
  const char* root_;
};

}  // namespace sukima::lab
