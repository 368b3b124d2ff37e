// SPDX-License-Identifier: Apache-2.0
#include "check/json_messages.hpp"

#include <utility>

#include <llvm/Support/Unicode.h>
#include <llvm/Support/raw_ostream.h>

namespace sukima::language {
namespace {

using clang::DiagnosticsEngine;

/// JSON is UTF-8, but names of files and parts of the user's text need not be.
std::string as_utf8(llvm::StringRef text) {
  return llvm::json::isUTF8(text) ? text.str() : llvm::json::fixUTF8(text);
}

/// Number of columns that the text before a place takes on a terminal. gcc's tab stops are 8 columns apart.
unsigned shown_width(llvm::StringRef text) {
  constexpr unsigned tab_stop = 8;
  unsigned columns = 0;
  while (!text.empty()) {
    const auto [part, rest] = text.split('\t');
    const int shown = llvm::sys::unicode::columnWidthUTF8(part);
    columns += shown < 0 ? static_cast<unsigned>(part.size()) : static_cast<unsigned>(shown);
    if (part.size() < text.size()) columns += tab_stop - columns % tab_stop;
    text = rest;
  }
  return columns;
}

llvm::json::Array json_locations(const clang::FullSourceLoc& place) {
  llvm::json::Array result;
  if (place.isInvalid() || !place.hasManager()) return result;
  const clang::FullSourceLoc here = place.getFileLoc();
  const clang::PresumedLoc named = here.getPresumedLoc();
  if (named.isInvalid()) return result;
  const auto [file, offset] = here.getDecomposedLoc();
  const llvm::StringRef before = here.getBufferData().substr(0, offset);
  const llvm::StringRef line = before.substr(before.rfind('\n') + 1);  // 0 after npos
  const unsigned column = shown_width(line) + 1;
  result.push_back(llvm::json::Object{{"caret", llvm::json::Object{{"file", as_utf8(named.getFilename())},
                                                                   {"line", named.getLine()},
                                                                   {"column", column},
                                                                   {"display-column", column},
                                                                   {"byte-column", named.getColumn()}}}});
  return result;
}

/// Removes the option from the end of a message. \returns it as gcc writes it: `-Wunused`, `-Werror=unused`
std::string taken_option(std::string& message) {
  const std::size_t begin = message.rfind(" [-W");
  if (begin == std::string::npos || !message.ends_with(']')) return "";
  std::string option = message.substr(begin + 2, message.size() - begin - 3);
  message.resize(begin);
  constexpr llvm::StringLiteral promoted = "-Werror,-W";
  if (llvm::StringRef(option).starts_with(promoted)) option.replace(0, promoted.size(), "-Werror=");
  return option;
}

const char* json_kind(DiagnosticsEngine::Level level) {
  switch (level) {
    case DiagnosticsEngine::Fatal:
      return "fatal error";
    case DiagnosticsEngine::Error:
      return "error";
    case DiagnosticsEngine::Warning:
      return "warning";
    default:
      return "note";
  }
}

}  // namespace

void json_messages::print() { llvm::errs() << llvm::json::Value(std::exchange(messages_, {})) << '\n'; }

void json_messages::add(DiagnosticsEngine::Level level, const clang::FullSourceLoc& place,
                        std::string message) {
  const std::string option = taken_option(message);
  llvm::json::Object one{
      {"kind", json_kind(level)}, {"message", as_utf8(message)}, {"locations", json_locations(place)}};
  if (!option.empty()) one["option"] = option;
  llvm::json::Object* const last = messages_.empty() ? nullptr : messages_.back().getAsObject();
  if (level == DiagnosticsEngine::Note && last != nullptr) {
    last->getArray("children")->push_back(std::move(one));
    return;
  }
  one["children"] = llvm::json::Array();
  one["column-origin"] = 1;
  one["escape-source"] = false;
  messages_.push_back(std::move(one));
}

}  // namespace sukima::language
