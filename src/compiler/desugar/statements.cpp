// SPDX-License-Identifier: Apache-2.0
// The statements of the language as blocks of plain C with the same scopes.
#include "desugar/desugarer.hpp"

namespace sukima::language {

using namespace clang;

/// Returns whether a statement may start here: directly in a block, after another statement, a label, or the
/// head of a statement.
bool desugarer::at_statement() const {
  const std::vector<std::size_t>& open = open_brackets();
  return !open.empty() && syntax_.begins_block(open) && syntax_.may_begin_statement(at_);
}

/// Returns whether a word begins a statement of the language: a block follows, or another token that cannot
/// follow a name.
bool desugarer::begins_statement(const char* word) const {
  if (!is_word(word)) return false;
  const Token& next = token(1);
  if (next.isOneOf(tok::kw___attribute, tok::kw_asm)) return false;  // of a variable with this name
  return next.is(tok::l_brace) || is_a_word(next) || next.isLiteral();
}

/// Returns whether a tag follows; otherwise `throw` is a name.
bool desugarer::begins_throw() const {
  if (begins_statement("throw")) return true;
  return is_word("throw") && at_statement() &&
         token(1).isOneOf(tok::semi, tok::l_paren, tok::star, tok::amp, tok::minus, tok::plus, tok::tilde,
                          tok::exclaim);
}

bool desugarer::statement() {
  const auto here_only = [&](const char* word) {
    if (std::string_view(word) == "throw" ? !begins_throw() : !begins_statement(word)) return false;
    if (!at_statement())
      fail(token().getLocation(),
           std::string("'") + word +
               "' is a statement; it is allowed only where a statement of a function may start");
    return true;
  };
  if (is(tok::kw_for) && is(tok::l_paren, 1)) {
    // `for (TYPE NAME :` is a parallel loop, because C has no colon there.
    std::size_t k = 2;
    while (is_a_word(token(k)) || is(tok::star, k)) ++k;
    if (k > 2 && is(tok::colon, k)) {
      loop();
      return true;
    }
    return false;
  }
  if (here_only("do_two")) return do_two(), true;
  if (here_only("dynamic_wind")) return wind(), true;
  if (here_only("join")) return join(), true;
  if (here_only("try")) return try_catch(), true;
  if (here_only("throw")) return throw_tag(), true;
  const auto is_before_block = [this](std::size_t closing) {
    return closing + 1 < in_.tokens.size() && in_.tokens[closing + 1].is(tok::l_brace);
  };
  if (is_word("catch") && is(tok::l_paren, 1) && at_statement() &&
      is_before_block(syntax_.closing_of(at_ + 1)))
    fail(token().getLocation(),
         "a 'try' has one 'catch', directly behind its block; put another 'try' around that one");
  if (is_word("poll") && is(tok::semi, 1) && at_statement()) return poll(), true;
  return false;
}

construct& desugarer::begin(construct_kind kind) {
  SUKIMA_ASSERT(current_ == nullptr || current_ == innermost_,
                "the innermost construct of a function is the innermost one at all");
  construct& c = unit_.constructs.emplace_back();
  c.kind = kind;
  c.number = static_cast<unsigned>(unit_.constructs.size());
  c.location = token().getLocation();
  c.parent = current_;
  c.around = innermost_;
  c.whole.begin = here();
  current_ = innermost_ = &c;
  skip();
  return c;
}

void desugarer::end(construct& c) {
  SUKIMA_ASSERT(current_ == &c && innermost_ == &c,
                "constructs end in the reverse order of their beginnings");
  c.whole.end = here();
  current_ = c.parent;
  innermost_ = c.around;
}

token_range desugarer::block(const std::string& role) {
  if (!is(tok::l_brace)) fail(token().getLocation(), "expected '{': " + role + " must be a block");
  token_range range{here(), 0};
  copy();
  copy_to(tok::r_brace);
  range.end = here();
  return range;
}

void desugarer::declare_this(const std::string& task, SourceLocation location) {
  put("struct", location);
  put(task_type_name(task), location);
  put("this", location);
  put_unused(location);
  // The parser must see an initial value, here = *(struct T *)(0 + …). It accepts none in braces if the first
  // member is an atomic structure.
  put(tok::equal, location);
  put(tok::star, location);
  put(tok::l_paren, location);
  put("struct", location);
  put(task_type_name(task), location);
  put(tok::star, location);
  put(tok::r_paren, location);
  put(tok::l_paren, location);
  put_zero(location);
  put(tok::plus, location);
  put_unknown(location);
  put(tok::r_paren, location);
  put(tok::semi, location);
}

token_range desugarer::parenthesis(const std::string& type, const std::string& variable,
                                   const std::string& keyword) {
  const SourceLocation location = token().getLocation();
  if (!is(tok::l_paren)) fail(location, "expected '(' after '" + keyword + "'");
  if (type == "tag" && (begins_type(token(1)) || is(tok::ellipsis, 1)))
    fail(token(1).getLocation(),
         "expected a tag, which is a number or an address; 'catch' declares no variable");
  put(tok::l_brace, location);
  for (const char* const word : {"unsigned", "long"})
    if (type == "tag") put(word, location);
  if (type != "tag") put(type, location);
  put(variable, location);
  put(tok::equal, location);
  if (type == "tag") {  // explicit, because pointers are tags as well
    const SourceLocation value = token(1).getLocation();
    put(tok::l_paren, value);
    put("unsigned", value);
    put("long", value);
    put(tok::r_paren, value);
  }
  const token_index begin = here();
  copy();
  copy_to(tok::r_paren);
  const token_range range{begin, here()};
  put(tok::semi, location);
  put(tok::r_brace, location);
  return range;
}

void desugarer::do_two() {
  construct& c = begin(construct_kind::do_two);
  put(tok::l_brace, c.location);
  c.first = block("the first part of 'do_two'");
  c.second = block("the second part of 'do_two'");
  handles(c, false);
  put(tok::r_brace, c.location);
  end(c);
}

void desugarer::wind() {
  construct& c = begin(construct_kind::wind);
  put(tok::l_brace, c.location);
  const auto action = [&](const char* role) {
    if (!is(tok::l_brace))
      fail(token().getLocation(), std::string("expected '{': ") + role + " must be a block");
    token_range range{here(), 0};
    copy();
    copy_to(tok::r_brace);
    range.end = here();
    return range;
  };
  c.before = action("BEFORE of 'dynamic_wind'");
  c.first = block("BODY of 'dynamic_wind'");
  c.after = action("AFTER of 'dynamic_wind'");
  put(tok::r_brace, c.location);
  end(c);
}

/// Rewrites `try` so that the parser sees paths to the catch block before and after the body. Then Clang's
/// warnings about control flow suit the language: if (…) { BODY if (…) goto done; } CATCH done:;
void desugarer::try_catch() {
  construct& c = begin(construct_kind::try_catch);
  const SourceLocation apart = c.location.getLocWithOffset(1);  // no token of the user begins here
  const std::string done = "sukima_done_" + std::to_string(c.number);
  const auto condition = [&] {
    put(tok::kw_if, c.location);
    put(tok::l_paren, c.location);
    put_unknown(c.location);
    put(tok::r_paren, c.location);
  };
  put(tok::l_brace, c.location);
  condition();
  put(tok::l_brace, c.location);
  c.first = block("the body of 'try'");
  condition();
  put("goto", apart);
  put(done, apart);
  put(tok::semi, apart);
  put(tok::r_brace, c.location);
  if (!is_word("catch")) fail(token().getLocation(), "expected 'catch (TAG)' after the block of 'try'");
  skip();
  c.from = parenthesis("tag", "sukima_tag", "catch");
  c.second = block("the block of 'catch'");
  put(done, apart);
  put(tok::colon, apart);
  put(tok::semi, apart);
  put(tok::r_brace, c.location);
  end(c);
}

void desugarer::throw_tag() {
  construct& c = begin(construct_kind::throw_tag);
  put(tok::l_brace, c.location);
  for (const char* const word : {"unsigned", "long", "sukima_tag"}) put(word, c.location);
  put(tok::equal, c.location);
  const SourceLocation value = token().getLocation();
  put(tok::l_paren, value);
  put("unsigned", value);
  put("long", value);
  put(tok::r_paren, value);
  put(tok::l_paren, value);
  c.from.begin = here();
  if (is(tok::semi)) fail(token().getLocation(), "expected a tag after 'throw'");
  while (!is(tok::semi)) {
    if (is(tok::eof) || token().isOneOf(tok::r_paren, tok::r_brace) || begins_other_statement(token()))
      fail(token().getLocation(), "expected ';' after 'throw'");
    step_over();
  }
  c.from.end = here();
  put(tok::r_paren, c.location);
  put(tok::semi, c.location);
  put("__builtin_unreachable", c.location);
  put(tok::l_paren, c.location);
  put(tok::r_paren, c.location);
  put(tok::semi, c.location);
  skip();
  put(tok::r_brace, c.location);
  end(c);
}

void desugarer::poll() {
  construct& c = begin(construct_kind::poll);
  const SourceLocation apart = c.location.getLocWithOffset(1);
  put_void_cast(apart);
  put_zero(apart);
  copy();
  end(c);
}

void desugarer::join_one(construct& c, bool& plain_seen) {
  const SourceLocation location = token().getLocation();
  const bool spawned = is_word("spawn") && !token(1).isOneOf(tok::equal, tok::semi, tok::period);
  if (plain_seen)
    fail(location,
         "only the last statement of a 'join' may omit 'spawn'; write 'spawn' before the "
         "others");
  if (spawned) skip();
  plain_seen = !spawned;
  token_range range{here(), 0};
  if (is(tok::l_brace) && !spawned) {  // a statement that the owner itself runs
    range = block("a statement");
    c.statements.push_back({range, false, location});
    return;
  }
  if (!spawned) {  // any other statement, up to the end of the join
    while (!is(tok::r_brace)) {
      if (is(tok::eof)) fail(c.location, "expected '}' at the end of this 'join'");
      if (is_word("spawn") && at_statement() && !token(1).isOneOf(tok::equal, tok::semi, tok::period))
        fail(location,
             "only the last statement of a 'join' may omit 'spawn'; write 'spawn' before the "
             "others");
      const tok::TokenKind inner = closing_bracket();
      const std::size_t before = at_;
      step();
      if (inner != tok::unknown && at_ == before + 1) copy_to(inner);
    }
    range.end = here();
    c.statements.push_back({range, false, location});
    return;
  }
  while (!is(tok::semi)) {
    if (is(tok::eof) || is(tok::r_brace))
      fail(token().getLocation(), "expected ';' after a spawned statement");
    step_over();
  }
  range.end = here();
  c.statements.push_back({range, true, location});
  copy();
}

void desugarer::join() {
  construct& c = begin(construct_kind::join);
  if (!is(tok::l_brace)) fail(token().getLocation(), "expected '{' after 'join'");
  c.first.begin = here();
  copy();
  bool plain_seen = false;
  while (!is(tok::r_brace)) {
    if (is(tok::eof)) fail(c.location, "expected '}' at the end of this 'join'");
    join_one(c, plain_seen);
  }
  copy();
  c.first.end = here();
  end(c);
}

}  // namespace sukima::language
