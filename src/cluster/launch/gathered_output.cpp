// SPDX-License-Identifier: Apache-2.0
#include "launch/gathered_output.hpp"

#include <base/shared/assert.hpp>

#include <utility>

namespace sukima::cluster {

gathered_output::gathered_output(std::vector<std::string> prefixes)
    : prefixes_(std::move(prefixes)), unfinished_(prefixes_.size()) {}

std::size_t gathered_output::room(unsigned /*node*/) const {
  const std::size_t waiting = unprinted().size();
  return waiting < most_unprinted ? most_unprinted - waiting : 0;
}

std::optional<output_difference> gathered_output::take(unsigned node, std::string_view text) {
  if (node == 0) {
    take_from_0(text);
    SUKIMA_ASSERT(kept_.empty() || last_ == line_of_0::unfinished, "lines wait only for an unfinished line");
    return {};
  }
  const std::size_t end = text.rfind('\n');
  std::string& line = unfinished_[node];
  if (end == text.npos) {
    line += text;
    for (; line.size() > longest_line; line.erase(0, longest_line))
      put_lines(prefixes_[node] + line.substr(0, longest_line) + "\n");
    return {};
  }
  line += text.substr(0, end + 1);
  std::string lines;
  for (std::size_t begin = 0; begin < line.size();) {
    const std::size_t next = line.find('\n', begin) + 1;
    lines.append(prefixes_[node]).append(line, begin, next - begin);
    begin = next;
  }
  put_lines(lines);
  line = text.substr(end + 1);
  return {};
}

void gathered_output::take_from_0(std::string_view text) {
  if (text.empty()) return;
  const std::size_t end = kept_.empty() ? text.npos : text.find('\n');
  if (end != text.npos) {
    ready_ += text.substr(0, end + 1);
    text.remove_prefix(end + 1);
    release_kept();
  }
  ready_ += text;
  if (!text.empty()) last_ = text.back() == '\n' ? line_of_0::finished : line_of_0::unfinished;
}

void gathered_output::put_lines(std::string_view lines) {
  if (last_ == line_of_0::unfinished) {
    kept_ += lines;
    return;
  }
  if (last_ == line_of_0::cut) ready_ += '\n';
  last_ = line_of_0::finished;
  ready_ += lines;
}

void gathered_output::release_kept() {
  last_ = line_of_0::finished;
  ready_ += std::exchange(kept_, {});
}

void gathered_output::end(unsigned node) {
  if (node != 0) {
    std::string& line = unfinished_[node];
    if (!line.empty()) put_lines(prefixes_[node] + std::exchange(line, {}) + "\n");
    return;
  }
  if (last_ != line_of_0::unfinished) return;
  last_ = line_of_0::cut;
  if (const std::string lines = std::exchange(kept_, {}); !lines.empty()) put_lines(lines);
}

void gathered_output::printed(std::size_t size) {
  SUKIMA_ASSERT(size <= unprinted().size(), "only text that a node has written is printed");
  printed_ += size;
  if (printed_ < ready_.size() / 2) return;
  ready_.erase(0, printed_);
  printed_ = 0;
}

}  // namespace sukima::cluster
