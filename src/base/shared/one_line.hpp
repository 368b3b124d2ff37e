// SPDX-License-Identifier: Apache-2.0
// Makes one line of a text that may contain what others chose, such as the words of a command line.
#pragma once

#include <string>
#include <string_view>

namespace sukima {

/// Returns the text with the end of each line, except at the end of the text, replaced by `\n` as in C, and
/// each other control character by '?', because a terminal would obey it.
inline std::string on_one_line(std::string_view text) {
  std::string line;
  for (const char c : text.substr(0, text.find_last_not_of('\n') + 1)) {
    if (c == '\n')
      line += "\\n";
    else
      line += static_cast<unsigned char>(c) < 32 || c == 127 ? '?' : c;
  }
  return line;
}

}  // namespace sukima
