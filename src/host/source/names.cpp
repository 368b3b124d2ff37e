// SPDX-License-Identifier: Apache-2.0
// Makes names of machines printable; see names.hpp.
#include "source/names.hpp"

namespace sukima::host {
namespace {

constexpr std::size_t longest_name = 200;

/// The number of bytes of the character at the front; 0 if it is not valid UTF-8.
std::size_t length_of(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  const bool overlong = (first == 0xe0 && byte(1) < 0xa0) || (first == 0xf0 && byte(1) < 0x90);
  const bool none = (first == 0xed && byte(1) > 0x9f) || (first == 0xf4 && byte(1) > 0x8f);
  return overlong || none ? 0 : length;
}

/// Whether the character at the front is a control character (of one byte, or U+0080 to U+009F, which
/// terminals obey, too).
bool is_control(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  return first < 0x20 || first == 0x7f ||
         (first == 0xc2 && text.size() > 1 && static_cast<unsigned char>(text[1]) < 0xa0);
}

}  // namespace

std::string printable_name(std::string_view name) {
  std::string result;
  while (!name.empty()) {
    const std::size_t length = length_of(name);
    if (result.size() + (length == 0 ? 1 : length) > longest_name) break;
    if (length == 0 || is_control(name))
      result += '?';
    else
      result += name.substr(0, length);
    name.remove_prefix(length == 0 ? 1 : length);
  }
  return result.empty() ? "unnamed" : result;
}

}  // namespace sukima::host
