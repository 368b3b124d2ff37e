// SPDX-License-Identifier: Apache-2.0
// Reads files of /proc and /sys; see files.hpp.
#include "source/files.hpp"

#include <base/shared/parse_number.hpp>
#include <base/shared/read_text.hpp>

#include <charconv>
#include <chrono>
#include <utility>

#include "shared/files.hpp"

namespace sukima::host {

std::optional<std::string> read_text(const std::string& path) {
  auto text = read_file_text(path, longest_input);
  return text && text->size() <= longest_input ? std::move(text) : std::nullopt;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (;;) {
    const std::size_t begin = line.find_first_not_of(" \t\r\n");
    if (begin == std::string_view::npos) return words;
    line.remove_prefix(begin);
    const std::size_t end = std::min(line.find_first_of(" \t\r\n"), line.size());
    words.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

std::optional<std::uint64_t> number_of(std::string_view text) {
  return parse_number<std::uint64_t>(trimmed(text));
}

}  // namespace sukima::host
