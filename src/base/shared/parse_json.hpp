// SPDX-License-Identifier: Apache-2.0
// Parses JSON, with an error message that gives the position of a syntax error or names a repeated member.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

namespace sukima {

/// Returns the position and the reason of a JSON error: "line 1, column 7: invalid literal; last read: ' r'".
/// The library's text begins with a code and the parser's state, which are removed.
inline std::string reason_of(const nlohmann::json::exception& error) {
  std::string text = error.what();
  const auto remove_to = [&text](std::string_view end) {
    if (const std::size_t at = text.find(end); at != std::string::npos) text.erase(0, at + end.size());
  };
  remove_to("] ");
  const std::string_view error_at = "parse error at ";
  if (!text.starts_with(error_at)) return text;
  text.erase(0, error_at.size());
  const std::size_t place = text.find(": ");
  const std::size_t reason = text.find(" - ", place);
  if (place != std::string::npos && reason != std::string::npos)
    text.replace(place, reason + 3 - place, ": ");
  return text;
}

/// Finds the first member that an object contains twice, because the library keeps the last one. The
/// library's own parser could check this while it builds the document, but then its time would grow with the
/// square of an array's length.
class repeated_member final : public nlohmann::json_sax<nlohmann::json> {
 public:
  /// Returns its place, such as "vms[0].weight"; none: there is no such member
  const std::optional<std::string>& place() const { return place_; }

  bool null() override { return begin_value(); }
  bool boolean(bool) override { return begin_value(); }
  bool number_integer(std::int64_t) override { return begin_value(); }
  bool number_unsigned(std::uint64_t) override { return begin_value(); }
  bool number_float(double, const std::string&) override { return begin_value(); }
  bool string(std::string&) override { return begin_value(); }
  bool binary(nlohmann::json::binary_t&) override { return begin_value(); }
  bool start_object(std::size_t) override { return begin_level(false); }
  bool start_array(std::size_t) override { return begin_level(true); }
  bool end_object() override { return end_level(); }
  bool end_array() override { return end_level(); }
  bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception&) override {
    return false;
  }

  bool key(std::string& name) override {
    level& object = levels_.back();
    object.name = name;
    if (object.names.insert(name).second) return true;
    place_.emplace();
    for (const level& one : levels_)
      *place_ += one.is_array ? "[" + std::to_string(one.elements - 1) + "]"
                              : (place_->empty() ? "" : ".") + one.name;
    return false;  // stops parsing
  }

 private:
  /// An object or array that has begun but not ended.
  struct level {
    bool is_array;
    std::size_t elements = 0;  ///< for an array: number of elements that have begun
    std::string name;  ///< for an object: name of the latest member
    std::unordered_set<std::string> names;
  };

  bool begin_value() {
    if (!levels_.empty() && levels_.back().is_array) ++levels_.back().elements;
    return true;
  }
  bool begin_level(bool is_array) {
    begin_value();
    levels_.push_back({.is_array = is_array, .name = {}, .names = {}});
    return true;
  }
  bool end_level() {
    levels_.pop_back();
    return true;
  }

  std::vector<level> levels_;
  std::optional<std::string> place_;
};

/// Parses a text. Expected time O(length of the text), if objects are nested to a bounded depth.
/// \tparam Error the type of thrown exceptions; constructed from a text
/// \param name  the name of the text in messages
/// \throws Error the text is not JSON, or an object has a member twice
template <class Error>
nlohmann::json parse_json(std::string_view text, const std::string& name) {
  nlohmann::json document;
  try {
    document = nlohmann::json::parse(text);
  } catch (const nlohmann::json::exception& error) {
    throw Error(name + " is not JSON: " + reason_of(error));
  }
  repeated_member repeated;
  nlohmann::json::sax_parse(text, &repeated);
  if (repeated.place()) throw Error(*repeated.place() + ": is given twice; leave one of them out");
  return document;
}

}  // namespace sukima
