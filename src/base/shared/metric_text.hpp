// SPDX-License-Identifier: Apache-2.0
// The text format of Prometheus, version 0.0.4.
#pragma once

#include <charconv>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace sukima {

/// Returns a label of a metric. Escapes characters that would end its value.
inline std::string metric_label(std::string_view name, std::string_view value) {
  std::string text(name);
  text += "=\"";
  for (const char c : value) {
    if (c == '\\' || c == '"') text += '\\';
    text += c == '\n' ? "\\n" : std::string(1, c);
  }
  return text + '"';
}

/// Appends one metric to a text: first its head, then its samples. A metric without samples has no head.
class metric_family {
 public:
  /// \param type "gauge" or "counter" \param help one sentence
  metric_family(std::string& to, const char* name, const char* type, const char* help)
      : to_(to), name_(name), type_(type), help_(help) {}

  /// \param labels separated by commas, or empty
  void add(const std::string& labels, double value) {
    if (!std::exchange(begun_, true)) {
      append({"# HELP ", name_, " ", help_, "\n# TYPE ", name_, " ", type_, "\n"});
    }
    append({name_});
    if (!labels.empty()) append({"{", labels, "}"});
    char digits[32];  // the shortest text that reads back as this value has at most 24 characters
    const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
    append({" ", std::string_view(digits, static_cast<std::size_t>(end - digits)), "\n"});
  }

 private:
  void append(std::initializer_list<std::string_view> parts) {
    for (const std::string_view part : parts) to_ += part;
  }

  std::string& to_;
  const char *name_, *type_, *help_;
  bool begun_ = false;
};

}  // namespace sukima
