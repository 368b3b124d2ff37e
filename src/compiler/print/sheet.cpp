// SPDX-License-Identifier: Apache-2.0
#include "print/sheet.hpp"

namespace sukima::language {

sheet::sheet() = default;
sheet::sheet(const sheet& other) = default;
sheet::sheet(sheet&& other) noexcept = default;
sheet& sheet::operator=(const sheet& other) = default;
sheet& sheet::operator=(sheet&& other) noexcept = default;
sheet::~sheet() = default;

void sheet::text(std::string t) {
  if (!t.empty()) steps_.push_back({plain_text{std::move(t)}});
}

void sheet::token(std::string t, bool space) { steps_.push_back({printed_word{std::move(t), space}}); }

void sheet::go_to(clang::SourceLocation location, bool column) {
  steps_.push_back({source_line{location, column}});
}

void sheet::end_line() { steps_.push_back({line_end{}}); }

void sheet::append(sheet other) { steps_.push_back({std::move(other)}); }

const char* token_run::violated_invariant() const {
  if (tokens.begin > tokens.end) return "a run of tokens has an end";
  token_index free = tokens.begin;
  for (const auto& [t, one] : edits) {
    if (!tokens.holds(t)) return "the edits of a run are at its tokens";
    if (t < free) return "the edits of a run do not overlap";
    const auto* const whole = std::get_if<replaced>(&one.change);
    if (whole != nullptr && (whole->end <= t || whole->end > tokens.end))
      return "an edit replaces tokens of its run";
    if (const auto* const words = std::get_if<reworded>(&one.change);
        words != nullptr && words->words.empty())
      return "a token is reworded by words";
    free = whole != nullptr ? whole->end : t + 1;
  }
  return nullptr;
}

void sheet::tokens(token_run run) {
  SUKIMA_ASSERT_VALID(run);
  steps_.push_back({std::move(run)});
}

}  // namespace sukima::language
