// SPDX-License-Identifier: Apache-2.0
// Calls of closures through pointers in functions that are unwound, by one function for each type.
#include "plan/names.hpp"
#include "plan/types.hpp"
#include "plan/unwind.hpp"

namespace sukima::language {

using namespace clang;

namespace {

/// The C of the caller for one type of closures.
class caller_planner {
 public:
  caller_planner(planner& p, const FunctionProtoType* proto, const std::string& number)
      : p_(p),
        lands_(p.in.options.land_closures),
        number_(number),
        result_(proto->getReturnType()),
        own_(unwound_type(p.in, result_)),
        callee_(declare(p, p.in.ast.getPointerType(QualType(proto, 0)), "sukima_callee")),
        request_("struct sukima_request_" + number) {
    unsigned count = 0;
    for (const QualType parameter : proto->param_types()) {
      const std::string one = "sukima_" + std::to_string(++count);
      const std::string declared = declare_unqualified(p, parameter, one);
      types_ += ", " + declare_unqualified(p, parameter, "");
      parameters_ += ", " + declared;
      arguments_ += ", " + one;
      members_ += " " + declared + ";";
      stores_.append(" sukima_q->").append(one).append(" = ").append(one).append(";");
      loads_.append(" ").append(declared).append(" = sukima_q->").append(one).append(";");
    }
    inner_ = "((" + declare_unqualified(p, own_, "(*)(char *, void *" + types_ + ")") +
             ")sukima_c->sukima_inner)(";
  }

  void plan(const std::string& name) {
    p_.out.before_function.text(request_ + " { sukima_frame_closure *sukima_c;" + members_ + " };\n");
    plan_run();
    plan_ask();
    plan_call(name);
  }

 private:
  /// Plans the function that the level calls after all frames have unwound.
  void plan_run() {
    std::string run = request_ + " *const sukima_q = (" + request_ +
                      " *)(void *)sukima_at; sukima_frame_closure *const sukima_c = sukima_q->sukima_c;" +
                      loads_ + " ";
    const std::string call = inner_ + "sukima_marked(sukima_at), sukima_c" + arguments_ + ")";
    if (result_->isVoidType())
      run += lands_ ? call + "; return 0;" : "return " + call + ";";
    else
      run += declare_unqualified(p_, own_, "sukima_v") + " = " + call + ";" +
             (lands_ ? "" : " if (" + special_test(p_, result_, "sukima_v") + ") return 1;") + " *(" +
             pointer_to(p_, own_) + ")(void *)sukima_at = sukima_v; return 0;";
    p_.out.before_function.text("static int sukima_run_" + number_ + "(char *sukima_at) { " + run + " }\n");
  }

  /// Plans the function that stores the request, with the arguments, at the end of the caller's frame.
  void plan_ask() {
    std::string ask = request_ + " *const sukima_q = (" + request_ +
                      " *)(void *)sukima_unmarked(sukima_top); sukima_q->sukima_c = sukima_c;" + stores_;
    if (lands_)
      ask += " sukima_ask_landing((char *)sukima_q, sukima_run_" + number_ + ");";
    else
      ask += " sukima_ask((char *)sukima_q, sukima_run_" + number_ +
             "); void *const sukima_r = sukima_q; (void)sukima_r; return " + special_result(p_, result_) +
             ";";
    p_.out.before_function.text(
        "static __attribute__((noinline, cold" + std::string(lands_ ? ", noreturn" : "") + ")) " +
        declare_unqualified(p_, lands_ ? p_.in.ast.VoidTy : own_,
                            "sukima_ask_" + number_ + "(char *sukima_top, sukima_frame_closure *sukima_c" +
                                parameters_ + ")") +
        " { " + ask + " }\n");
  }

  /// Returns the text that ends a call, with or without a value that this function returns.
  std::string give(const std::string& value, bool returns) const {
    return returns ? "return " + value + ";" : value + (own_->isVoidType() ? "; return;" : "; return 0;");
  }

  /// Plans the function itself, which first checks the pointer.
  void plan_call(const std::string& name) {
    const bool is_void = result_->isVoidType();
    const std::string asked = "sukima_ask_" + number_ + "(sukima_top, sukima_c" + arguments_ + ")";
    const std::string plain_arguments = arguments_.empty() ? "" : arguments_.substr(2);
    const std::string closure_call =
        "((" + declare_unqualified(p_, result_, "(*)(void *" + types_ + ")") +
        ")sukima_closure_code((__UINTPTR_TYPE__)sukima_callee))(sukima_closure_self((__UINTPTR_TYPE__)"
        "sukima_callee)" +
        arguments_ + ")";
    p_.out.before_function.text(
        "static __inline__ __attribute__((unused)) " +
        declare_unqualified(p_, own_,
                            name + "(char *sukima_top, " + callee_ +
                                ", const char *sukima_file, int sukima_line" + parameters_ + ")") +
        " { if (sukima_is_in_frame((__UINTPTR_TYPE__)sukima_callee)) { sukima_frame_closure *const sukima_c "
        "= "
        "(sukima_frame_closure *)sukima_closure_self((__UINTPTR_TYPE__)sukima_callee); const int "
        "sukima_saved "
        "= sukima_is_saved(sukima_c, " +
        (lands_ ? "1" : "0") + ", sukima_top, sukima_file, sukima_line); if (sukima_saved == 1) { " +
        give(inner_ + "sukima_top, sukima_c" + arguments_ + ")", !own_->isVoidType()) +
        " } if (sukima_saved == 0) " + (lands_ ? asked + ";" : "return " + asked + ";") +
        " } sukima_unwinding.sukima_top = sukima_top; if "
        "(sukima_is_closure((__UINTPTR_TYPE__)sukima_callee)) "
        "{ " +
        give(closure_call, !is_void) + " } " +
        (is_void ? "" : declare_unqualified(p_, result_, "sukima_v") + " = ") + "sukima_callee(" +
        plain_arguments + "); sukima_back_from_c(sukima_stack_here()); " +
        give(is_void ? "" : "sukima_v", !is_void) + " }\n");
  }

  planner& p_;
  bool lands_;
  std::string number_;
  QualType result_;
  QualType own_;  ///< the type that the caller returns
  std::string callee_;
  std::string request_;
  std::string inner_;
  std::string types_, parameters_, arguments_, members_, stores_, loads_;
};

}  // namespace

std::string unwind_caller(planner& p, const CallExpr& call) {
  const auto* proto =
      call.getCallee()->getType()->castAs<PointerType>()->getPointeeType()->castAs<FunctionProtoType>();
  const std::string type = declare(p, QualType(proto, 0), "") + " unwinding";
  if (const auto known = p.names.closure_callers.find(type); known != p.names.closure_callers.end())
    return known->second;
  const std::string number = std::to_string(p.names.closure_callers.size() + 1);
  std::string name = "sukima_unwind_call_" + number;
  p.names.closure_callers.emplace(type, name);
  caller_planner(p, proto, number).plan(name);
  return name;
}

}  // namespace sukima::language
