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

void sheet::tokens(token_run run) { steps_.push_back({std::move(run)}); }

}  // namespace sukima::language
