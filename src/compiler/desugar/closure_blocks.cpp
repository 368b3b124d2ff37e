// SPDX-License-Identifier: Apache-2.0
// The blocks of nested functions, which the parser sees as blocks of the enclosing function. Their parameters
// become variables of the block. A `return` passes its value to a function, and a goto out of the block takes
// the address of its label.
#include "desugar/desugarer.hpp"

namespace sukima::language {

using namespace clang;

void desugarer::closure_body(closure_declaration& c) {
  closure_declaration* const outer = closure_;
  construct* const outer_construct = current_;
  const std::set<std::string> outer_labels = closure_labels_;
  closure_ = &c;
  current_ = nullptr;
  const std::size_t end = syntax_.closing_of(at_);
  const std::set<std::string> labels = syntax_.labels_between(at_ + 1, end);
  closure_labels_ =
      syntax_.declared_labels_between(at_ + 1, end);  // labels of inner blocks are also labels of the closure
  closure_labels_.insert(labels.begin(), labels.end());
  c.body.begin = here();
  copy();
  for (const std::string& label : labels) {
    put("__label__", c.location);
    put(label, c.location);
    put(tok::semi, c.location);
  }
  copy_label_declarations();
  parameter_variables(c);
  copy_to(tok::r_brace);
  SUKIMA_ASSERT(closure_ == &c && current_ == nullptr, "the closures and constructs in a block have ended");
  c.body.end = here();
  closure_ = outer;
  current_ = outer_construct;
  closure_labels_ = outer_labels;
}

/// Copies `__label__ a, b;`, which must be first in a block.
void desugarer::copy_label_declarations() {
  while (is(tok::kw___label__)) {
    while (!is(tok::semi) && !is(tok::eof)) copy();
    copy();
  }
}

/// Declares the parameters again as variables of the block.
void desugarer::parameter_variables(const closure_declaration& c) {
  token_index begin = c.parameters.begin + 1;
  int depth = 0;
  for (token_index t = begin; t < c.parameters.end; ++t) {
    const Token& token = unit_.tokens[t];
    const bool last = t + 1 == c.parameters.end;
    if (!last && unit_.roles[t] != token_role::keyword) {
      if (token.isOneOf(tok::l_paren, tok::l_square, tok::l_brace)) ++depth;
      if (token.isOneOf(tok::r_paren, tok::r_square, tok::r_brace)) --depth;
    }
    if (!last && (depth > 0 || token.isNot(tok::comma))) continue;
    parameter_variable({begin, t}, c.location);
    begin = t + 1;
  }
}

/// Rewrites the declarator of an array or function parameter, which is a pointer.
void desugarer::parameter_variable(token_range parameter, SourceLocation location) {
  std::vector<Token> tokens;
  for (token_index t = parameter.begin; t < parameter.end; ++t)
    if (unit_.roles[t] != token_role::keyword && unit_.roles[t] != token_role::printed_only)
      tokens.push_back(unit_.tokens[t]);
  if (tokens.empty() || tokens.front().is(tok::ellipsis) ||
      (tokens.size() == 1 && tokens.front().is(tok::kw_void)))
    return;
  const auto end_of_bracket = [&tokens](std::size_t open) {
    int depth = 0;
    for (std::size_t k = open; k < tokens.size(); ++k) {
      if (tokens[k].isOneOf(tok::l_paren, tok::l_square, tok::l_brace)) ++depth;
      if (tokens[k].isOneOf(tok::r_paren, tok::r_square, tok::r_brace) && --depth == 0) return k;
    }
    return tokens.size() - 1;
  };
  std::size_t name = tokens.size();
  std::size_t next = tokens.size();
  for (std::size_t k = 0; k < tokens.size(); ++k) {
    const Token& t = tokens[k];
    if (t.is(tok::identifier)) name = k;
    if (t.isOneOf(tok::r_paren, tok::l_square)) {
      next = k;
      break;
    }
    if (t.is(tok::l_brace)) k = end_of_bracket(k);
    if (t.is(tok::l_paren)) {
      if (k > 0 && takes_parenthesis(tokens[k - 1])) {
        k = end_of_bracket(k);
      } else if (k + 1 < tokens.size() && !tokens[k + 1].isOneOf(tok::star, tok::l_paren)) {
        next = k;
        break;
      }
    }
  }
  if (name == tokens.size()) return;
  const bool is_array = next < tokens.size() && tokens[next].is(tok::l_square);
  const bool is_function = next < tokens.size() && tokens[next].is(tok::l_paren);
  SUKIMA_ASSERT(next == tokens.size() || name < next,
                "the name of a parameter precedes its bounds or parameters");
  for (std::size_t k = 0; k < tokens.size(); ++k) {
    if (tokens[k].is(tok::kw_register)) continue;
    if (k != name || !(is_array || is_function)) {
      if (is_array && k == next) {
        k = end_of_bracket(k);
        continue;
      }
      put_copy(tokens[k]);
      continue;
    }
    put(tok::l_paren, location);
    put(tok::star, location);
    if (is_array)
      for (std::size_t q = next; q < end_of_bracket(next); ++q)
        if (tokens[q].isOneOf(tok::kw_const, tok::kw_volatile, tok::kw_restrict)) put_copy(tokens[q]);
    put_copy(tokens[k]);
    put(tok::r_paren, location);
  }
  put_unused(location);
  put(tok::semi, location);  // without an initial value, because no text is one for every type
}

/// Rewrites `return E;`, which the parser sees as sukima_return_N((E));
void desugarer::closure_return() {
  const SourceLocation location = token().getLocation();
  closure_->returns.push_back(here());
  consume(token_role::printed_only);
  if (is(tok::semi)) {
    const SourceLocation apart = location.getLocWithOffset(1);  // there is no value
    put_void_cast(apart);
    put_zero(apart);
    return copy();
  }
  const closure_declaration& c = *closure_;
  token_index first = c.type;
  while (unit_.roles[first] == token_role::keyword) ++first;
  const bool nothing = unit_.tokens[first].is(tok::kw_void) && first + 4 == c.name_token;
  if (nothing) {
    put_void_cast(location);
  } else {
    put(result_function_of(c), location);
    put(tok::l_paren, location);
  }
  put(tok::l_paren, token().getLocation());
  while (!is(tok::semi)) {
    if (is(tok::eof) || token().isOneOf(tok::r_paren, tok::r_brace) || begins_other_statement(token()))
      fail(token().getLocation(), "expected ';' after 'return'");
    step_over();
  }
  put(tok::r_paren, location);
  if (!nothing) put(tok::r_paren, location);
  copy();
}

/// Hides va_start of a variadic closure from the parser, which would apply it to the enclosing function.
bool desugarer::closure_arguments() {
  if (!is(tok::identifier) || token().getIdentifierInfo()->getName() != "__builtin_va_start") return false;
  const SourceLocation location = token().getLocation();
  consume(token_role::printed_only);
  put_void_cast(location);
  put("sizeof", location);
  return true;
}

/// Rewrites a goto to a label that is not the closure's own.
bool desugarer::closure_goto() {
  if (!is_name(1) || !is(tok::semi, 2) || closure_labels_.contains(name(1))) return false;
  const SourceLocation location = token().getLocation();
  closure_jump jump{here(), 0};
  consume(token_role::printed_only);
  put_void_cast(location);
  put(tok::ampamp, location);
  jump.label = here();
  copy();
  copy();
  closure_->jumps.push_back(jump);
  return true;
}

}  // namespace sukima::language
