// SPDX-License-Identifier: Apache-2.0
// Generated C, written as C: forms with named holes.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace sukima::language {

/// The text for the holes `$name$` of a form.
struct hole {
  std::string_view name;
  std::string_view text;
};

/// Fills the holes of a form. A line break of the form, with the indentation after it, becomes one blank. An
/// empty line becomes a line break of the text. White space at the beginning of the form and a line break at
/// its end are omitted.
/// \throws std::logic_error if a hole has no text
std::string c_text(std::string_view form, std::initializer_list<hole> holes);

}  // namespace sukima::language
