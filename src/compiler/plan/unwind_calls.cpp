// SPDX-License-Identifier: Apache-2.0
// Calls that may unwind their caller. After each of them there is code that stores the caller's variables.
#include "plan/unwind.hpp"

#include "plan/names.hpp"
#include "plan/tokens.hpp"
#include "plan/types.hpp"

namespace sukima::language {

using namespace clang;

namespace {

/// Stores the variables that are visible at a token in a frame. \param from  prefix of each name
std::string stores_of(const context& scope, token_index at, const std::string& frame,
                      const std::string& from) {
  const unwound& u = *scope.version->of;
  std::string text;
  const auto store = [&](const std::string& member, const std::string& name) {
    text += " " + frame + "->" + member + " = " + from + name + ";";
  };
  if (u.closure != nullptr) store("sukima_self", "sukima_self");
  for (const VarDecl* variable : u.variables)
    if (!u.in_frame.contains(variable) && u.scopes.at(variable).holds(at))
      store(u.members.at(variable), variable->getNameAsString());
  for (const auto& [number, type] : scope.version->waiting)
    store("sukima_v" + std::to_string(number), "sukima_v" + std::to_string(number));
  return text;
}

/// Returns the text before a call through which the unwinder passes: a variable whose clean-up is the landing
/// pad.
std::string begin_landing(planner& p, unsigned place, token_index at, const context& scope) {
  const unwound& u = *scope.version->of;
  const std::string number = std::to_string(place);
  if (scope.version->slow) return " sukima_r->sukima_head.sukima_place = " + number + "; ";
  const std::string pad = "sukima_pad_" + u.name + "_" + number;
  const std::string land = "sukima_land_" + u.name + "_" + number;
  std::string members = " char *sukima_top;";
  std::string values = "sukima_top";
  const auto add = [&](QualType type, const std::string& name) {
    members += " " + declare(p, p.in.ast.getPointerType(type), name) + ";";
    values += ", &" + name;
  };
  if (u.closure != nullptr) add(p.in.ast.VoidPtrTy, "sukima_self");
  for (const VarDecl* variable : u.variables)
    if (!u.in_frame.contains(variable) && u.scopes.at(variable).holds(at))
      add(variable->getType(), variable->getNameAsString());
  for (const auto& [one, type] : scope.version->waiting)
    add(type.getUnqualifiedType(), "sukima_v" + std::to_string(one));
  p.out.landings.text("struct " + pad + " {" + members + " };\n");
  p.out.landings.text("__attribute__((always_inline)) static __inline__ void " + land + "(struct " + pad +
                      " *sukima_p) { if (sukima_p->sukima_top == 0) return; struct sukima_frame_" + u.name +
                      " *const sukima_r = (struct sukima_frame_" + u.name +
                      " *)(void *)sukima_unmarked(sukima_p->sukima_top);" +
                      stores_of(scope, at, "sukima_r", "*sukima_p->") + " sukima_save_" + u.name +
                      "(sukima_r, " + number + "); }\n");
  return " { struct " + pad + " __attribute__((cleanup(" + land + "))) sukima_p = { " + values + " }; ";
}

}  // namespace

void unwind_call(planner& p, sheet& out, const CallExpr* call, const context& scope) {
  unwind_version& v = *scope.version;
  const unwound& u = *v.of;
  const unsigned place = ++v.calls;
  const QualType type = call->getType();
  const token_index open = p.in.unit.partner[p.in.unit.find(call->getRParenLoc())];
  const token_range whole = p.in.unwinding->tokens_of(call);
  out.go_to(p.in.unit.tokens[whole.begin].getLocation());
  std::string name;
  const unsigned number = type->isVoidType() ? 0 : ++v.values;
  try {
    const bool lands = p.in.options.land_closures;
    if (!type->isVoidType()) {
      const std::string declared = begin_value(p, number, type, scope);
      name = value_name(number, scope);
      if (!lands)
        out.token(declared + " = ", true);
      else if (!v.slow)
        out.token(declared + "; ", true);
    } else if (!lands) {
      out.token("if (__builtin_expect(!!(", true);
    }
    for (const auto& [one, its_type] : v.waiting) v.kept.emplace(one, its_type);
    if (lands) out.text(begin_landing(p, place, whole.begin, scope) + (name.empty() ? "" : name + " = "));
    const std::string top = end_of_frame(u, v.slow);
    if (const FunctionDecl* callee = call->getDirectCallee();
        callee != nullptr && !is_closure_type(call->getCallee()->getType())) {
      declare_unwound(p, *p.in.unwinding->find(callee));
      out.text("sukima_unwind_" + p.in.unwinding->find(callee)->name + "(" + top);
    } else {
      out.text(unwind_caller(p, *call) + "(" + top + ", ");
      plan_tokens(p, out, {whole.begin, open}, scope);
      out.text(", __FILE__, __LINE__");
    }
    if (call->getNumArgs() > 0) {
      out.text(", ");
      plan_tokens(p, out, {open + 1, p.in.unit.partner[open]}, scope);
    }
    const std::string back =
        " if (0) { sukima_place_" + std::to_string(place) + ": " +
        (name.empty() ? "" : name + " = *(" + pointer_to(p, type) + ")(void *)(sukima_r + 1)") + "; }";
    if (lands) {
      out.text(v.slow ? ");" + back : "); sukima_p.sukima_top = 0; }");
    } else {
      out.text(type->isVoidType() ? ")), 0)) " : "); if (" + special_test(p, type, name) + ") ");
      if (v.slow)
        out.text("{ sukima_r->sukima_head.sukima_place = " + std::to_string(place) + "; return 1; }" + back);
      else
        out.text("{" + own_frame(u, "sukima_top") + stores_of(scope, whole.begin, "sukima_r", "") +
                 " return sukima_save_" + u.name + "(sukima_r, " + std::to_string(place) + "); }");
    }
  } catch (const unprintable_type& problem) {
    report(p.in, call->getExprLoc(),
           "this call cannot be unwound: " + problem.reason + "; compile with -fclosures=frame");
  }
  if (!type->isVoidType()) v.waiting.emplace_back(number, type);
  substitute(whole, type->isVoidType() ? "(void)0" : name, scope);
}

}  // namespace sukima::language
