// SPDX-License-Identifier: Apache-2.0
// Parallel loops, over a range and by successor, and the blocks after `handles`.
#include "desugar/desugarer.hpp"

namespace sukima::language {

using namespace clang;

/// Inserts the type of the loop's variable for the parser.
void desugarer::put_loop_type(const construct& c, SourceLocation location) {
  if (c.type.empty()) return put("int", location);
  for (token_index t = c.type.begin; t < c.type.end; ++t) {
    const Token one = unit_.tokens[t];
    push(one, token_role::parsed_only);
  }
}

/// Reads the names of the bounds of the part that PUT gives away; they have the type of the loop's variable.
void desugarer::bounds(construct& c) {
  std::string type = "int";
  std::string first = "i1";
  std::string second = "i2";
  if (!c.type.empty()) {
    type.clear();
    for (token_index t = c.type.begin; t < c.type.end; ++t) {
      const IdentifierInfo* const word = unit_.tokens[t].getIdentifierInfo();
      type += (type.empty() ? "" : " ") + (word == nullptr ? "*" : word->getName().str());
    }
    first = "from";
    second = "to";
  }
  const std::string hint = "expected '(" + type + " " + first + ", " + type + " " + second +
                           ")' after 'handles NAME' of a parallel 'for'";
  const auto type_word = [&](const Token& word) {
    if (token().getKind() != word.getKind() || token().getIdentifierInfo() != word.getIdentifierInfo())
      fail(token().getLocation(), hint);
    skip();
  };
  expect(tok::l_paren, hint);
  skip();
  for (int bound = 0; bound < 2; ++bound) {
    if (c.type.empty()) {
      expect(tok::kw_int, hint);
      skip();
    }
    for (token_index t = c.type.begin; t < c.type.end; ++t) {
      const Token word = unit_.tokens[t];
      type_word(word);
    }
    if (!is_name()) fail(token().getLocation(), hint);
    SUKIMA_ASSERT((bound == 0 ? c.lower : c.upper) == no_token, "each bound of a loop has one name");
    (bound == 0 ? c.lower : c.upper) = here();
    skip();
    expect(bound == 0 ? tok::comma : tok::r_paren, hint);
    skip();
  }
}

/// Reads PUT or GET: a block in which `this` is declared.
void desugarer::bound_block(construct& c, token_range& range, const std::string& role, bool is_put) {
  if (!is(tok::l_brace)) fail(token().getLocation(), "expected '{': " + role + " must be a block");
  const SourceLocation location = token().getLocation();
  range.begin = here();
  copy();
  copy_label_declarations();
  if (!c.task.empty()) declare_this(c.task, location);
  if (is_put && c.kind == construct_kind::loop) {
    // The names of the bounds were already read; their values do not matter to the parser.
    for (const token_index bound : {c.lower, c.upper}) {
      if (bound == no_token) continue;
      const Token name = unit_.tokens[bound];
      put_loop_type(c, location);
      put("const", location);
      push(name, token_role::parsed_only);
      put_unused(location);
      put(tok::equal, location);
      put("sukima_from", location);
      put(tok::semi, location);
    }
  }
  copy_to(tok::r_brace);
  range.end = here();
}

void desugarer::handles(construct& c, bool is_loop) {
  const char* const name_of = is_loop ? "the parallel 'for'" : "'do_two'";
  if (!is_word("handles"))
    fail(token().getLocation(),
         std::string("expected 'handles' after the block") + (is_loop ? "" : "s") + " of " + name_of);
  skip();
  if (!is_name()) fail(token().getLocation(), "expected a task name after 'handles'");
  c.task = name();
  c.task_location = token().getLocation();
  if (!known_tasks_.contains(c.task)) {
    report(c.task_location,
           "unknown task '" + c.task + "'; declare it first with 'task " + c.task + " { … };'");
    c.task.clear();
  }
  skip();
  if (is_loop) {
    bounds(c);
  } else if (is(tok::l_paren)) {
    fail(token().getLocation(),
         "'do_two' takes no bounds; write the PUT block directly after 'handles NAME'");
  }
  for (;;) {
    if (is_word("guard")) {
      if (!c.guard.empty()) report(token().getLocation(), "duplicate 'guard'; remove one of them");
      skip();
      c.guard = parenthesis("double", "sukima_guard", "guard");
    } else if (is_word("split")) {
      if (!is_loop)
        fail(token().getLocation(),
             "'split' is allowed in a parallel 'for' only; remove it from this 'do_two'");
      if (!c.next.empty())
        fail(token().getLocation(),
             "'split' is not allowed in a loop by successor, which is split in its middle; remove 'split'");
      if (!c.split.empty()) report(token().getLocation(), "duplicate 'split'; remove one of them");
      skip();
      c.split = parenthesis("int", "sukima_split", "split");
    } else {
      break;
    }
  }
  bound_block(c, c.put, "PUT, which fills a new task,", true);
  bound_block(c, c.get, "GET, which takes the result of a task,", false);
}

/// Returns whether the head of a loop contains a semicolon, so that it is a loop by successor.
bool desugarer::at_successor_loop() const {
  int depth = 0;
  for (std::size_t k = 1;; ++k) {
    if (token(k).isOneOf(tok::l_paren, tok::l_square, tok::l_brace)) ++depth;
    if (token(k).isOneOf(tok::r_paren, tok::r_square, tok::r_brace) && --depth == 0) return false;
    if (is(tok::eof, k)) return false;
    if (depth == 1 && is(tok::semi, k)) return true;
  }
}

/// Reads an expression in the head of a loop as the initial value of `TYPE NAME`.
token_range desugarer::head_part(const construct& c, const char* type, const char* variable_name,
                                 tok::TokenKind closing, const char* missing, const char* comma) {
  if (type != nullptr)
    put(type, c.location);
  else
    put_loop_type(c, c.location);
  put(variable_name, c.location);
  put_unused(c.location);
  put(tok::equal, c.location);
  put(tok::l_paren, c.location);
  const token_index begin = here();
  while (!is(closing)) {
    if (is(tok::eof) || token().isOneOf(tok::r_paren, tok::r_brace, tok::semi))
      fail(token().getLocation(), missing);
    if (is(tok::comma))  // a comma operator must be in parentheses
      fail(token().getLocation(), comma);
    step_over();
  }
  const token_range range{begin, here()};
  if (range.empty()) fail(token().getLocation(), "expected an expression in a parallel 'for'");
  skip();
  put(tok::r_paren, c.location);
  put(tok::semi, c.location);
  return range;
}

/// Declares the user's variable, with the value of `sukima_from`.
void desugarer::loop_variable(construct& c, const Token& variable, token_index origin) {
  put_loop_type(c, c.location);
  put("const", c.location);
  SUKIMA_ASSERT(!c.from.empty(), "the variable of a loop is declared after its first value");
  c.variable = here();
  push(variable, token_role::user, origin);
  put_unused(c.location);
  put(tok::equal, c.location);
  put("sukima_from", c.location);
  put(tok::semi, c.location);
}

void desugarer::loop() {
  const bool by_successor = at_successor_loop();
  construct& c = begin(construct_kind::loop);
  skip();
  if (by_successor) {
    c.type.begin = here();
    while (!(is_name() && is(tok::colon, 1))) {
      if (is(tok::colon))
        fail(token().getLocation(),
             "expected the name of a variable: for (TYPE NAME : FIRST; CONDITION; NEXT)");
      skip();
    }
    c.type.end = here();
    if (c.type.empty())
      fail(token().getLocation(),
           "a loop by successor declares its variable: for (TYPE NAME : FIRST; CONDITION; NEXT)");
  } else {
    if (!is(tok::kw_int) || !is_name(1))
      fail(token().getLocation(),
           "the variable of a parallel 'for' must have type int: for (int i : FROM, TO)");
    skip();
  }
  const Token variable = token();
  const auto origin = static_cast<token_index>(at_);
  ++at_;
  skip();
  put(tok::l_brace, c.location);
  if (by_successor) {
    const char* const missing =
        "expected three parts in a loop by successor: for (TYPE NAME : FIRST; CONDITION; NEXT)";
    const char* const comma = "a comma in a loop by successor needs parentheses around it";
    c.from = head_part(c, nullptr, "sukima_from", tok::semi, missing, comma);
    loop_variable(c, variable, origin);
    c.condition = head_part(c, "_Bool", "sukima_condition", tok::semi, missing, comma);
    c.next = head_part(c, nullptr, "sukima_next", tok::r_paren, missing, comma);
  } else {
    const char* const missing = "expected ', TO' in a parallel 'for': for (int i : FROM, TO)";
    const char* const comma =
        "a parallel 'for' has two bounds and no step: for (int i : FROM, TO); compute from 'i' in the body";
    c.from = head_part(c, nullptr, "sukima_from", tok::comma, missing, comma);
    c.to = head_part(c, nullptr, "sukima_to", tok::r_paren, missing, comma);
    loop_variable(c, variable, origin);
  }
  put("for", c.location);
  put(tok::l_paren, c.location);
  put(tok::semi, c.location);
  put_unknown(c.location);
  put(tok::semi, c.location);
  put(tok::r_paren, c.location);
  c.first = block("the body of a parallel 'for'");
  handles(c, true);
  put(tok::r_brace, c.location);
  end(c);
}

}  // namespace sukima::language
