// SPDX-License-Identifier: Apache-2.0
// JSON from a text, or a sentence that says where it is none.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

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

/// \tparam Error what is thrown; made of a text
/// \param name  names the text in messages
/// \throws Error the text is no JSON
template <class Error>
nlohmann::json parse_json(std::string_view text, const std::string& name) {
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::exception& error) {
    throw Error(name + " is no JSON: " + reason_of(error));
  }
}

}  // namespace sukima
