// SPDX-License-Identifier: Apache-2.0
// Nested functions. A closure's type is that of a function pointer with a calling convention of its own; the
// block stays in the function around it, where Clang finds the names that it uses.
#include "frontend/lowering.hpp"

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

bool takes_parenthesis(const Token& token) {
  return token.isOneOf(tok::kw_if, tok::kw_while, tok::kw_for, tok::kw_switch, tok::kw_sizeof,
                       tok::kw__Alignof, tok::kw_return, tok::kw___attribute, tok::kw_typeof,
                       tok::kw__Alignas, tok::kw__Atomic, tok::kw_asm);
}

}  // namespace

std::size_t lowering::opening_of(std::size_t bracket) const {
  int depth = 0;
  for (std::size_t k = bracket + 1; k-- > 0;) {
    const Token& t = in_.tokens[k];
    if (t.isOneOf(tok::r_paren, tok::r_square, tok::r_brace)) ++depth;
    if (t.isOneOf(tok::l_paren, tok::l_square, tok::l_brace) && --depth == 0) return k;
  }
  return 0;
}

std::size_t lowering::closing_of(std::size_t bracket) const {
  int depth = 0;
  for (std::size_t k = bracket; k < in_.tokens.size(); ++k) {
    const Token& t = in_.tokens[k];
    if (t.isOneOf(tok::l_paren, tok::l_square, tok::l_brace)) ++depth;
    if (t.isOneOf(tok::r_paren, tok::r_square, tok::r_brace) && --depth == 0) return k;
  }
  return in_.tokens.size() - 1;
}

bool lowering::is_closure_word(std::size_t position) const {
  if (position < 2 || position + 1 >= in_.tokens.size()) return false;
  const Token& word = in_.tokens[position];
  return word.is(tok::identifier) &&
         (word.getIdentifierInfo()->isStr("closure") || word.getIdentifierInfo()->isStr("lightweight")) &&
         in_.tokens[position + 1].is(tok::l_paren) && is_users(position);
}

bool lowering::at_closure(std::size_t position) const {
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
lowering::surroundings lowering::surroundings_of(std::size_t name) const {
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
bool lowering::is_worker_closure(std::size_t worker) {
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

token_index lowering::unit_token_of(std::size_t source) const {
  for (token_index t = here(); t-- > 0;)
    if (unit_.origins[t] == source) {
      while (t > 0 && unit_.origins[t - 1] == no_token && unit_.roles[t - 1] == token_role::added) --t;
      return t;
    }
  return here();
}

/// [[clang::preserve_all]] behind the parameters of a closure's type: another convention than a function's.
void lowering::closure_type_mark(SourceLocation place) {
  put(tok::l_square, place);
  put(tok::l_square, place);
  put("clang", place);
  put(tok::coloncolon, place);
  put(worker_closures_.contains(at_) ? "preserve_none" : "preserve_all", place);
  put(tok::r_square, place);
  put(tok::r_square, place);
}

/// From the word `closure` to the end of the parameters.
void lowering::closure_parameters() {
  const bool is_worker = worker_closures_.contains(at_);
  const SourceLocation place = token().getLocation();
  skip();
  unit_.closure_types.insert(token().getLocation().getRawEncoding());
  if (is(tok::r_paren, 1)) {
    copy();
    put("void", place, token_role::added);
    copy();
  } else {
    step_over();
  }
  if (is_worker) worker_closures_.insert(at_);
  closure_type_mark(place);
  if (is_worker) worker_closures_.erase(at_);
}

void lowering::closure() {
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

/// A closure, or its declaration ahead: T f closure (…) becomes T (*const f)(…);
void lowering::named_closure(const surroundings& around) {
  const Token name = *previous();
  const SourceLocation place = name.getLocation();
  const std::string word = name.getIdentifierInfo()->getName().str();
  if (depth_ == 0)
    fail(place, "closure '" + word +
                    "' stands outside of any function; write it inside of one, or leave 'closure' out");
  if (around.shares)
    fail(place, "closure '" + word + "' shares its declaration; write one of its own for it");
  closure_declaration& c = unit_.closures.emplace_back();
  c.name = word;
  c.number = static_cast<unsigned>(unit_.closures.size());
  c.place = place;
  c.is_worker = worker_closures_.contains(at_);
  c.whole.begin = unit_token_of(around.begin);
  for (token_index t = c.whole.begin; t < here(); ++t)
    if (is_storage_word(unit_.tokens[t]) && unit_.roles[t] == token_role::user)
      unit_.roles[t] = token_role::keyword;
  if (auto known = ahead_.back().find(word); known != ahead_.back().end()) {
    c.ahead = known->second;
    if (c.ahead->definition != nullptr)
      fail(place, "a second closure '" + word + "' in the same block; give it another name");
  }
  const token_index origin = unit_.origins.back();
  unit_.tokens.pop_back();
  unit_.roles.pop_back();
  unit_.origins.pop_back();
  unit_.at.erase(place.getRawEncoding());
  put(tok::l_paren, place);
  put(tok::star, place);
  put("const", place);
  c.name_token = here();
  push(name, c.ahead == nullptr ? token_role::user : token_role::printed, origin);
  if (c.ahead != nullptr) put("sukima_closure_" + std::to_string(c.number), place);
  put(tok::r_paren, place);
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
    if (c.ahead == nullptr) ahead_.back()[word] = &c;
    return;
  }
  if (c.ahead != nullptr)
    c.ahead->definition = &c;
  else
    ahead_.back()[word] = &c;
  closure_result_type(c);
  closure_body(c);
  c.whole.end = here();
  if (c.ahead == nullptr) c.definition = &c;
}

/// typedef T sukima_result_N; void sukima_return_N(sukima_result_N): what a `return` hands its value to.
void lowering::closure_result_type(closure_declaration& c) {
  const std::string number = std::to_string(c.number);
  put(tok::semi, c.place);
  put("typedef", c.place);
  const token_index declarator = c.name_token - 3;
  const auto copy_range = [this](token_index begin, token_index end) {
    for (token_index t = begin; t < end; ++t)
      if (unit_.roles[t] != token_role::keyword && unit_.roles[t] != token_role::printed) {
        const Token token = unit_.tokens[t];
        put_copy(token);
      }
  };
  copy_range(c.whole.begin, declarator);
  put("sukima_result_" + number, c.place);
  copy_range(c.rest.begin, c.rest.end);
  put(tok::semi, c.place);
  put("void", c.place);
  put("sukima_return_" + number, c.place);
  put(tok::l_paren, c.place);
  put("sukima_result_" + number, c.place);
  put(tok::r_paren, c.place);
  put(tok::semi, c.place);
}

/// Labels that stand between two places, without those of closures there, and without those that are
/// declared by `__label__`.
std::set<std::string> lowering::labels_between(std::size_t begin, std::size_t end) const {
  std::set<std::string> found;
  std::set<std::string> declared;
  bool conditional = false;
  for (std::size_t k = begin; k < end; ++k) {
    const Token& t = in_.tokens[k];
    if (t.isOneOf(tok::semi, tok::l_brace, tok::r_brace)) conditional = false;
    if (t.is(tok::question)) conditional = true;
    if (t.is(tok::kw___label__)) {
      for (++k; k < end && in_.tokens[k].isNot(tok::semi); ++k)
        if (in_.tokens[k].is(tok::identifier))
          declared.insert(in_.tokens[k].getIdentifierInfo()->getName().str());
      continue;
    }
    if (at_closure(k)) {
      k = closing_of(k + 1);
      while (k < end && !in_.tokens[k].isOneOf(tok::semi, tok::l_brace, tok::comma)) ++k;
      if (k < end && in_.tokens[k].is(tok::l_brace)) k = closing_of(k);
      continue;
    }
    if (t.is(tok::identifier) && !conditional && in_.tokens[k + 1].is(tok::colon) &&
        in_.tokens[k - 1].isOneOf(tok::semi, tok::l_brace, tok::r_brace, tok::colon, tok::r_paren,
                                  tok::kw_else, tok::kw_do))
      found.insert(t.getIdentifierInfo()->getName().str());
  }
  for (const std::string& name : declared) found.erase(name);
  return found;
}

void lowering::closure_body(closure_declaration& c) {
  closure_declaration* const outer = closure_;
  construct* const outer_construct = current_;
  const std::set<std::string> outer_labels = closure_labels_;
  closure_ = &c;
  current_ = nullptr;
  const std::set<std::string> labels = labels_between(at_ + 1, closing_of(at_));
  closure_labels_ = labels;
  for (std::size_t k = at_ + 1; k < closing_of(at_); ++k)  // those of inner blocks are its own as well
    if (in_.tokens[k].is(tok::kw___label__))
      for (++k; in_.tokens[k].isNot(tok::semi) && in_.tokens[k].isNot(tok::eof); ++k)
        if (in_.tokens[k].is(tok::identifier))
          closure_labels_.insert(in_.tokens[k].getIdentifierInfo()->getName().str());
  c.body.begin = here();
  copy();
  for (const std::string& label : labels) {
    put("__label__", c.place);
    put(label, c.place);
    put(tok::semi, c.place);
  }
  copy_label_declarations();
  parameter_variables(c);
  copy_to(tok::r_brace);
  c.body.end = here();
  closure_ = outer;
  current_ = outer_construct;
  closure_labels_ = outer_labels;
}

/// __label__ a, b; stand in front of all else in a block.
void lowering::copy_label_declarations() {
  while (is(tok::kw___label__)) {
    while (!is(tok::semi) && !is(tok::eof)) copy();
    copy();
  }
}

/// The parameters once more, as variables of the block.
void lowering::parameter_variables(const closure_declaration& c) {
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
    parameter_variable({begin, t}, c.place);
    begin = t + 1;
  }
}

/// An array or function as a parameter is a pointer: its declarator is rewritten that way.
void lowering::parameter_variable(token_range parameter, SourceLocation place) {
  std::vector<Token> tokens;
  for (token_index t = parameter.begin; t < parameter.end; ++t)
    if (unit_.roles[t] != token_role::keyword && unit_.roles[t] != token_role::printed)
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
    put(tok::l_paren, place);
    put(tok::star, place);
    if (is_array)
      for (std::size_t q = next; q < end_of_bracket(next); ++q)
        if (tokens[q].isOneOf(tok::kw_const, tok::kw_volatile, tok::kw_restrict)) put_copy(tokens[q]);
    put_copy(tokens[k]);
    put(tok::r_paren, place);
  }
  put(tok::semi, place);
}

/// `return E;` becomes sukima_return_N((E)); in what the parser sees.
void lowering::closure_return() {
  const SourceLocation place = token().getLocation();
  closure_->returns.push_back(here());
  push(token(), token_role::printed, static_cast<token_index>(at_));
  ++at_;
  if (is(tok::semi)) return copy();
  const closure_declaration& c = *closure_;
  token_index first = c.whole.begin;
  while (unit_.roles[first] == token_role::keyword) ++first;
  const bool nothing = unit_.tokens[first].is(tok::kw_void) && first + 4 == c.name_token;
  if (nothing) {
    put(tok::l_paren, place);
    put("void", place);
    put(tok::r_paren, place);
  } else {
    put("sukima_return_" + std::to_string(c.number), place);
    put(tok::l_paren, place);
  }
  put(tok::l_paren, token().getLocation());
  while (!is(tok::semi)) {
    if (is(tok::eof) || token().isOneOf(tok::r_paren, tok::r_brace))
      fail(token().getLocation(), "expected ';' behind 'return'");
    step_over();
  }
  put(tok::r_paren, place);
  if (!nothing) put(tok::r_paren, place);
  copy();
}

/// va_start of a variadic closure: the parser would look at the function around it.
bool lowering::closure_arguments() {
  if (!is(tok::identifier) || token().getIdentifierInfo()->getName() != "__builtin_va_start") return false;
  const SourceLocation place = token().getLocation();
  push(token(), token_role::printed, static_cast<token_index>(at_));
  ++at_;
  put(tok::l_paren, place);
  put("void", place);
  put(tok::r_paren, place);
  return true;
}

/// A goto to a label that is not the closure's own.
bool lowering::closure_goto() {
  if (!is_name(1) || !is(tok::semi, 2) || closure_labels_.contains(name(1))) return false;
  const SourceLocation place = token().getLocation();
  closure_jump jump{here(), 0};
  push(token(), token_role::printed, static_cast<token_index>(at_));
  ++at_;
  put(tok::l_paren, place);
  put("void", place);
  put(tok::r_paren, place);
  put(tok::ampamp, place);
  jump.label = here();
  copy();
  copy();
  closure_->jumps.push_back(jump);
  return true;
}

}  // namespace sukima::language
