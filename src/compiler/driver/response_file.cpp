// SPDX-License-Identifier: Apache-2.0
#include "driver/response_file.hpp"

#include <fstream>
#include <iterator>

#include "driver/command_line.hpp"

namespace sukima::language {
namespace {

void expand(const std::string& argument, std::vector<std::string>& into, int depth) {
  std::ifstream file(argument.size() > 1 && argument[0] == '@' ? argument.substr(1) : "");
  if (argument.empty() || argument[0] != '@' || !file) {
    into.push_back(argument);
    return;
  }
  if (depth > 100) throw command_line_error("'" + argument + "' includes itself");
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::string one;
  bool inside = false;
  char quote = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ' ';
    if (quote == 0 && (c == ' ' || c == '\n' || c == '\t' || c == '\r')) {
      if (inside) expand(one, into, depth + 1);
      one.clear();
      inside = false;
      continue;
    }
    inside = true;
    if (c == '\\' && i + 1 < text.size()) {
      one += text[++i];
    } else if (quote != 0 ? c == quote : c == '"' || c == '\'') {
      quote = quote != 0 ? 0 : c;
    } else {
      one += c;
    }
  }
}

}  // namespace

void expand_response_files(const std::string& argument, std::vector<std::string>& into) {
  expand(argument, into, 0);
}

}  // namespace sukima::language
