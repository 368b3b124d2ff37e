// SPDX-License-Identifier: Apache-2.0
// Nested functions. A closure's type is that of a function pointer with a calling convention of its own; the
// block stays in the function around it, where Clang finds the names that it uses.
#include "desugar/desugarer.hpp"

namespace sukima::language {

using namespace clang;

namespace {

/// Words in front of a declaration that say where something is stored, which a closure's pointer is not.
bool is_storage_word(const Token& token) {
  return token.isOneOf(tok::kw_static, tok::kw_auto, tok::kw_inline, tok::kw_register, tok::kw_extern,
                       tok::kw__Noreturn);
}

bool is_type_word(const Token& token) {
  return token.isOneOf(tok::kw_int, tok::kw_long, tok::kw_short, tok::kw_char, tok::kw_void, tok::kw_double,
                       tok::kw_float, tok::kw_unsigned, tok::kw_signed, tok::kw__Bool, tok::kw__Complex,
                       tok::kw___int128, tok::kw__Float16, tok::kw___float128);
}

}  // namespace

bool desugarer::takes_parenthesis(const Token& token) {
  return token.isOneOf(tok::kw_if, tok::kw_while, tok::kw_for, tok::kw_switch, tok::kw_sizeof,
                       tok::kw__Alignof, tok::kw_return, tok::kw___attribute, tok::kw_typeof,
                       tok::kw__Alignas, tok::kw__Atomic, tok::kw_asm);
}

std::size_t desugarer::opening_of(std::size_t bracket) const {
  int depth = 0;
  for (std::size_t k = bracket + 1; k-- > 0;) {
    const Token& t = in_.tokens[k];
    if (t.isOneOf(tok::r_paren, tok::r_square, tok::r_brace)) ++depth;
    if (t.isOneOf(tok::l_paren, tok::l_square, tok::l_brace) && --depth == 0) return k;
  }
  return 0;
}

std::size_t desugarer::closing_of(std::size_t bracket) const {
  int depth = 0;
  for (std::size_t k = bracket; k < in_.tokens.size(); ++k) {
    const Token& t = in_.tokens[k];
    if (t.isOneOf(tok::l_paren, tok::l_square, tok::l_brace)) ++depth;
    if (t.isOneOf(tok::r_paren, tok::r_square, tok::r_brace) && --depth == 0) return k;
  }
  return in_.tokens.size() - 1;
}

bool desugarer::is_closure_word(std::size_t position) const {
  if (position < 2 || position + 1 >= in_.tokens.size()) return false;
  const Token& word = in_.tokens[position];
  return word.is(tok::identifier) &&
         (word.getIdentifierInfo()->isStr("closure") || word.getIdentifierInfo()->isStr("lightweight")) &&
         in_.tokens[position + 1].is(tok::l_paren) && is_users(position);
}

bool desugarer::at_closure(std::size_t position) const {
  if (!is_closure_word(position)) return false;
  const Token& before = in_.tokens[position - 1];
  if (before.is(tok::r_paren)) {
    // (*p) closure ( ; but `if (*p) closure (x);` calls a function of that name.
    const std::size_t open = opening_of(position - 1);
    if (open > 0 && takes_parenthesis(in_.tokens[open - 1])) return false;
    return in_.tokens[open + 1].isOneOf(tok::star, tok::l_paren, tok::kw___attribute);
  }
  if (before.isNot(tok::identifier)) return false;
  // `T f closure (`; but `static T closure (` declares a function of that name.
  for (std::size_t k = position - 1; k-- > 0;) {
    const Token& type = in_.tokens[k];
    if (type.isOneOf(tok::identifier, tok::star)) return true;
    if (is_type_word(type)) return true;
    if (type.is(tok::r_paren)) {  // typeof (x) f; or the end of a statement's head
      const std::size_t open = opening_of(k);
      return open > 0 && in_.tokens[open - 1].isOneOf(tok::kw_typeof, tok::kw___attribute, tok::kw__Atomic,
                                                      tok::kw__Alignas);
    }
    if (type.is(tok::r_brace)) {  // of a struct's members
      const std::size_t open = opening_of(k);
      for (std::size_t j = open; j > 0 && j + 3 > open; --j)
        if (in_.tokens[j - 1].isOneOf(tok::kw_struct, tok::kw_union, tok::kw_enum)) return true;
      return false;
    }
    if (!type.isOneOf(tok::kw_const, tok::kw_volatile, tok::kw_restrict) && !is_storage_word(type))
      return false;
  }
  return false;
}

/// What declaration the name of a closure stands in.
desugarer::surroundings desugarer::surroundings_of(std::size_t name) const {
  surroundings result{name, false, false, false};
  bool comma = false;
  for (std::size_t k = name; k > 0;) {
    --k;
    const Token& t = in_.tokens[k];
    if (t.isOneOf(tok::semi, tok::l_brace, tok::colon)) break;
    if (t.is(tok::r_brace)) {
      const std::size_t open = opening_of(k);
      bool of_type = false;
      for (std::size_t j = open; j > 0 && j + 3 > open && !of_type; --j)
        of_type = in_.tokens[j - 1].isOneOf(tok::kw_struct, tok::kw_union, tok::kw_enum);
      if (!of_type) break;
      k = open;
    } else if (t.isOneOf(tok::r_paren, tok::r_square)) {
      const std::size_t open = opening_of(k);
      // The head of a statement, as in `if (x) int f closure …`, is no part of it.
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

/// Whether the word `worker` at a place belongs to a closure or a pointer to closures: the parameters of the
/// outermost function type of its declarator are those behind `closure`.
bool desugarer::is_worker_closure(std::size_t worker) {
  for (std::size_t k = worker + 1; k + 1 < in_.tokens.size(); ++k) {
    const Token& t = in_.tokens[k];
    if (worker_closures_.contains(k)) return true;
    if (at_closure(k)) {
      worker_closures_.insert(k);
      return true;
    }
    if (t.isOneOf(tok::semi, tok::equal, tok::comma, tok::r_brace, tok::eof)) return false;
    if (t.is(tok::l_brace)) {
      k = closing_of(k);
    } else if (t.is(tok::l_paren)) {
      if (takes_parenthesis(in_.tokens[k - 1]))
        k = closing_of(k);
      else if (!in_.tokens[k + 1].isOneOf(tok::star, tok::l_paren, tok::kw___attribute))
        return false;
    }
  }
  return false;
}

token_index desugarer::unit_token_of(std::size_t source) const {
  for (token_index t = here(); t-- > 0;)
    if (unit_.origins[t] == source) {
      while (t > 0 && unit_.origins[t - 1] == no_token && unit_.roles[t - 1] == token_role::added) --t;
      return t;
    }
  return here();
}

/// [[clang::preserve_all]] behind the parameters of a closure's type: another convention than a function's.
void desugarer::closure_type_mark(SourceLocation location) {
  put(tok::l_square, location);
  put(tok::l_square, location);
  put("clang", location);
  put(tok::coloncolon, location);
  put(worker_closures_.contains(at_) ? "preserve_none" : "preserve_all", location);
  put(tok::r_square, location);
  put(tok::r_square, location);
}

/// From the word `closure` to the end of the parameters.
void desugarer::closure_parameters() {
  const bool is_worker = worker_closures_.contains(at_);
  const SourceLocation location = token().getLocation();
  skip();
  unit_.closure_types.insert(token().getLocation().getRawEncoding());
  if (is(tok::r_paren, 1)) {
    copy();
    put("void", location, token_role::added);
    copy();
  } else {
    step_over();
  }
  if (is_worker) worker_closures_.insert(at_);
  closure_type_mark(location);
  if (is_worker) worker_closures_.erase(at_);
}

void desugarer::closure() {
  if (previous()->isNot(tok::identifier)) return closure_parameters();
  const surroundings around = surroundings_of(at_ - 1);
  if (around.is_typedef) return closure_parameters();
  if (around.is_parameter) {
    const Token name = unit_.tokens.back();
    const token_index origin = unit_.origins.back();
    unit_.tokens.pop_back();
    unit_.roles.pop_back();
    unit_.origins.pop_back();
    put(tok::l_paren, name.getLocation(), token_role::added);
    put(tok::star, name.getLocation(), token_role::added);
    unit_.at.erase(name.getLocation().getRawEncoding());
    push(name, token_role::user, origin);
    put(tok::r_paren, name.getLocation(), token_role::added);
    return closure_parameters();
  }
  named_closure(around);
}

/// A closure, or its forward declaration: T f closure (…) becomes T (*const f)(…);
void desugarer::named_closure(const surroundings& around) {
  const Token name = *previous();
  const SourceLocation location = name.getLocation();
  const std::string word = name.getIdentifierInfo()->getName().str();
  if (depth_ == 0)
    fail(location, "closure '" + word +
                       "' stands outside of any function; write it inside of one, or leave 'closure' out");
  if (around.shares)
    fail(location, "closure '" + word + "' shares its declaration; write one of its own for it");
  closure_declaration& c = unit_.closures.emplace_back();
  c.name = word;
  c.number = static_cast<unsigned>(unit_.closures.size());
  c.location = location;
  c.is_worker = worker_closures_.contains(at_);
  c.whole.begin = unit_token_of(around.begin);
  for (token_index t = c.whole.begin; t < here(); ++t)
    if (is_storage_word(unit_.tokens[t]) && unit_.roles[t] == token_role::user)
      unit_.roles[t] = token_role::keyword;
  if (auto known = forward_.back().find(word); known != forward_.back().end()) {
    c.forward = known->second;
    if (c.forward->definition != nullptr)
      fail(location, "a second closure '" + word + "' in the same block; give it another name");
  }
  const token_index origin = unit_.origins.back();
  unit_.tokens.pop_back();
  unit_.roles.pop_back();
  unit_.origins.pop_back();
  unit_.at.erase(location.getRawEncoding());
  put(tok::l_paren, location);
  put(tok::star, location);
  put("const", location);
  c.name_token = here();
  push(name, c.forward == nullptr ? token_role::user : token_role::printed_only, origin);
  if (c.forward != nullptr) put("sukima_closure_" + std::to_string(c.number), location);
  put(tok::r_paren, location);
  c.parameters.begin = here() + 1;
  closure_parameters();
  c.parameters.end = here() - 7;  // without the mark behind them
  c.rest.begin = here();
  while (!is(tok::l_brace) && !is(tok::semi)) {
    if (token().isOneOf(tok::comma, tok::equal, tok::eof, tok::r_brace))
      fail(token().getLocation(), "expected ';' or a block behind the parameters of closure '" + word + "'");
    step_over();
  }
  c.rest.end = here();
  if (is(tok::semi)) {
    copy();
    c.whole.end = here();
    if (c.forward == nullptr) forward_.back()[word] = &c;
    return;
  }
  if (c.forward != nullptr)
    c.forward->definition = &c;
  else
    forward_.back()[word] = &c;
  closure_result_type(c);
  closure_body(c);
  c.whole.end = here();
  if (c.forward == nullptr) c.definition = &c;
}

/// typedef T sukima_result_N; void sukima_return_N(sukima_result_N): what a `return` hands its value to.
void desugarer::closure_result_type(closure_declaration& c) {
  const std::string number = std::to_string(c.number);
  put(tok::semi, c.location);
  put("typedef", c.location);
  const token_index declarator = c.name_token - 3;
  const auto copy_range = [this](token_index begin, token_index end) {
    for (token_index t = begin; t < end; ++t)
      if (unit_.roles[t] != token_role::keyword && unit_.roles[t] != token_role::printed_only) {
        const Token token = unit_.tokens[t];
        put_copy(token);
      }
  };
  copy_range(c.whole.begin, declarator);
  put("sukima_result_" + number, c.location);
  copy_range(c.rest.begin, c.rest.end);
  put(tok::semi, c.location);
  put("void", c.location);
  put("sukima_return_" + number, c.location);
  put(tok::l_paren, c.location);
  put("sukima_result_" + number, c.location);
  put(tok::r_paren, c.location);
  put(tok::semi, c.location);
}

}  // namespace sukima::language
