// SPDX-License-Identifier: Apache-2.0
#include "desugar/closure_syntax.hpp"

#include "desugar/token_stream.hpp"

namespace sukima::language {

using namespace clang;

namespace {

bool is_type_word(const Token& token) {
  return token.isOneOf(tok::kw_int, tok::kw_long, tok::kw_short, tok::kw_char, tok::kw_void, tok::kw_double,
                       tok::kw_float, tok::kw_unsigned, tok::kw_signed, tok::kw__Bool, tok::kw__Complex,
                       tok::kw___int128, tok::kw__Float16, tok::kw___float128);
}

}  // namespace

bool is_storage_word(const Token& token) {
  return token.isOneOf(tok::kw_static, tok::kw_auto, tok::kw_inline, tok::kw_register, tok::kw_extern,
                       tok::kw__Noreturn);
}

bool begins_type(const Token& token) {
  return is_type_word(token) || token.isOneOf(tok::kw_const, tok::kw_volatile, tok::kw_struct, tok::kw_union,
                                              tok::kw_enum, tok::kw_register, tok::kw_typeof);
}

bool begins_other_statement(const Token& token) {
  return token.isOneOf(tok::kw_if, tok::kw_else, tok::kw_for, tok::kw_while, tok::kw_do, tok::kw_switch,
                       tok::kw_case, tok::kw_default, tok::kw_goto, tok::kw_break, tok::kw_continue,
                       tok::kw_return);
}

bool takes_parenthesis(const Token& token) {
  return token.isOneOf(tok::kw_if, tok::kw_while, tok::kw_for, tok::kw_switch, tok::kw_sizeof,
                       tok::kw__Alignof, tok::kw_return, tok::kw___attribute, tok::kw_typeof,
                       tok::kw__Alignas, tok::kw__Atomic, tok::kw_asm);
}

std::size_t closure_syntax::opening_of(std::size_t bracket) const {
  int depth = 0;
  for (std::size_t k = bracket + 1; k-- > 0;) {
    const Token& t = in_.tokens[k];
    if (t.isOneOf(tok::r_paren, tok::r_square, tok::r_brace)) ++depth;
    if (t.isOneOf(tok::l_paren, tok::l_square, tok::l_brace) && --depth == 0) return k;
  }
  return 0;
}

std::size_t closure_syntax::closing_of(std::size_t bracket) const {
  int depth = 0;
  for (std::size_t k = bracket; k < in_.tokens.size(); ++k) {
    const Token& t = in_.tokens[k];
    if (t.isOneOf(tok::l_paren, tok::l_square, tok::l_brace)) ++depth;
    if (t.isOneOf(tok::r_paren, tok::r_square, tok::r_brace) && --depth == 0) return k;
  }
  return in_.tokens.size() - 1;
}

/// Returns whether this brace ends the members of a struct, union or enum.
bool closure_syntax::ends_members(std::size_t closing) const { return begins_members(opening_of(closing)); }

bool closure_syntax::is_closure_word(std::size_t position) const {
  if (position < 2 || position + 1 >= in_.tokens.size()) return false;
  const Token& word = in_.tokens[position];
  return word.is(tok::identifier) &&
         (word.getIdentifierInfo()->isStr("closure") || word.getIdentifierInfo()->isStr("lightweight")) &&
         in_.tokens[position + 1].is(tok::l_paren) && is_users(in_, sources_, position);
}

bool closure_syntax::at_closure(std::size_t position) const {
  if (!is_closure_word(position)) return false;
  const Token& before = in_.tokens[position - 1];
  if (before.is(tok::r_paren)) {
    // (*p) closure ( is a pointer to a closure; but `if (*p) closure (x);` calls a function named `closure`.
    const std::size_t open = opening_of(position - 1);
    if (open > 0 && takes_parenthesis(in_.tokens[open - 1])) return false;
    return in_.tokens[open + 1].isOneOf(tok::star, tok::l_paren, tok::kw___attribute);
  }
  if (before.isNot(tok::identifier)) return false;
  // `T f closure (` is a closure; but `static T closure (` declares a function named `closure`.
  for (std::size_t k = position - 1; k-- > 0;) {
    const Token& type = in_.tokens[k];
    if (type.isOneOf(tok::identifier, tok::star)) return true;
    if (is_type_word(type)) return true;
    if (type.is(tok::comma)) return !is_in_parentheses(k);  // `int a, f closure (`, an error
    if (type.is(tok::r_paren)) {  // typeof (x) f; or the end of a statement's head
      const std::size_t open = opening_of(k);
      return open > 0 && in_.tokens[open - 1].isOneOf(tok::kw_typeof, tok::kw___attribute, tok::kw__Atomic,
                                                      tok::kw__Alignas);
    }
    if (type.is(tok::r_brace)) return ends_members(k);
    if (!type.isOneOf(tok::kw_const, tok::kw_volatile, tok::kw_restrict) && !is_storage_word(type))
      return false;
  }
  return false;
}

bool closure_syntax::is_in_parentheses(std::size_t position) const {
  for (std::size_t k = position; k-- > 0;) {
    const Token& t = in_.tokens[k];
    if (t.is(tok::l_paren)) return true;
    if (t.isOneOf(tok::semi, tok::l_brace)) return false;
    if (t.isOneOf(tok::r_paren, tok::r_square, tok::r_brace)) k = opening_of(k);
  }
  return false;
}

closure_context closure_syntax::context_of(std::size_t name) const {
  closure_context result{name, false, false, false};
  bool comma = false;
  for (std::size_t k = name; k > 0;) {
    --k;
    const Token& t = in_.tokens[k];
    if (t.isOneOf(tok::semi, tok::l_brace, tok::colon)) break;
    if (t.is(tok::r_brace)) {
      if (!ends_members(k)) break;
      k = opening_of(k);
    } else if (t.isOneOf(tok::r_paren, tok::r_square)) {
      const std::size_t open = opening_of(k);
      // The head of a statement, as in `if (x) int f closure …`, is not part of it.
      if (open > 0 && in_.tokens[open - 1].isOneOf(tok::kw_if, tok::kw_while, tok::kw_for, tok::kw_switch))
        break;
      k = open;
    } else if (t.is(tok::l_paren)) {
      if (!in_.tokens[k + 1].isOneOf(tok::star, tok::l_paren)) result.is_parameter = true;
      comma = false;
    } else if (t.is(tok::comma)) {
      comma = true;
    } else if (t.isOneOf(tok::kw_else, tok::kw_do)) {
      break;
    } else if (t.is(tok::kw_typedef)) {
      result.is_typedef = true;
    }
    result.begin = k;
  }
  result.shares = comma;
  return result;
}

std::optional<std::size_t> closure_syntax::closure_of_worker(std::size_t worker) const {
  for (std::size_t k = worker + 1; k + 1 < in_.tokens.size(); ++k) {
    const Token& t = in_.tokens[k];
    if (at_closure(k)) return k;
    if (t.isOneOf(tok::semi, tok::equal, tok::comma, tok::r_brace, tok::eof)) return std::nullopt;
    if (t.is(tok::l_brace)) {
      k = closing_of(k);
    } else if (t.is(tok::l_paren)) {
      if (takes_parenthesis(in_.tokens[k - 1]))
        k = closing_of(k);
      else if (!in_.tokens[k + 1].isOneOf(tok::star, tok::l_paren, tok::kw___attribute))
        return std::nullopt;
    }
  }
  return std::nullopt;
}

/// Adds the names of the `__label__` declaration at a position. \returns the position of its semicolon
std::size_t closure_syntax::add_declared_labels(std::size_t position, std::set<std::string>& names) const {
  for (; !in_.tokens[position].isOneOf(tok::semi, tok::eof); ++position)
    if (in_.tokens[position].is(tok::identifier))
      names.insert(in_.tokens[position].getIdentifierInfo()->getName().str());
  return position;
}

std::set<std::string> closure_syntax::declared_labels_between(std::size_t begin, std::size_t end) const {
  std::set<std::string> names;
  for (std::size_t k = begin; k < end; ++k)
    if (in_.tokens[k].is(tok::kw___label__)) k = add_declared_labels(k, names);
  return names;
}

/// Returns whether this brace begins the members of a struct, union or enum.
bool closure_syntax::begins_members(std::size_t opening) const {
  std::size_t k = opening;
  while (k > 1 && in_.tokens[k - 1].is(tok::r_paren)) {  // an attribute's
    const std::size_t open = opening_of(k - 1);
    if (open == 0 || in_.tokens[open - 1].isNot(tok::kw___attribute)) return false;
    k = open - 1;
  }
  std::size_t type = k;  // of the values of an enum, as in enum e : long {
  while (type > 0 && is_a_word(in_.tokens[type - 1]) &&
         !in_.tokens[type - 1].isOneOf(tok::kw_struct, tok::kw_union, tok::kw_enum))
    --type;
  const bool has_type = type < k && type > 1 && in_.tokens[type - 1].is(tok::colon);
  if (has_type) k = type - 1;
  if (k > 0 && in_.tokens[k - 1].is(tok::identifier)) --k;
  if (has_type) return k > 0 && in_.tokens[k - 1].is(tok::kw_enum);
  while (k > 1 && in_.tokens[k - 1].is(tok::r_paren)) {
    const std::size_t open = opening_of(k - 1);
    if (open == 0 || in_.tokens[open - 1].isNot(tok::kw___attribute)) return false;
    k = open - 1;
  }
  return k > 0 && in_.tokens[k - 1].isOneOf(tok::kw_struct, tok::kw_union, tok::kw_enum);
}

/// Returns whether this brace begins initial values. \param in_values  the brace itself is within initial
/// values
bool closure_syntax::begins_values(std::size_t opening, bool in_values) const {
  const Token& before = in_.tokens[opening - 1];
  if (before.isOneOf(tok::equal, tok::comma)) return true;
  if (before.isOneOf(tok::l_brace, tok::colon)) return in_values;
  if (before.isNot(tok::r_paren)) return false;
  // (T){…}, but not the head of a statement or of a clause such as `catch (…) {`
  const std::size_t open = opening_of(opening - 1);
  return open > 0 && !in_.tokens[open - 1].isOneOf(tok::identifier, tok::r_paren, tok::kw_if, tok::kw_while,
                                                   tok::kw_for, tok::kw_switch, tok::kw___attribute);
}

bool closure_syntax::begins_block(std::span<const std::size_t> open) const {
  if (open.empty() || in_.tokens[open.back()].isNot(tok::l_brace) || begins_members(open.back()))
    return false;
  const std::size_t last = open.size() - 1;
  std::size_t k = last;  // the outermost brace on which it depends whether the last one begins values
  while (k > 0 && in_.tokens[open[k] - 1].isOneOf(tok::l_brace, tok::colon) &&
         in_.tokens[open[k - 1]].is(tok::l_brace))
    --k;
  bool values = false;
  for (; k <= last; ++k) values = open[k] > 0 && begins_values(open[k], values);
  return !values;
}

/// Returns whether this parenthesis ends the head of a statement, or attributes of a statement.
bool closure_syntax::ends_head(std::size_t closing) const {
  const std::size_t open = opening_of(closing);
  if (open == 0) return false;
  const Token& word = in_.tokens[open - 1];
  return word.isOneOf(tok::kw_if, tok::kw_while, tok::kw_for, tok::kw_switch) ||
         (word.is(tok::kw___attribute) && may_begin_statement(open - 1));
}

/// Returns whether this colon ends a label. Otherwise it is part of a conditional expression.
bool closure_syntax::ends_label(std::size_t colon) const {
  std::size_t colons = 0;  // without their question marks
  for (std::size_t k = colon; k-- > 0;) {
    const Token& t = in_.tokens[k];
    if (t.isOneOf(tok::r_paren, tok::r_square)) {
      k = opening_of(k);
    } else if (t.is(tok::r_brace)) {
      const std::size_t open = opening_of(k);
      if (!begins_members(open) && !begins_values(open, false)) return true;
      k = open;
    } else if (t.is(tok::colon)) {
      ++colons;
    } else if (t.is(tok::question)) {
      if (colons == 0) return false;
      --colons;
    } else if (t.isOneOf(tok::semi, tok::l_brace, tok::l_paren, tok::l_square, tok::kw_case, tok::kw_default,
                         tok::kw_else, tok::kw_do)) {
      return true;
    }
  }
  return true;
}

bool closure_syntax::may_begin_statement(std::size_t position) const {
  while (position > 0 && in_.of_pragma[position - 1]) --position;
  if (position == 0) return false;
  const Token& before = in_.tokens[position - 1];
  return before.isOneOf(tok::semi, tok::l_brace, tok::kw_else, tok::kw_do) ||
         (before.is(tok::r_brace) && !ends_members(position - 1)) ||
         (before.is(tok::r_paren) && ends_head(position - 1)) ||
         (before.is(tok::colon) && ends_label(position - 1));
}

std::set<std::string> closure_syntax::labels_between(std::size_t begin, std::size_t end) const {
  std::set<std::string> found;
  std::set<std::string> declared;
  bool conditional = false;
  std::vector<bool> braces;  // for each open brace: whether it begins initial values
  for (std::size_t k = begin; k < end; ++k) {
    const Token& t = in_.tokens[k];
    if (t.is(tok::l_brace)) {
      if (begins_members(k)) {
        k = closing_of(k);
        continue;
      }
      braces.push_back(begins_values(k, !braces.empty() && braces.back()));
    }
    if (t.is(tok::r_brace) && !braces.empty()) braces.pop_back();
    if (t.isOneOf(tok::semi, tok::l_brace, tok::r_brace)) conditional = false;
    if (t.is(tok::question)) conditional = true;
    if (t.is(tok::kw___label__)) {
      k = add_declared_labels(k, declared);
      continue;
    }
    if (at_closure(k)) {
      k = closing_of(k + 1);
      while (k < end && !in_.tokens[k].isOneOf(tok::semi, tok::l_brace, tok::comma)) ++k;
      if (k < end && in_.tokens[k].is(tok::l_brace)) k = closing_of(k);
      continue;
    }
    const bool is_designator = in_.tokens[k - 1].is(tok::l_brace) && !braces.empty() && braces.back();
    if (t.is(tok::identifier) && !conditional && !is_designator && in_.tokens[k + 1].is(tok::colon) &&
        in_.tokens[k - 1].isOneOf(tok::semi, tok::l_brace, tok::r_brace, tok::colon, tok::r_paren,
                                  tok::kw_else, tok::kw_do))
      found.insert(t.getIdentifierInfo()->getName().str());
  }
  for (const std::string& name : declared) found.erase(name);
  return found;
}

}  // namespace sukima::language
