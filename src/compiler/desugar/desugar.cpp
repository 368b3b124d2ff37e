// SPDX-License-Identifier: Apache-2.0
// Reading and writing tokens, and the declarations of the language.
#include "desugar/desugar.hpp"

#include "desugar/desugarer.hpp"

namespace sukima::language {

using namespace clang;

const Token& desugarer::token(std::size_t ahead) const {
  return in_.tokens[std::min(at_ + ahead, in_.tokens.size() - 1)];
}

const Token* desugarer::previous() const { return at_ == 0 ? nullptr : &in_.tokens[at_ - 1]; }

bool desugarer::is_users(std::size_t position) const {
  if (in_.from_system[position]) return false;
  const SourceManager& sources = compiler_.getSourceManager();
  const SourceLocation location = in_.tokens[position].getLocation();
  return location.isFileID() || !sources.isInSystemHeader(sources.getSpellingLoc(location));
}

bool desugarer::is_word(const char* word, std::size_t ahead) const {
  const std::size_t position = std::min(at_ + ahead, in_.tokens.size() - 1);
  const Token& t = in_.tokens[position];
  if (t.isNot(tok::identifier) || !t.getIdentifierInfo()->isStr(word)) return false;
  if (position > 0 && in_.tokens[position - 1].isOneOf(tok::period, tok::arrow)) return false;
  return is_users(position);
}

std::string desugarer::name(std::size_t ahead) const {
  return token(ahead).is(tok::identifier) ? token(ahead).getIdentifierInfo()->getName().str() : "";
}

void desugarer::report(SourceLocation location, const std::string& message) {
  DiagnosticsEngine& diagnostics = preprocessor_.getDiagnostics();
  diagnostics.Report(location, diagnostics.getCustomDiagID(DiagnosticsEngine::Error, "%0")) << message;
  failed_ = true;
}

void desugarer::fail(SourceLocation location, const std::string& message) {
  report(location, message);
  throw stop{};
}

void desugarer::expect(tok::TokenKind kind, const std::string& message) {
  if (!is(kind)) fail(token().getLocation(), message);
}

void desugarer::push(const Token& token, token_role role, token_index origin) {
  if (role != token_role::parsed_only && role != token_role::added)
    unit_.at.emplace(token.getLocation().getRawEncoding(), here());
  unit_.tokens.push_back(token);
  unit_.roles.push_back(role);
  unit_.origins.push_back(origin);
}

void desugarer::copy() {
  if (is(tok::l_brace)) {
    ++depth_;
    forward_.emplace_back();
  }
  if (is(tok::r_brace)) {
    --depth_;
    if (!forward_.empty()) forward_.pop_back();
  }
  push(token(), in_.from_system[at_] ? token_role::system : token_role::user, static_cast<token_index>(at_));
  ++at_;
}

void desugarer::skip() {
  push(token(), token_role::keyword, static_cast<token_index>(at_));
  ++at_;
}

void desugarer::put(tok::TokenKind kind, SourceLocation location, token_role role) {
  Token t;
  t.startToken();
  t.setKind(kind);
  t.setLocation(location);
  t.setLength(1);
  t.setFlag(Token::LeadingSpace);
  push(t, role);
}

void desugarer::put(const std::string& word, SourceLocation location, token_role role) {
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

bool desugarer::run() {
  try {
    while (!is(tok::eof)) step();
  } catch (const stop&) {
    return false;
  }
  push(token(), token_role::user, static_cast<token_index>(at_));
  return !failed_;
}

/// One token of plain C, or one construct.
void desugarer::step() {
  if (closure_ != nullptr && closure_arguments()) return;
  if (!is_users(at_)) return copy();
  if (is_word("task")) return task();
  if (is_word("task_exec")) return task_execution_block();
  if (is_word("worker")) return worker_word();
  if (is_word("worker_local")) return worker_local();
  if (statement()) return;
  if (at_closure(at_)) return closure();
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

/// Copies up to the closing bracket that belongs to the one just copied, inclusive.
void desugarer::copy_to(tok::TokenKind closing) {
  const SourceLocation opened = previous()->getLocation();
  while (!is(closing)) {
    if (is(tok::eof) || token().isOneOf(tok::r_paren, tok::r_square, tok::r_brace)) {
      fail(is(tok::eof) ? opened : token().getLocation(),
           is(tok::eof) ? "this bracket is not closed" : "this bracket closes nothing");
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
  if (!is_name()) fail(token().getLocation(), "expected the name of a task behind 'task'");
  const std::string task_name = name();
  const SourceLocation name_location = token().getLocation();
  const token_index begin = here();
  put("struct", location, token_role::added);
  put(task_type_name(task_name), name_location, token_role::added);
  skip();
  if (!is(tok::l_brace)) {
    if (is(tok::semi)) known_tasks_.insert(task_name);
    return;
  }
  if (depth_ > 0) fail(location, "a task is declared outside of functions");
  unit_.tasks.push_back({task_name, name_location, {}, {}});
  task_declaration& declaration = unit_.tasks.back();
  copy();
  task_members(declaration);
  copy();
  expect(tok::semi, "expected ';' behind the members of a task");
  copy();
  declaration.tokens = {begin, here()};
  known_tasks_.insert(task_name);
}

void desugarer::task_members(task_declaration& declaration) {
  std::set<std::string> names;
  while (!is(tok::r_brace)) {
    if (is(tok::eof)) fail(declaration.location, "expected '}' behind the members of this task");
    task_member member{};
    member.is_in = is_word("in");
    member.is_out = is_word("out");
    if (member.is_in || member.is_out) skip();
    member.tokens = task_member_tokens(names);
    declaration.members.push_back(member);
  }
}

/// `T v[n]` with an earlier member n: a pointer.
bool desugarer::sized_member(const std::set<std::string>& names) const {
  return is_name() && is(tok::l_square, 1) && is_name(2) && names.contains(name(2)) && is(tok::r_square, 3);
}

token_range desugarer::task_member_tokens(std::set<std::string>& names) {
  const token_index begin = here();
  while (!is(tok::semi)) {
    if (is(tok::r_brace) || is(tok::eof))
      fail(token().getLocation(), "expected ';' behind a member of a task");
    if (sized_member(names)) {
      const SourceLocation location = token().getLocation();
      put(tok::l_paren, location, token_role::added);
      put(tok::star, location, token_role::added);
      names.insert(name());
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
  return {begin, here()};
}

/// `task_exec NAME BLOCK` becomes a function with `this` as a local variable.
void desugarer::task_execution_block() {
  const SourceLocation location = token().getLocation();
  skip();
  if (!is_name()) fail(token().getLocation(), "expected the name of a task behind 'task_exec'");
  task_execution execution{name(), token().getLocation(), {here() - 1, 0}, {}};
  if (depth_ > 0) fail(location, "'task_exec' stands outside of functions");
  if (!known_tasks_.contains(execution.task))
    report(execution.location, "unknown task '" + execution.task + "'; declare it in front with 'task " +
                                   execution.task + " { … };'");
  for (const task_execution& other : unit_.executions)
    if (other.task == execution.task)
      report(execution.location, "a second 'task_exec' of task '" + other.task + "'");
  skip();
  if (!is(tok::l_brace))
    fail(token().getLocation(), "expected the block of 'task_exec " + execution.task + "'");
  for (const char* word : {"static", "void"}) put(word, location);
  put("sukima_exec_" + execution.task, location);
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

/// While Clang parses, a worker function's type differs from a plain one's by a calling convention, which
/// goes
/// through typedefs, pointers and redeclarations.
void desugarer::worker_word() {
  const SourceLocation location = token().getLocation();
  if (is_worker_closure(at_)) return skip();
  skip();
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
  if (depth_ > 0) fail(location, "'worker_local' stands at file scope only");
  const bool linkage_in_front = at_ > 0 && previous()->isOneOf(tok::kw_static, tok::kw_extern);
  token_index begin = here();
  if (linkage_in_front) --begin;
  skip();
  while (!is(tok::semi)) {
    if (is(tok::eof)) fail(location, "expected ';' behind a 'worker_local' declaration");
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
  // Brackets belong together in the order of the unit, also those put in.
  into.partner.assign(into.tokens.size(), no_token);
  std::vector<token_index> open;
  for (token_index t = 0; t < into.tokens.size(); ++t) {
    if (into.roles[t] == token_role::keyword || into.roles[t] == token_role::printed_only) continue;
    const Token& token = into.tokens[t];
    if (token.isOneOf(tok::l_paren, tok::l_square, tok::l_brace)) open.push_back(t);
    if (token.isOneOf(tok::r_paren, tok::r_square, tok::r_brace) && !open.empty()) {
      into.partner[t] = open.back();
      into.partner[open.back()] = t;
      open.pop_back();
    }
  }
  return true;
}

}  // namespace sukima::language
