// SPDX-License-Identifier: Apache-2.0
#include "plan/names.hpp"

#include "plan/types.hpp"
#include "print/printer.hpp"
#include "source/report.hpp"

namespace sukima::language {

using namespace clang;

void report(const plan_input& in, SourceLocation place, const std::string& message) {
  report_error(in.ast.getDiagnostics(), place, message);
}

std::string declare(const planner& p, QualType type, const std::string& name) {
  return language::declare(
      type, name,
      {p.in.ast, !p.in.options.sequential, &p.names.renamed, nullptr, &p.in.index.variable_names});
}

std::string declare_unqualified(const planner& p, QualType type, const std::string& name) {
  return declare(p, type.getUnqualifiedType(), name);
}

std::string assign(const planner& p, QualType type, const std::string& place, const std::string& value) {
  if (!has_const_members(type, p.in.ast)) return place + " = " + value + ";";
  return "{ " + declare_unqualified(p, type, "sukima_whole") + " = " + value +
         "; __builtin_memcpy((void *)&" + place + ", &sukima_whole, sizeof sukima_whole); }";
}

std::string spelling(const plan_input& in, token_index t) {
  return spelling_of(in.compiler.getPreprocessor(), in.unit.tokens[t]);
}

bool is_put_in(const plan_input& in, const VarDecl* variable) {
  const auto found = in.index.declared.find(variable);
  if (found == in.index.declared.end()) return false;
  const Token& token = in.unit.tokens[found->second];
  return in.unit.roles[found->second] == token_role::keyword || token.isNot(tok::identifier) ||
         token.getIdentifierInfo() != variable->getIdentifier();
}

const VarDecl* variable_at(const plan_input& in, token_index t) {
  if (in.unit.roles[t] == token_role::parsed_only) return nullptr;
  const auto name = in.index.names.find(t);
  return name == in.index.names.end() ? nullptr : dyn_cast<VarDecl>(name->second);
}

bool uses(const plan_input& in, token_range range, const VarDecl* variable) {
  for (token_index t = range.begin; t < range.end; ++t)
    if (variable_at(in, t) == variable) return true;
  return false;
}

bool is_parameter(const plan_input& in, const VarDecl* variable) {
  if (isa<ParmVarDecl>(variable)) return true;
  const auto declared = in.index.declared.find(variable);
  return declared != in.index.declared.end() && in.unit.is_in_parameters_of_closure(declared->second);
}

const function_info& owner_of(const plan_input& in, const VarDecl* variable, const context& scope) {
  const function_info* const owner = in.index.function_around(in.index.declared.at(variable));
  return owner != nullptr ? *owner : *scope.function;
}

std::string worker_name(const FunctionDecl* f) {
  return f->getNameAsString() + (f->isMain() ? "__worker" : "");
}

std::string entry_name(const FunctionDecl* f) {
  return f->getNameAsString() + (f->isMain() ? "" : "__entry");
}

std::string base_name(const context& scope) {
  if (!scope.closure_name.empty()) return scope.closure_name;
  return "sukima_" +
         (scope.function->execution != nullptr ? "exec_" + scope.function->execution->task
                                               : scope.function->declaration->getNameAsString()) +
         scope.form_suffix;
}

bool is_local(const FunctionDecl* f) {
  if (f->getCanonicalDecl()->getStorageClass() == SC_Static) return true;
  const FunctionDecl* definition = f->getDefinition();
  return definition != nullptr && f->isInlineSpecified() &&
         !definition->isInlineDefinitionExternallyVisible();
}

bool has_entry(const plan_input& in, const FunctionDecl* f) {
  return f->getCanonicalDecl()->getStorageClass() != SC_Static ||
         in.index.entered.contains(f->getCanonicalDecl());
}

bool is_looked_up_by_thread(const plan_input& in, const VarDecl* variable, const context& scope) {
  if (variable->getTLSKind() == VarDecl::TLS_None || in.options.sequential || scope.function == nullptr)
    return false;
  if (scope.function->is_worker) return true;
  // A plain function may be inlined into a worker function. A function that is unwound is never inlined.
  return !in.index.workers.empty() && scope.version == nullptr;
}

std::string thread_accessor(const std::string& variable) { return "sukima_thread_" + variable; }

void need_task(planner& p, const std::string& task) {
  if (!p.names.declared.insert(task).second) return;
  p.out.before_function.text("void sukima_exec_" + task + "(char *sukima_top, void *sukima_task);\n");
}

std::string label_suffix(const LabelDecl* label, const context& scope) {
  if (label->isGnuLocal()) return "";
  const auto place = scope.function->labels.find(label);
  return place != scope.function->labels.end() && scope.copied.holds(place->second) ? scope.suffix : "";
}

token_range label_declarations(const plan_input& in, token_index begin) {
  token_index end = begin;
  for (token_index t = begin; t < in.unit.tokens.size(); ++t) {
    if (in.unit.roles[t] != token_role::user) continue;
    if (in.unit.tokens[t].isNot(tok::kw___label__)) break;
    while (in.unit.tokens[t].isNot(tok::semi)) ++t;
    end = t + 1;
  }
  return {begin, end};
}

std::string name_in(const plan_input& in, const VarDecl* variable, const context& scope) {
  const auto own = scope.names.find(variable);
  if (own != scope.names.end()) return own->second;
  return is_put_in(in, variable) && variable->getName() == "this" ? "(*sukima_this)"
                                                                  : variable->getNameAsString();
}

}  // namespace sukima::language
