// SPDX-License-Identifier: Apache-2.0
// Reading JSON with messages that say where something is wrong.
#pragma once

#include <cmath>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "shared/description.hpp"

namespace sukima::host {

using nlohmann::json;

/// A JSON value with its place, for messages.
class place {
 public:
  /// \param where from the root, which is empty
  place(const json& value, std::string where) : value_(value), where_(std::move(where)) {}

  [[noreturn]] void fail(const std::string& what) const {
    throw description_error((where_.empty() ? "the description" : where_) + ": " + what);
  }
  bool has(const char* name) const { return value_.contains(name); }
  /// Whether the member is there and not null.
  bool given(const char* name) const { return has(name) && !value_.at(name).is_null(); }
  place member(const char* name) const {
    expect_object();
    if (!has(name)) fail(std::string("the member '") + name + "' is missing");
    return {value_.at(name), where_.empty() ? name : where_ + "." + name};
  }
  void expect_object() const {
    if (!value_.is_object()) fail("must be a JSON object");
  }
  /// The members with other names, as the text of a JSON object; empty if there are none.
  std::string others(std::initializer_list<std::string_view> known) const {
    json rest = json::object();
    for (const auto& [name, value] : value_.items()) {
      bool found = false;
      for (const std::string_view one : known) found = found || name == one;
      if (!found) rest[name] = value;
    }
    return rest.empty() ? std::string() : rest.dump();
  }
  /// Calls `take` with each element of the array.
  template <class Take>
  void each(Take take) const {
    if (!value_.is_array()) fail("must be an array");
    std::size_t position = 0;
    for (const json& element : value_) take(place(element, where_ + "[" + std::to_string(position++) + "]"));
  }
  std::string text() const {
    if (!value_.is_string()) fail("must be a string");
    return value_.get<std::string>();
  }
  /// A name: not empty, without control characters, because messages print it.
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
    if (!(value >= least && value <= most))
      fail("must be a number from " + json(least).dump() + " to " + json(most).dump());
    return value;
  }
  std::uint32_t id() const {
    const double value = number(0, most_id);
    if (value != std::floor(value)) fail("must be a whole number");
    return static_cast<std::uint32_t>(value);
  }
  std::vector<std::uint32_t> cpus() const {
    try {
      return parse_cpu_list(text());
    } catch (const description_error& error) {
      const std::string what = error.what();
      if (!value_.is_string()) throw;
      fail(what);
    }
  }

 private:
  const json& value_;
  std::string where_;
};

}  // namespace sukima::host
