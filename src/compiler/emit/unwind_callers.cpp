// SPDX-License-Identifier: Apache-2.0
// What calls closures through pointers in functions that are unwound: one function for each type.
#include "emit/emitter.hpp"
#include "emit/types.hpp"

namespace sukima::language {

using namespace clang;

/// A function that calls what a pointer to closures leads to. \returns its name
std::string emitter::unwind_caller(const CallExpr& call) {
  const auto* proto =
      call.getCallee()->getType()->castAs<PointerType>()->getPointeeType()->castAs<FunctionProtoType>();
  const std::string type = declare(QualType(proto, 0), "") + " unwinding";
  if (const auto known = closure_callers_.find(type); known != closure_callers_.end()) return known->second;
  const std::string number = std::to_string(closure_callers_.size() + 1);
  const std::string name = "sukima_unwind_call_" + number;
  closure_callers_.emplace(type, name);
  const bool lands = options_.land_closures;
  const QualType result = proto->getReturnType();
  const QualType own = unwound_type(result);
  std::string types;
  std::string parameters;
  std::string arguments;
  std::string members;
  std::string stores;
  std::string loads;
  unsigned count = 0;
  for (const QualType parameter : proto->param_types()) {
    const std::string one = "sukima_" + std::to_string(++count);
    const std::string declared = declare_unqualified(parameter, one);
    types += ", " + declare_unqualified(parameter, "");
    parameters += ", " + declared;
    arguments += ", " + one;
    members += " " + declared + ";";
    stores += " sukima_q->" + one + " = " + one + ";";
    loads += " " + declared + " = sukima_q->" + one + ";";
  }
  const bool is_void = result->isVoidType();
  // How a call ends that gives what this function returns, and one that gives nothing to return.
  const auto give = [&](const std::string& value, bool returns) {
    return returns ? "return " + value + ";" : value + (own->isVoidType() ? "; return;" : "; return 0;");
  };
  const std::string callee = declare(ast_.getPointerType(QualType(proto, 0)), "sukima_callee");
  const std::string inner =
      "((" + declare_unqualified(own, "(*)(char *, void *" + types + ")") + ")sukima_c->sukima_inner)(";
  const std::string request = "struct sukima_request_" + number;
  before_.text(request + " { sukima_frame_closure *sukima_c;" + members + " };\n");

  // The level calls it when all have unwound.
  std::string run = request + " *const sukima_q = (" + request +
                    " *)(void *)sukima_at; sukima_frame_closure *const sukima_c = sukima_q->sukima_c;" +
                    loads + " ";
  const std::string run_call = inner + "sukima_marked(sukima_at), sukima_c" + arguments + ")";
  if (is_void)
    run += lands ? run_call + "; return 0;" : "return " + run_call + ";";
  else
    run += declare_unqualified(own, "sukima_v") + " = " + run_call + ";" +
           (lands ? "" : " if (" + special_test(result, "sukima_v") + ") return 1;") + " *(" +
           pointer_to(own) + ")(void *)sukima_at = sukima_v; return 0;";
  before_.text("static int sukima_run_" + number + "(char *sukima_at) { " + run + " }\n");

  // The arguments go where the caller's record ends.
  std::string ask = request + " *const sukima_q = (" + request +
                    " *)(void *)sukima_unmarked(sukima_top); sukima_q->sukima_c = sukima_c;" + stores;
  if (lands)
    ask += " sukima_ask_landing((char *)sukima_q, sukima_run_" + number + ");";
  else
    ask += " sukima_ask((char *)sukima_q, sukima_run_" + number +
           "); void *const sukima_r = sukima_q; (void)sukima_r; return " + special_result(result) + ";";
  before_.text(
      "static __attribute__((noinline, cold" + std::string(lands ? ", noreturn" : "") + ")) " +
      declare_unqualified(
          lands ? ast_.VoidTy : own,
          "sukima_ask_" + number + "(char *sukima_top, sukima_frame_closure *sukima_c" + parameters + ")") +
      " { " + ask + " }\n");

  const std::string asked = "sukima_ask_" + number + "(sukima_top, sukima_c" + arguments + ")";
  const std::string plain_arguments = arguments.empty() ? "" : arguments.substr(2);
  before_.text(
      "static __inline__ __attribute__((unused)) " +
      declare_unqualified(own, name + "(char *sukima_top, " + callee +
                                   ", const char *sukima_file, int sukima_line" + parameters + ")") +
      " { if (sukima_is_in_frame((__UINTPTR_TYPE__)sukima_callee)) { sukima_frame_closure *const sukima_c = "
      "(sukima_frame_closure *)sukima_closure_self((__UINTPTR_TYPE__)sukima_callee); const int sukima_saved "
      "= "
      "sukima_is_saved(sukima_c, " +
      (lands ? "1" : "0") + ", sukima_top, sukima_file, sukima_line); if (sukima_saved == 1) { " +
      give(inner + "sukima_top, sukima_c" + arguments + ")", !own->isVoidType()) +
      " } if (sukima_saved == 0) " + (lands ? asked + ";" : "return " + asked + ";") +
      " } sukima_unwinding.sukima_top = sukima_top; if (sukima_is_closure((__UINTPTR_TYPE__)sukima_callee)) "
      "{ " +
      give("((" + declare_unqualified(result, "(*)(void *" + types + ")") +
               ")sukima_closure_code((__UINTPTR_TYPE__)sukima_callee))(sukima_closure_self((__UINTPTR_TYPE__)"
               "sukima_callee)" +
               arguments + ")",
           !is_void) +
      " } " + give("sukima_callee(" + plain_arguments + ")", !is_void) + " }\n");
  return name;
}

}  // namespace sukima::language
