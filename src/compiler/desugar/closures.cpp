// SPDX-License-Identifier: Apache-2.0
// Nested functions. A closure becomes a variable: a function pointer with its own calling convention. Its
// block stays in the enclosing function, where Clang resolves the names that it uses.
#include "desugar/desugarer.hpp"

namespace sukima::language {

using namespace clang;

token_index desugarer::unit_token_of(std::size_t source) const {
  for (token_index t = here(); t-- > 0;)
    if (unit_.origins[t] == source) {
      while (t > 0 && unit_.origins[t - 1] == no_token && unit_.roles[t - 1] == token_role::added) --t;
      return t;
    }
  return here();
}

/// Inserts [[clang::preserve_all]] after the parameters, which distinguishes a closure's type from a
/// function's.
void desugarer::closure_type_mark(SourceLocation location, bool is_worker) {
  put(tok::l_square, location);
  put(tok::l_square, location);
  put("clang", location);
  put(tok::coloncolon, location);
  put(is_worker ? "preserve_none" : "preserve_all", location);
  put(tok::r_square, location);
  put(tok::r_square, location);
}

/// Rewrites the tokens from the word `closure` to the end of the parameters.
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
  closure_type_mark(location, is_worker);
}

void desugarer::closure() {
  if (previous()->isNot(tok::identifier)) return closure_parameters();
  const closure_context around = syntax_.context_of(at_ - 1);
  if (around.is_typedef) return closure_parameters();
  if (around.is_parameter) {
    SUKIMA_ASSERT(unit_.origins.back() == at_ - 1, "the name of a parameter is the last token of the unit");
    const Token name = unit_.tokens.back();
    const token_index origin = pop();
    put(tok::l_paren, name.getLocation(), token_role::added);
    put(tok::star, name.getLocation(), token_role::added);
    push(name, token_role::user, origin);
    put(tok::r_paren, name.getLocation(), token_role::added);
    return closure_parameters();
  }
  named_closure(around);
}

/// Rewrites a closure or its forward declaration: T f closure (…) becomes T (*const f)(…);
void desugarer::named_closure(const closure_context& around) {
  const Token name = *previous();
  const SourceLocation location = name.getLocation();
  const std::string word = name.getIdentifierInfo()->getName().str();
  if (!in_block())
    fail(location, "closure '" + word + "' is outside any function; move it into one, or remove 'closure'");
  if (around.shares)
    fail(location, "closure '" + word + "' shares its declaration with others; declare it on its own");
  closure_declaration& c = unit_.closures.emplace_back();
  c.name = word;
  c.number = static_cast<unsigned>(unit_.closures.size());
  c.location = location;
  c.is_worker = worker_closures_.contains(at_);
  c.whole.begin = unit_token_of(around.begin);
  const std::size_t before = unit_.closures.size() - 1;
  if (before > 0 && unit_.closures[before - 1].whole.begin >= c.whole.begin)
    fail(location, "the type of closure '" + word + "' contains a closure; declare that one before it");
  c.type = c.whole.begin;
  for (std::size_t k = around.begin; k < at_ && in_.tokens[k].is(tok::l_square); c.type = unit_token_of(k))
    k = syntax_.closing_of(k) + 1;
  for (token_index t = c.whole.begin; t < here(); ++t)
    if (is_storage_word(unit_.tokens[t]) && unit_.roles[t] == token_role::user)
      unit_.roles[t] = token_role::keyword;
  const std::pair<token_index, std::string> key{innermost_brace(), word};
  if (auto known = declared_closures_.find(key); known != declared_closures_.end()) {
    c.forward = known->second;
    if (c.forward->definition != nullptr)
      fail(location, "closure '" + word + "' is defined twice in this block; rename one of them");
  }
  SUKIMA_ASSERT(unit_.origins.back() == at_ - 1, "the name of a closure is the last token of the unit");
  const token_index origin = pop();
  put(tok::l_paren, location);
  put(tok::star, location);
  put("const", location);
  c.name_token = here();
  push(name, c.forward == nullptr ? token_role::user : token_role::printed_only, origin);
  if (c.forward != nullptr) put("sukima_closure_" + std::to_string(c.number), location);
  put(tok::r_paren, location);
  c.parameters.begin = here() + 1;
  closure_parameters();
  c.parameters.end = here() - 7;  // without the mark after the parameters
  c.rest.begin = here();
  while (!is(tok::l_brace) && !is(tok::semi)) {
    if (begins_type(token()))
      fail(location, "closure '" + word +
                         "' needs ';' or a block after its parameters, and their types in the parentheses");
    if (token().isOneOf(tok::comma, tok::equal, tok::eof, tok::r_brace))
      fail(token().getLocation(), "expected ';' or a block after the parameters of closure '" + word + "'");
    step_over();
  }
  c.rest.end = here();
  put(tok::equal, location);  // the parser must see an initial value
  put_zero(location);
  if (is(tok::semi)) {
    copy();
    c.whole.end = here();
    if (c.forward == nullptr) declared_closures_[key] = &c;
    return;
  }
  if (c.forward != nullptr)
    c.forward->definition = &c;
  else
    declared_closures_[key] = &c;
  closure_result_type(c);
  SUKIMA_ASSERT(c.body.empty(), "a closure has one block");
  closure_body(c);
  c.whole.end = here();
  if (c.forward == nullptr) c.definition = &c;
}

/// Declares `typedef T sukima_result_N; void sukima_return_N(sukima_result_N);`. A `return` passes its value
/// to that function.
void desugarer::closure_result_type(closure_declaration& c) {
  const std::string number = std::to_string(c.number);
  put(tok::semi, c.location);
  put("typedef", c.location);
  const token_index declarator = c.name_token - 3;
  SUKIMA_ASSERT(c.whole.begin <= declarator && unit_.tokens[declarator].is(tok::l_paren),
                "the declarator of a closure begins with (*const");
  const auto copy_range = [this](token_index begin, token_index end) {
    for (token_index t = begin; t < end; ++t)
      if (unit_.roles[t] != token_role::keyword && unit_.roles[t] != token_role::printed_only) {
        const Token token = unit_.tokens[t];
        put_copy(token);
      }
  };
  copy_range(c.type, declarator);  // a typedef begins with a word
  put("sukima_result_" + number, c.location);
  copy_range(c.rest.begin, c.rest.end);
  put(tok::semi, c.location);
  put("void", c.location);
  put(result_function_of(c), c.location);
  put(tok::l_paren, c.location);
  put("sukima_result_" + number, c.location);
  put(tok::r_paren, c.location);
  put(tok::semi, c.location);
}

}  // namespace sukima::language
