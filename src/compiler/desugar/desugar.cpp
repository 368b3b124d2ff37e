// SPDX-License-Identifier: Apache-2.0
// The declarations of the language, and the loop over the tokens of a file.
#include "desugar/desugar.hpp"

#include "desugar/desugarer.hpp"
#include "source/implicit_names.hpp"

namespace sukima::language {

using namespace clang;

bool desugarer::run() {
  try {
    while (!is(tok::eof)) {
      const std::size_t before = at_;
      step();
      SUKIMA_ASSERT(at_ > before, "each step reads a token, so that the loop over the tokens ends");
    }
  } catch (const stop&) {
    return false;
  }
  push(token(), token_role::user, static_cast<token_index>(at_));
  SUKIMA_ASSERT(failed() || (current_ == nullptr && innermost_ == nullptr && closure_ == nullptr),
                "each construct and each closure that began has ended");
  return !failed();
}

/// Returns the position after attributes, which begin at `ahead` or not at all.
std::size_t desugarer::after_attributes(std::size_t ahead) const {
  for (;;) {
    std::size_t open = ahead;
    if (is(tok::kw___attribute, ahead) && is(tok::l_paren, ahead + 1))
      open = ahead + 1;
    else if (!(is(tok::l_square, ahead) && is(tok::l_square, ahead + 1)))
      return ahead;
    ahead = syntax_.closing_of(at_ + open) + 1 - at_;
  }
}

/// Returns whether a word begins a declaration of the language here, because a type follows. Otherwise it is
/// a name. Attributes may follow a name at the end of its declarator.
bool desugarer::begins_declaration(const char* word) const {
  if (!is_word(word)) return false;
  std::size_t next = after_attributes(1);
  if (is(tok::l_square, 1)) return next > 1 && is_a_word(token(next));
  while (is(tok::kw_asm, next) && is(tok::l_paren, next + 1))
    next = after_attributes(syntax_.closing_of(at_ + next + 1) + 1 - at_);
  return is_a_word(token(1)) &&
         (next == 1 || !token(next).isOneOf(tok::semi, tok::comma, tok::equal, tok::r_paren));
}

void desugarer::copy_attributes() {
  for (const std::size_t end = at_ + after_attributes(0); at_ < end;) step();
}

/// The same as begins_declaration, for `task` and `task_exec`. Attributes may precede the name of a task.
bool desugarer::begins_task(const char* word) const {
  return is_word(word) && (is_name(after_attributes(1)) || is(tok::l_brace, 1));
}

/// Processes one token of plain C, or one construct.
void desugarer::step() {
  if (in_.of_pragma[at_]) return copy();
  if (closure_ != nullptr && closure_arguments()) return;
  if (!at_users()) return copy();
  if (begins_task("task")) return task();
  if (begins_task("task_exec")) return task_execution_block();
  if (is_word("cluster") && is_word("worker", 1)) return cluster_word();
  if (begins_declaration("worker")) return worker_word();
  if (begins_declaration("worker_local")) return worker_local();
  if (statement()) return;
  if (syntax_.at_closure(at_)) return closure();
  if (closure_ != nullptr && is(tok::kw_return)) return closure_return();
  if (closure_ != nullptr && is(tok::kw_goto) && closure_goto()) return;
  copy();
}

tok::TokenKind desugarer::closing_bracket() const {
  return is(tok::l_paren)    ? tok::r_paren
         : is(tok::l_square) ? tok::r_square
         : is(tok::l_brace)  ? tok::r_brace
                             : tok::unknown;
}

void desugarer::step_over() {
  const tok::TokenKind closing = closing_bracket();
  step();
  if (closing != tok::unknown) copy_to(closing);
}

/// Copies up to and including the closing bracket that matches the bracket just copied.
void desugarer::copy_to(tok::TokenKind closing) {
  const SourceLocation opened = previous()->getLocation();
  while (!is(closing)) {
    if (is(tok::eof) || token().isOneOf(tok::r_paren, tok::r_square, tok::r_brace)) {
      fail(is(tok::eof) ? opened : token().getLocation(),
           is(tok::eof) ? "this bracket is never closed" : "this bracket has no matching opening bracket");
    }
    const bool paren = is(tok::l_paren);
    const bool square = is(tok::l_square);
    const bool brace = is(tok::l_brace);
    step();
    if (previous() != nullptr && (paren || square || brace) &&
        previous()->isOneOf(tok::l_paren, tok::l_square, tok::l_brace))
      copy_to(paren ? tok::r_paren : square ? tok::r_square : tok::r_brace);
  }
  copy();
}

void desugarer::task() {
  const SourceLocation location = token().getLocation();
  skip();
  const token_index begin = here();
  put("struct", location, token_role::added);
  copy_attributes();
  if (!is_name()) fail(token().getLocation(), "expected a task name after 'task'");
  const std::string task_name = name();
  const SourceLocation name_location = token().getLocation();
  put(task_type_name(task_name), name_location, token_role::added);
  skip();
  if (!is(tok::l_brace)) {
    if (is(tok::semi)) known_tasks_.insert(task_name);
    return;
  }
  if (in_block()) fail(location, "a task must be declared at file scope; move it out of the function");
  unit_.tasks.push_back({task_name, name_location, {}, {}});
  task_declaration& declaration = unit_.tasks.back();
  copy();
  task_members(declaration);
  copy();
  copy_attributes();
  expect(tok::semi, "expected ';' after the members of a task");
  copy();
  declaration.tokens = {begin, here()};
  known_tasks_.insert(task_name);
}

void desugarer::task_members(task_declaration& declaration) {
  std::set<std::string> names;
  while (!is(tok::r_brace)) {
    if (is(tok::eof)) fail(declaration.location, "expected '}' after the members of this task");
    task_member member{};
    member.is_in = is_word("in");
    member.is_out = is_word("out");
    if (member.is_in || member.is_out) skip();
    task_member_tokens(names, member);
    declaration.members.push_back(member);
  }
}

/// Returns whether the tokens are `v[n]` with an earlier member n, so that the member is a pointer.
bool desugarer::sized_member(const std::set<std::string>& names) const {
  return is_name() && is(tok::l_square, 1) && is_name(2) && names.contains(name(2)) && is(tok::r_square, 3);
}

void desugarer::task_member_tokens(std::set<std::string>& names, task_member& member) {
  const token_index begin = here();
  while (!is(tok::semi)) {
    if (is(tok::r_brace) || is(tok::eof))
      fail(token().getLocation(), "expected ';' after a member of a task");
    if (sized_member(names)) {
      const SourceLocation location = token().getLocation();
      put(tok::l_paren, location, token_role::added);
      put(tok::star, location, token_role::added);
      names.insert(name());
      member.lengths.emplace(here(), name(2));
      copy();
      put(tok::r_paren, location, token_role::added);
      skip();
      skip();
      skip();
      continue;
    }
    if (is_name() && token(1).isOneOf(tok::semi, tok::comma, tok::l_square, tok::colon)) names.insert(name());
    step_over();
  }
  copy();
  member.tokens = {begin, here()};
}

/// Rewrites `task_exec NAME BLOCK` as a function with `this` as a local variable.
void desugarer::task_execution_block() {
  const SourceLocation location = token().getLocation();
  skip();
  if (!is_name()) fail(token().getLocation(), "expected a task name after 'task_exec'");
  task_execution execution{name(), token().getLocation(), {here() - 1, 0}, {}};
  if (in_block()) fail(location, "'task_exec' is allowed at file scope only; move it out of the function");
  if (!known_tasks_.contains(execution.task))
    report(execution.location, "unknown task '" + execution.task + "'; declare it first with 'task " +
                                   execution.task + " { … };'");
  for (const task_execution& other : unit_.executions)
    if (other.task == execution.task)
      report(execution.location,
             "task '" + other.task + "' has another 'task_exec' above; remove one of them");
  skip();
  if (!is(tok::l_brace)) fail(token().getLocation(), "expected '{' after 'task_exec " + execution.task + "'");
  for (const char* word : {"static", "void"}) put(word, location);
  put(execution_prefix + execution.task, location);
  put(tok::l_paren, location);
  put("void", location);
  put(tok::r_paren, location);
  execution.block.begin = here();
  copy();
  copy_label_declarations();
  declare_this(execution.task, location);
  copy_to(tok::r_brace);
  execution.block.end = here();
  execution.whole.end = here();
  unit_.executions.push_back(execution);
}

/// Reads `cluster`: the function that follows is an entry of the cluster.
void desugarer::cluster_word() {
  if (syntax_.closure_of_worker(at_ + 1))
    fail(token().getLocation(),
         "a closure cannot be an entry of the cluster, because only its creator can call it; omit 'cluster'");
  unit_.cluster_keywords.push_back(here());
  skip();
  worker_word();
}

/// Reads `worker`. While Clang parses, a calling convention distinguishes a worker function's type from a
/// plain one's, because calling conventions survive typedefs, pointers and redeclarations.
void desugarer::worker_word() {
  const SourceLocation location = token().getLocation();
  const std::optional<std::size_t> closure = syntax_.closure_of_worker(at_);
  if (closure) worker_closures_.insert(*closure);
  skip();
  if (closure) return;
  // From here on a name such as `llabs` means this function, not the C library's function, which Clang
  // predefines.
  for (std::size_t k = 0; !token(k).isOneOf(tok::semi, tok::equal, tok::l_brace, tok::eof); ++k)
    if (is_name(k) && is(tok::l_paren, k + 1)) {
      token(k).getIdentifierInfo()->clearBuiltinID();
      break;
    }
  unit_.worker_keywords.push_back(here());
  put("__attribute__", location);
  put(tok::l_paren, location);
  put(tok::l_paren, location);
  put("preserve_most", location);
  put(tok::r_paren, location);
  put(tok::r_paren, location);
}

void desugarer::worker_local() {
  const SourceLocation location = token().getLocation();
  if (in_block())
    fail(location, "'worker_local' is allowed at file scope only; move the declaration out of the function");
  const token_index begin = here();
  skip();
  while (!is(tok::semi)) {
    if (is(tok::eof)) fail(location, "expected ';' after a 'worker_local' declaration");
    step_over();
  }
  copy();
  unit_.worker_locals.push_back({begin, here()});
}

bool desugar(CompilerInstance& compiler, source_tokens source, unit& into) {
  into.source = std::move(source);
  const std::size_t expected = into.source.tokens.size() + into.source.tokens.size() / 8;
  into.tokens.reserve(expected);
  into.roles.reserve(expected);
  into.origins.reserve(expected);
  into.at.reserve(expected);
  if (!desugarer(compiler, into).run()) return false;
  // Pairs the brackets in the order of the unit, including inserted ones.
  into.partner.assign(into.tokens.size(), no_token);
  into.opened.assign(into.tokens.size(), no_token);
  std::vector<token_index> open;
  for (token_index t = 0; t < into.tokens.size(); ++t) {
    if (!open.empty()) into.opened[t] = open.back();
    if (into.roles[t] == token_role::keyword || into.roles[t] == token_role::printed_only) continue;
    const Token& token = into.tokens[t];
    if (token.isOneOf(tok::l_paren, tok::l_square, tok::l_brace)) open.push_back(t);
    if (token.isOneOf(tok::r_paren, tok::r_square, tok::r_brace) && !open.empty()) {
      into.partner[t] = open.back();
      into.partner[open.back()] = t;
      open.pop_back();
    }
  }
  SUKIMA_ASSERT_VALID(into);
  return true;
}

}  // namespace sukima::language
