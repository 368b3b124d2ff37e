// SPDX-License-Identifier: Apache-2.0
#include "plan/c_text.hpp"

#include <algorithm>
#include <stdexcept>

namespace sukima::language {

namespace {

constexpr std::string_view white = " \n";

std::string_view text_in(std::string_view name, std::initializer_list<hole> holes) {
  const auto* const found = std::ranges::find(holes, name, &hole::name);
  if (found == holes.end())
    throw std::logic_error("the planner has no text for the hole '" + std::string(name) + "'");
  return found->text;
}

/// Returns the text that replaces white space of a form.
std::string_view white_in_text(std::string_view run, bool at_end) {
  switch (std::ranges::count(run, '\n')) {
    case 0:
      return run;
    case 1:
      return at_end ? "" : " ";
    default:
      return "\n";
  }
}

}  // namespace

std::string c_text(std::string_view form, std::initializer_list<hole> holes) {
  std::string text;
  form.remove_prefix(std::min(form.find_first_not_of(white), form.size()));
  while (!form.empty()) {
    const std::size_t plain = std::min(form.find_first_of(" \n$"), form.size());
    text += form.substr(0, plain);
    form.remove_prefix(plain);
    if (form.empty()) break;
    std::size_t length = 0;
    if (form.front() == '$') {
      length = form.find('$', 1) + 1;
      if (length == 0) throw std::logic_error("a hole of the planner has no end");
      text += text_in(form.substr(1, length - 2), holes);
    } else {
      length = std::min(form.find_first_not_of(white), form.size());
      text += white_in_text(form.substr(0, length), length == form.size());
    }
    form.remove_prefix(length);
  }
  return text;
}

}  // namespace sukima::language
