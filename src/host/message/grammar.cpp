// SPDX-License-Identifier: Apache-2.0
// The grammar of the messages between a host and its guests.
#include <fmt/format.h>
#include <base/shared/parse_number.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

#include "shared/description.hpp"
#include "shared/message.hpp"

namespace sukima::host {
namespace {

constexpr double longest_validity = 86400;
constexpr std::size_t longest_number = 31;
/// The largest number of CPUs in a guest's list. parse_cpu_list limits the size to which a list expands while
/// it is parsed.
constexpr std::size_t longest_list = 1024;

/// Removes the first line from the text and returns it. \returns nothing if the line has no end
std::optional<std::string_view> take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end + 1);
  return line;
}

/// Removes `word` and one blank from the front of the line. \returns whether they were there
bool take_word(std::string_view& line, std::string_view word) {
  if (!line.starts_with(word) || line.size() <= word.size() || line[word.size()] != ' ') return false;
  line.remove_prefix(word.size() + 1);
  return true;
}

/// Parses digits with at most one point between them. A sign, an exponent or a name of a number is malformed.
std::optional<double> decimal(std::string_view text, double most) {
  if (text.empty() || text.size() > longest_number) return std::nullopt;
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (!is_digit(text.front()) || !is_digit(text.back())) return std::nullopt;
  if (std::ranges::count(text, '.') > 1) return std::nullopt;
  if (!std::ranges::all_of(text, [&](char c) { return is_digit(c) || c == '.'; })) return std::nullopt;
  const auto value = parse_number<double>(text, std::chars_format::fixed);
  return value && std::isfinite(*value) && *value <= most ? value : std::nullopt;
}

/// Parses a whole number of at least 1.
std::optional<unsigned> count_of(std::string_view text) {
  const auto value = decimal(text, most_message_cpus);
  if (!value || *value < 1 || *value != std::floor(*value)) return std::nullopt;
  return static_cast<unsigned>(*value);
}

std::optional<std::vector<std::uint32_t>> list_of(std::string_view text) {
  try {
    auto ids = parse_cpu_list(text);
    if (ids.size() > longest_list) return std::nullopt;
    return ids;
  } catch (const description_error&) {
    return std::nullopt;
  }
}

/// Stores the value. \returns false if there is none, or if one was stored before
template <class Value>
bool put(std::optional<Value>& into, std::optional<Value> value) {
  if (into || !value) return false;
  into = std::move(value);
  return true;
}

/// Parses one line after the first. \returns false if it begins with no known word or is malformed
bool take_guest_word(std::string_view line, guest_message& into) {
  if (line == "turn") return !std::exchange(into.turn, true);
  if (take_word(line, "progress")) return put(into.progress, decimal(line, most_progress));
  if (take_word(line, "online")) return put(into.online, list_of(line));
  if (take_word(line, "want")) return put(into.want, count_of(line));
  return false;
}

/// Parses one line after the first, and skips unknown words. \returns false if a number is malformed
bool take_host_word(std::string_view line, std::optional<double>& usable, std::optional<double>& valid,
                    host_message& into) {
  if (take_word(line, "usable")) return put(usable, decimal(line, most_message_cpus));
  if (take_word(line, "valid")) return put(valid, decimal(line, 1e9));
  if (take_word(line, "trial")) return put(into.trial, count_of(line));
  if (take_word(line, "vcpus")) return put(into.vcpus, count_of(line));
  return true;
}

}  // namespace

std::string text_of(const host_message& message) {
  // Capacity's reader rejects 0.
  std::string text = fmt::format("sukima-host 1\nusable {:.3f}\nvalid {:.3f}\n",
                                 std::max(message.usable, 0.001), std::max(message.valid, 0.001));
  if (message.trial) text += fmt::format("trial {}\n", *message.trial);
  if (message.vcpus) text += fmt::format("vcpus {}\n", *message.vcpus);
  return text + "end\n";
}

std::string text_of(const guest_message& message) {
  std::string text = "sukima-guest 1\n";
  if (message.progress) text += fmt::format("progress {:.3f}\n", *message.progress);
  if (message.online) text += "online " + cpu_list_text(*message.online) + "\n";
  if (message.want) text += fmt::format("want {}\n", *message.want);
  if (message.turn) text += "turn\n";
  return text + "end\n";
}

std::optional<host_message> parse_host_message(std::string_view text) {
  if (text.size() > longest_message || take_line(text) != "sukima-host 1") return std::nullopt;
  host_message found;
  std::optional<double> usable, valid;
  for (auto line = take_line(text); line != "end"; line = take_line(text))
    if (!line || !take_host_word(*line, usable, valid, found)) return std::nullopt;
  if (!text.empty() || !usable || !valid || !(*usable > 0) || !(*valid > 0)) return std::nullopt;
  found.usable = *usable;
  found.valid = std::min(*valid, longest_validity);
  return found;
}

std::optional<guest_message> parse_guest_message(std::string_view text) {
  if (text.size() > longest_message || take_line(text) != "sukima-guest 1") return std::nullopt;
  guest_message found;
  for (auto line = take_line(text); line != "end"; line = take_line(text))
    if (!line || !take_guest_word(*line, found)) return std::nullopt;
  if (!text.empty()) return std::nullopt;
  return found;
}

}  // namespace sukima::host
