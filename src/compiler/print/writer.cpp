// SPDX-License-Identifier: Apache-2.0
#include "print/writer.hpp"

#include <base/shared/assert.hpp>

#include <algorithm>
#include <cctype>

#include "print/marks.hpp"

namespace sukima::language {
namespace {

std::string quoted(std::string_view file) {
  std::string text = "\"";
  for (const char c : file) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text + '"';
}

bool is_word_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$';
}

}  // namespace

const char* writer::violated_invariant() const {
  if ((column_ == 0) != (text_.empty() || text_.back() == '\n'))
    return "the column of a text is 0 at the beginning of its lines only";
  if (column_ > text_.size()) return "a column is within the text";
  return nullptr;
}

void writer::go_to(std::string_view file, unsigned line, unsigned column) {
  SUKIMA_ASSERT_VALID_AT_END(*this);
  constexpr unsigned few_lines = 6;
  if (line_ != line || file_ != file) {
    const bool near = file_ == file && line_ != 0 && line_ < line && line - line_ <= few_lines;
    if (near || !line_directives_) {
      const unsigned count = near ? line - line_ : 1;
      text_.append(column_ == 0 && !near ? 0 : count, '\n');
    } else {
      end_line();
      text_ += "#line " + std::to_string(line) + " " + quoted(file) + "\n";
    }
    file_ = file;
    line_ = line;
    column_ = 0;
  }
  if (column_ == 0 && column > 1) {
    const unsigned indentation = std::min(column - 1, 100U);
    text_.append(indentation, ' ');
    column_ = indentation;
  }
}

void writer::text(std::string_view t) {
  SUKIMA_ASSERT_VALID_AT_END(*this);
  if (t.empty()) return;
  text_ += t;
  const auto lines = static_cast<unsigned>(std::count(t.begin(), t.end(), '\n'));
  if (lines == 0) {
    column_ += static_cast<unsigned>(t.size());
  } else {
    if (line_ != 0) line_ += lines;
    column_ = static_cast<unsigned>(t.size() - t.rfind('\n') - 1);
  }
}

void writer::token(std::string_view word, bool space) {
  const auto before = std::find_if_not(text_.rbegin(), text_.rend(), is_mark);
  const char last = before == text_.rend() ? '\n' : *before;
  const auto begin = std::find_if_not(word.begin(), word.end(), is_mark);
  const char first = begin == word.end() ? ' ' : *begin;
  const bool together =
      !word.empty() && ((is_word_character(last) && is_word_character(first)) ||
                        (std::ispunct(static_cast<unsigned char>(last)) != 0 &&
                         std::string_view("+-&|<>=#%:.*/").find(first) != std::string_view::npos &&
                         std::string_view("+-&|<>=#%:.*/!^").find(last) != std::string_view::npos));
  // Without a blank, "0x0E" and "+" would be one token, as would "1" and "...".
  const bool in_number =
      (std::string_view("eEpP").find(last) != std::string_view::npos && (first == '+' || first == '-')) ||
      (std::isdigit(static_cast<unsigned char>(last)) != 0 && first == '.');
  if ((space || together || in_number) && last != ' ' && last != '\n') text(" ");
  text(word);
}

void writer::end_line() {
  SUKIMA_ASSERT_VALID(*this);
  if (column_ == 0) return;
  text_ += '\n';
  if (line_ != 0) ++line_;
  column_ = 0;
}

void writer::append(const writer& other) {
  SUKIMA_ASSERT_VALID_AT_END(*this);
  end_line();
  text_ += other.text_;
  line_ = 0;
  column_ = other.column_;
  end_line();
}

}  // namespace sukima::language
