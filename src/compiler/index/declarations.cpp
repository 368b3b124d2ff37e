// SPDX-License-Identifier: Apache-2.0
// Records functions, closures, variables and types when the walk reaches their declarations.
#include "index/recording.hpp"

namespace sukima::language {

using namespace clang;

bool recording::in_system(SourceLocation location) const {
  const token_index t = of.find(location);
  return t != no_token && of.roles[t] == token_role::system;
}

void recording::name(SourceLocation location, const NamedDecl* declaration) const {
  const token_index t = of.find(location);
  if (t != no_token && of.tokens[t].is(tok::identifier)) index.names[t] = declaration;
}

namespace {

/// Adds the constructs in a function's block, and whether it has closures.
void add_contents(const unit& u, function_info& f) {
  for (const construct& c : u.constructs_in(f.body)) f.constructs.push_back(&c);
  f.has_closures = !u.closures_in(f.body).empty();
}

}  // namespace

function_info& record_function(const recording& to, const FunctionDecl* function) {
  function_info& f = to.index.functions.emplace_back();
  f.declaration = function;
  f.is_worker = is_worker_type(function->getType());
  f.result = function->getReturnType();
  f.execution = nullptr;
  f.body = {to.of.find(function->getBody()->getBeginLoc()), to.of.find(function->getBody()->getEndLoc()) + 1};
  for (const task_execution& execution : to.of.executions)
    if (execution.block.begin == f.body.begin) {
      f.execution = &execution;
      f.is_worker = true;
    }
  add_contents(to.of, f);
  return f;
}

function_info& record_closure(const recording& to, const closure_declaration& closure, function_info& outer) {
  function_info& f = to.index.closures.emplace_back();
  f.declaration = outer.declaration;
  f.closure = &closure;
  f.outer = &outer;
  f.is_worker = closure.is_worker;
  f.execution = nullptr;
  f.body = closure.body;
  f.whole = closure.whole;
  add_contents(to.of, f);
  return f;
}

void record_variable(const recording& to, const VarDecl* variable) {
  if (const auto* tag = dyn_cast_or_null<CStyleCastExpr>(variable->getInit());
      tag != nullptr && variable->getName() == "sukima_tag")
    to.index.tags.push_back(tag->getSubExpr()->IgnoreParenImpCasts());
  const token_index t = to.of.find(variable->getLocation());
  if (t == no_token) return;
  to.index.declared[variable] = t;
  if (!variable->isFileVarDecl()) to.index.variable_names.insert(variable->getNameAsString());
  if (const closure_declaration* const c = to.of.closure_named_at(t);
      c != nullptr && !isa<ParmVarDecl>(variable))
    to.index.closure_variables[variable] = c;
  if (to.of.tokens[t].is(tok::identifier) && to.of.roles[t] != token_role::printed_only)
    to.index.names[t] = variable;
  if (variable->isFileVarDecl())
    for (const token_range& r : to.of.worker_locals)
      if (r.holds(t)) to.index.worker_locals.insert(variable->getCanonicalDecl());
  // The initial value is not recorded as a change, because nothing can read the variable before it.
}

void record_type(const recording& to, const TagDecl* type, function_info* function) {
  to.name(type->getLocation(), type);
  if (function == nullptr || !type->isThisDeclarationADefinition()) return;
  local_type t{type,
               {to.of.find(type->getBeginLoc()), to.of.find(type->getBraceRange().getEnd())},
               to.of.find(type->getBraceRange().getBegin())};
  if (t.tokens.begin == no_token || t.tokens.end == no_token || t.brace == no_token) return;
  ++t.tokens.end;
  while (to.of.tokens[t.tokens.end].is(tok::kw___attribute))
    t.tokens.end = to.of.partner[t.tokens.end + 1] + 1;
  function->types.push_back(t);
}

void record_named_type(const recording& to, TagTypeLoc type, function_info* function) {
  to.name(type.getNameLoc(), type.getDecl());
  const auto* const record = dyn_cast<RecordDecl>(type.getDecl()->getCanonicalDecl());
  if (function == nullptr || record == nullptr || record->getIdentifier() == nullptr ||
      record->getParentFunctionOrMethod() == nullptr)
    return;
  std::vector<const RecordDecl*>& known = function->named_records;
  if (std::find(known.begin(), known.end(), record) == known.end()) known.push_back(record);
}

void record_local_declaration(const recording& to, const DeclStmt* statement, function_info* function) {
  const token_index begin = to.of.find(statement->getBeginLoc());
  const token_index end = to.of.find(statement->getEndLoc());
  if (function == nullptr || begin == no_token || end == no_token) return;
  local_declaration d{{begin, end + 1}, {}};
  for (const Decl* one : statement->decls())
    if (const auto* named = dyn_cast<NamedDecl>(one)) d.declared.push_back(named);
  function->declarations.push_back(std::move(d));
}

}  // namespace sukima::language
