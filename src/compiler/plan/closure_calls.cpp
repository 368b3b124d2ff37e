// SPDX-License-Identifier: Apache-2.0
// Calls of closures through pointers, by one function for each type, and the tickets that check these calls.
#include "plan/closures.hpp"

#include "plan/entering.hpp"
#include "plan/input.hpp"
#include "plan/names.hpp"
#include "plan/tokens.hpp"
#include "plan/types.hpp"

namespace sukima::language {

using namespace clang;

std::string block_tickets(const plan_input& in, token_index closure) {
  return "sukima_tickets_" + std::to_string(in.unit.block_around(closure).begin);
}

void declare_tickets(planner& p, const function_info& f) {
  if (!p.in.options.check_closures) return;
  std::set<token_index> blocks;
  for (const closure_declaration& c : p.in.unit.closures_in(f.body)) {
    if (c.forward != nullptr) continue;
    const token_index block = p.in.unit.block_around(c.whole.begin).begin;
    if (!blocks.insert(block).second) continue;
    const token_range labels = label_declarations(p.in, block + 1);
    p.function.after_token[labels.empty() ? block : labels.end - 1] +=
        " void *" + block_tickets(p.in, c.whole.begin) +
        " __attribute__((cleanup(sukima_tickets_close))) = 0;";
  }
}

std::string begin_check(const planner& p, const closure_call& call) {
  if (!p.in.options.check_closures) return "";
  try {
    const QualType type = call.call->getCallee()->getType().getUnqualifiedType();
    return "(" + declare(p, type, "") + ")sukima_ticket_check((__UINTPTR_TYPE__)(";
  } catch (const unprintable_type&) {
    return "";  // closure_caller reports it
  }
}

std::string closure_caller(planner& p, const closure_call& call) {
  const auto* function =
      call.call->getCallee()->getType()->castAs<PointerType>()->getPointeeType()->castAs<FunctionType>();
  const auto* proto = cast<FunctionProtoType>(function);
  const bool is_worker = call.is_worker && !p.in.options.sequential;
  const bool enters = is_worker && !call.in_worker;
  try {
    const std::string type = declare(p, QualType(function, 0), "") + (enters ? " entered" : "");
    if (const auto known = p.names.closure_callers.find(type); known != p.names.closure_callers.end())
      return known->second;
    // No `_` before the number, because names for a function `closure_call` have one.
    const std::string name = "sukima_closure_call" + std::to_string(p.names.closure_callers.size() + 1);
    SUKIMA_ASSERT(!proto->isVariadic(), "no function passes the arguments of a variadic closure on");
    p.names.closure_callers.emplace(type, name);
    const QualType result = proto->getReturnType();
    const bool has_result = !result->isVoidType();
    std::string types = is_worker ? "char *, void *" : "void *";
    std::string parameters = declare(p, p.in.ast.getPointerType(QualType(function, 0)), "sukima_callee");
    std::string arguments;
    std::string members = " " + parameters + ";";
    std::string values = ".sukima_callee = sukima_callee";
    unsigned number = 0;
    for (const QualType parameter : proto->param_types()) {
      const std::string own = "sukima_" + std::to_string(++number);
      const std::string declared = declare_unqualified(p, parameter, own);
      types += ", " + declare_unqualified(p, parameter, "");
      parameters += ", " + declared;
      arguments += ", " + (enters ? "sukima_f->" + own : own);
      members += " " + declared + ";";
      values += ", ." + own + " = " + own;
    }
    const std::string callee = enters ? "sukima_f->sukima_callee" : "sukima_callee";
    const std::string top = is_worker ? "sukima_top, " : "";
    const std::string closure_call = "((" + declare_unqualified(p, result, "(*)(" + types + ")") +
                                     ")sukima_closure_code((__UINTPTR_TYPE__)" + callee + "))(" + top +
                                     "sukima_closure_self((__UINTPTR_TYPE__)" + callee + ")" + arguments +
                                     ")";
    std::string plain_arguments = (is_worker ? "sukima_top" : "") + arguments;
    if (plain_arguments.starts_with(", ")) plain_arguments.erase(0, 2);
    const std::string plain_call = callee + "(" + plain_arguments + ")";
    const auto choose = [&](const auto& use) {
      return "if (sukima_is_closure((__UINTPTR_TYPE__)" + callee + ")) " + use(closure_call) + " else " +
             use(plain_call);
    };
    const std::string words = "static __inline__ __attribute__((unused)) ";
    if (!enters) {
      if (is_worker) parameters = "char *sukima_top, " + parameters;
      p.out.before_function.text(
          words + declare_unqualified(p, result, name + "(" + parameters + ")") + " { " +
          choose([&](const std::string& value) { return (has_result ? "return " : "") + value + ";"; }) +
          " }\n");
      return name;
    }
    const auto store = [&](const std::string& value) {
      return has_result ? assign(p, result, "sukima_f->sukima_result", value) : value + ";";
    };
    print_entering(p, {.name = name,
                       .words = words,
                       .parameters = parameters,
                       .members = members,
                       .values = values,
                       .call = choose(store),
                       .result = result});
    return name;
  } catch (const unprintable_type& problem) {
    report(p.in, call.call->getExprLoc(),
           "this closure cannot be called through a pointer: " + problem.reason);
    return "";
  }
}

void variadic_call(planner& p, sheet& out, const closure_call& call, const context& scope) {
  const auto* proto =
      call.call->getCallee()->getType()->castAs<PointerType>()->getPointeeType()->castAs<FunctionProtoType>();
  const bool is_worker = call.is_worker && !p.in.options.sequential;
  if (is_worker && !call.in_worker) {
    report(p.in, call.call->getExprLoc(), "a variadic worker closure can be called in worker functions only");
    return;
  }
  if (const auto others = p.in.closure_pointer_calls.find(call.first);
      others != p.in.closure_pointer_calls.end() && others->second.front()->open > call.open) {
    report(p.in, call.call->getExprLoc(),
           "the result of this variadic closure is called directly; store it in a variable first");
    return;
  }
  try {
    std::string types = is_worker ? "char *, void *" : "void *";
    for (const QualType parameter : proto->param_types())
      types += ", " + declare_unqualified(p, parameter, "");
    const std::string arguments = text_of(p, {call.open + 1, p.in.unit.partner[call.open]}, scope);
    const std::string top = is_worker ? scope.top + ", " : "";
    const std::string note =
        leaves_for_c(p.in, call.open, scope) ? "sukima_leave_for_c(" + scope.top + "); " : "";
    out.token("__extension__({ " + declare(p, p.in.ast.getPointerType(QualType(proto, 0)), "sukima_p") +
                  " = " + begin_check(p, call) + text_of(p, {call.first, call.open}, scope) +
                  (p.in.options.check_closures ? "), __FILE__, __LINE__)" : "") + "; " + note +
                  "sukima_is_closure((__UINTPTR_TYPE__)sukima_p) ? ((" +
                  declare_unqualified(p, proto->getReturnType(), "(*)(" + types + ", ...)") +
                  ")sukima_closure_code((__UINTPTR_TYPE__)sukima_p))(" + top +
                  "sukima_closure_self((__UINTPTR_TYPE__)sukima_p), " + arguments + ") : sukima_p(" + top +
                  arguments + "); })",
              true);
  } catch (const unprintable_type& problem) {
    report(p.in, call.call->getExprLoc(),
           "this closure cannot be called through a pointer: " + problem.reason);
  }
}

}  // namespace sukima::language
