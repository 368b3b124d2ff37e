// SPDX-License-Identifier: Apache-2.0
#include "protocol/report.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <climits>

namespace sukima::cluster {

namespace {

/// The other parts of the line need far fewer bytes than the difference to PIPE_BUF.
constexpr std::size_t longest_sentence = PIPE_BUF - 256;
constexpr std::array<std::string_view, 5> names{"meets", "met", "fails", "differs", "counts"};
/// Written before the mark. So a program may print its environment without producing a report.
constexpr char report_sign = '\x1e';

bool has_sentence(node_report::type kind) noexcept {
  return kind == node_report::type::fails || kind == node_report::type::differs;
}

/// Removes the first word and the blank after it.
std::string_view take_word(std::string_view& rest) {
  const std::size_t end = std::min(rest.find(' '), rest.size());
  const std::string_view word = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return word;
}

bool take_number(std::string_view& rest, int& value) {
  const std::string_view word = take_word(rest);
  return std::from_chars(word.data(), word.data() + word.size(), value).ec == std::errc{};
}

/// Parses counts such as "given=3 requests=17".
bool read_counts(std::string_view rest, node_report& into) {
  while (!rest.empty()) {
    const std::string_view word = take_word(rest);
    const std::size_t sign = word.find('=');
    if (sign == std::string_view::npos || sign == 0) return false;
    std::uint64_t value = 0;
    const char* const end = word.data() + word.size();
    const auto [stop, error] = std::from_chars(word.data() + sign + 1, end, value);
    if (error != std::errc{} || stop != end) return false;
    into.counts.emplace_back(word.substr(0, sign), value);
  }
  return true;
}

std::optional<node_report> read_report(std::string_view rest) {
  const std::string_view name = take_word(rest);
  const auto* const found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return {};
  node_report report{.kind = static_cast<node_report::type>(found - names.begin())};
  if (report.kind == node_report::type::counts && !read_counts(rest, report)) return {};
  if (!has_sentence(report.kind)) return report;
  if (!take_number(rest, report.status) || !take_number(rest, report.lost)) return {};
  report.sentence = rest;
  return report;
}

}  // namespace

std::string write_report(std::string_view mark, const node_report& report) {
  std::string line = report_sign + std::string(mark);
  line += " " + std::string(names[static_cast<std::size_t>(report.kind)]);
  if (has_sentence(report.kind)) {
    line += " " + std::to_string(report.status) + " " + std::to_string(report.lost) + " ";
    line += report.sentence.substr(0, longest_sentence);
    std::replace(line.begin(), line.end(), '\n', ' ');
  }
  for (const auto& [name, value] : report.counts) {
    const std::string word = " " + name + "=" + std::to_string(value);
    if (line.size() + word.size() > longest_sentence) break;
    line += word;
  }
  return line + "\n";
}

bool has_report(std::string_view arrived, std::string_view mark) {
  return arrived.find(report_sign + std::string(mark)) != std::string_view::npos;
}

std::vector<node_report> take_reports(std::string& arrived, std::string_view mark) {
  std::vector<node_report> all;
  const std::string sign = report_sign + std::string(mark);
  for (std::size_t begin = 0; (begin = arrived.find(sign, begin)) != std::string::npos;) {
    const std::size_t end = arrived.find('\n', begin);
    if (end == std::string::npos) break;
    const std::size_t from = begin + sign.size() + 1;
    if (from <= end)
      if (auto report = read_report(std::string_view(arrived).substr(from, end - from)))
        all.push_back(std::move(*report));
    arrived.erase(begin, end + 1 - begin);
  }
  return all;
}

}  // namespace sukima::cluster
