// SPDX-License-Identifier: Apache-2.0
// Reads JSON, with messages that name the place of an error.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

namespace sukima {

/// A JSON value with its place for messages: "streams[2].name: must be a string".
/// \tparam Place the class derived from this one; constructed from a value, its place, and the name of the
/// root
/// \tparam Error the type of thrown exceptions; constructed from a text
template <class Place, class Error>
class json_place {
 public:
  using json = nlohmann::json;
  /// \throws Error with the place and the text
  [[noreturn]] void fail(const std::string& problem) const {
    throw Error((where_.empty() ? root_ : where_) + ": " + problem);
  }
  const json& value() const { return value_; }
  void expect_object() const {
    if (!value_.is_object()) fail("must be a JSON object");
  }
  /// Requires that the value is an object without members other than these.
  /// \param page the page that describes them
  void expect_only(std::initializer_list<const char*> known, const char* page) const {
    expect_object();
    for (const auto& [name, unused] : value_.items()) {
      bool found = false;
      for (const char* one : known) found = found || name == one;
      if (!found) fail("unknown member '" + name + "'; see " + page);
    }
  }
  bool has(const char* name) const { return value_.contains(name); }
  /// Returns whether the member exists and is not null.
  bool given(const char* name) const { return has(name) && !value_.at(name).is_null(); }
  Place member(const char* name) const {
    expect_object();
    if (!has(name)) fail(std::string("the member '") + name + "' is missing");
    return Place(value_.at(name), where_.empty() ? name : where_ + "." + name, root_);
  }
  /// Calls `take` with each element of the array.
  template <class Take>
  void each(Take take) const {
    if (!value_.is_array()) fail("must be an array");
    std::size_t position = 0;
    for (const json& element : value_)
      take(Place(element, where_ + "[" + std::to_string(position++) + "]", root_));
  }
  std::string text() const {
    if (!value_.is_string()) fail("must be a string");
    return value_.get<std::string>();
  }
  /// Returns a name: not empty, and without control characters, because messages print it.
  std::string name() const {
    const std::string text = this->text();
    bool printable = !text.empty() && text.size() <= 200;
    for (const char c : text) printable = printable && static_cast<unsigned char>(c) >= 0x20 && c != 0x7f;
    if (!printable) fail("must be a name of 1 to 200 characters without control characters");
    return text;
  }
  bool flag() const {
    if (!value_.is_boolean()) fail("must be true or false");
    return value_.get<bool>();
  }
  double number(double least, double most) const {
    const double value = value_.is_number() ? value_.get<double>() : std::nan("");
    if (!(value >= least && value <= most)) fail("must be a number" + limits(least, most));
    return value;
  }
  std::size_t whole(double least, double most) const {
    const double value = value_.is_number() ? value_.get<double>() : std::nan("");
    if (!(value >= least && value <= most) || value != std::floor(value))
      fail("must be a whole number" + limits(least, most));
    return static_cast<std::size_t>(value);
  }

 private:
  /// Whole numbers are printed without a fraction.
  static std::string limits(double least, double most) {
    const auto text = [](double limit) {
      const bool is_whole = limit == std::floor(limit) && std::abs(limit) <= 0x1p53;
      return (is_whole ? json(static_cast<std::int64_t>(limit)) : json(limit)).dump();
    };
    return " from " + text(least) + " to " + text(most);
  }

  friend Place;
  /// \param value must outlive this object
  /// \param where path from the root; empty for the root
  /// \param root  the name of the root in messages
  json_place(const json& value, std::string where, const char* root)
      : value_(value), where_(std::move(where)), root_(root) {}

  const json& value_;
  std::string where_;
  const char* root_;
};

}  // namespace sukima
