// SPDX-License-Identifier: Apache-2.0
#include "desugar/token_stream.hpp"

#include "source/report.hpp"

namespace sukima::language {

using namespace clang;

bool is_users(const source_tokens& in, const SourceManager& sources, std::size_t position) {
  if (in.from_system[position]) return false;
  const SourceLocation location = in.tokens[position].getLocation();
  return location.isFileID() || !sources.isInSystemHeader(sources.getSpellingLoc(location));
}

const Token& token_stream::token(std::size_t ahead) const {
  return in_.tokens[std::min(at_ + ahead, in_.tokens.size() - 1)];
}

bool token_stream::is_word(const char* word, std::size_t ahead) const {
  const std::size_t position = std::min(at_ + ahead, in_.tokens.size() - 1);
  const Token& t = in_.tokens[position];
  if (t.isNot(tok::identifier) || !t.getIdentifierInfo()->isStr(word)) return false;
  if (position > 0 && in_.tokens[position - 1].isOneOf(tok::period, tok::arrow, tok::kw_struct, tok::kw_union,
                                                       tok::kw_enum, tok::kw_goto))
    return false;
  return is_users(in_, compiler_.getSourceManager(), position);
}

std::string token_stream::name(std::size_t ahead) const {
  return token(ahead).is(tok::identifier) ? token(ahead).getIdentifierInfo()->getName().str() : "";
}

void token_stream::report(SourceLocation location, const std::string& message) const {
  report_error(preprocessor_.getDiagnostics(), location, message);
  failed_ = true;
}

void token_stream::fail(SourceLocation location, const std::string& message) const {
  report(location, message);
  throw stop{};
}

void token_stream::expect(tok::TokenKind kind, const std::string& message) {
  if (!is(kind)) fail(token().getLocation(), message);
}

void token_stream::push(const Token& token, token_role role, token_index origin) {
  if (role != token_role::parsed_only && role != token_role::added)
    unit_.at.emplace(token.getLocation().getRawEncoding(), here());
  unit_.tokens.push_back(token);
  // The token that replaces another one begins a line if that one did. Clang's warnings about indentation
  // need this.
  if (role == token_role::keyword || role == token_role::printed_only)
    line_begins_ = line_begins_ || token.isAtStartOfLine();
  else if (std::exchange(line_begins_, false))
    unit_.tokens.back().setFlag(Token::StartOfLine);
  unit_.roles.push_back(role);
  unit_.origins.push_back(origin);
}

void token_stream::copy() {
  if (is(tok::l_brace)) open_braces_.push_back(here());
  if (is(tok::r_brace) && !open_braces_.empty()) open_braces_.pop_back();
  if (!in_.of_pragma[at_]) {
    if (token().isOneOf(tok::l_paren, tok::l_square, tok::l_brace)) open_brackets_.push_back(at_);
    if (token().isOneOf(tok::r_paren, tok::r_square, tok::r_brace) && !open_brackets_.empty())
      open_brackets_.pop_back();
  }
  consume(in_.from_system[at_] ? token_role::system
          : in_.of_pragma[at_] ? token_role::pragma
                               : token_role::user);
}

void token_stream::consume(token_role role) {
  SUKIMA_ASSERT(at_ < in_.tokens.size(), "no token is read behind the end of a file");
  push(token(), role, static_cast<token_index>(at_));
  ++at_;
}

token_index token_stream::pop() {
  SUKIMA_ASSERT(unit_.origins.back() != no_token, "only a token of the source is taken back");
  const token_index origin = unit_.origins.back();
  unit_.at.erase(unit_.tokens.back().getLocation().getRawEncoding());
  unit_.tokens.pop_back();
  unit_.roles.pop_back();
  unit_.origins.pop_back();
  return origin;
}

void token_stream::put(tok::TokenKind kind, SourceLocation location, token_role role) {
  Token t;
  t.startToken();
  t.setKind(kind);
  t.setLocation(location);
  t.setLength(1);
  t.setFlag(Token::LeadingSpace);
  push(t, role);
}

void token_stream::put(const std::string& word, SourceLocation location, token_role role) {
  Token t;
  t.startToken();
  IdentifierInfo* const info = preprocessor_.getIdentifierInfo(word);
  t.setIdentifierInfo(info);
  t.setKind(info->getTokenID());
  t.setLocation(location);
  t.setLength(static_cast<unsigned>(word.size()));
  t.setFlag(Token::LeadingSpace);
  push(t, role);
}

void token_stream::put_zero(SourceLocation location) {
  Token t;
  t.startToken();
  t.setKind(tok::numeric_constant);
  t.setLocation(location);
  t.setLiteralData("0");
  t.setLength(1);
  t.setFlag(Token::LeadingSpace);
  push(t, token_role::parsed_only);
}

void token_stream::put_unknown(SourceLocation location) {
  put("__builtin_readcyclecounter", location);
  put(tok::l_paren, location);
  put(tok::r_paren, location);
}

void token_stream::put_unused(SourceLocation location) {
  put("__attribute__", location);
  put(tok::l_paren, location);
  put(tok::l_paren, location);
  put("unused", location);
  put(tok::r_paren, location);
  put(tok::r_paren, location);
}

void token_stream::put_void_cast(SourceLocation location) {
  put(tok::l_paren, location);
  put("void", location);
  put(tok::r_paren, location);
}

}  // namespace sukima::language
