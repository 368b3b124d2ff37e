// SPDX-License-Identifier: Apache-2.0
// Calls that may unwind their caller. They are taken out of their expressions, in an order that C allows, and
// each is followed by what stores the caller's variables.
#include "emit/emitter.hpp"
#include "emit/types.hpp"

namespace sukima::language {

using namespace clang;

namespace {

/// Is there any call that is made, outside of a block?
bool calls_anything(const Stmt* s) {
  if (s == nullptr || isa<UnaryExprOrTypeTraitExpr, StmtExpr>(s)) return false;
  if (isa<CallExpr>(s)) return true;
  const auto children = s->children();
  return std::any_of(children.begin(), children.end(), calls_anything);
}

}  // namespace

/// The result that says that the callee has unwound; empty: no value does.
std::string emitter::special_value(QualType type) const {
  if (!type->isIntegralOrEnumerationType() && !type->isPointerType()) return "";
  const auto size = ast_.getTypeSizeInChars(type).getQuantity();
  if (size != 4 && size != 8) return "";
  return "(" + declare_unqualified(type, "") + ")SUKIMA_SPECIAL_" + std::to_string(size);
}

/// What a function returns that unwinds.
std::string emitter::special_result(QualType type) const {
  if (type->isVoidType()) return "1";
  const std::string value = special_value(type);
  if (!value.empty()) return value;
  return type->isScalarType() ? "0" : "*(" + pointer_to(type) + ")(void *)sukima_r";
}

/// The type of a pointer to results of a type.
std::string emitter::pointer_to(QualType type) const {
  return declare(ast_.getPointerType(type.getUnqualifiedType()), "");
}

/// Has the callee unwound?
std::string emitter::special_test(QualType type, const std::string& result) const {
  const std::string value = special_value(type);
  const std::string asked = "sukima_unwinding.sukima_asked";
  return value.empty() ? "SUKIMA_RARELY(" + asked + ")"
                       : "SUKIMA_RARELY(" + result + " == " + value + ") && " + asked;
}

/// The type that a version that unwinds returns.
QualType emitter::unwound_type(QualType type) const {
  return type->isVoidType() ? ast_.IntTy : type.getUnqualifiedType();
}

/// A variable for a result or a condition that what comes next in the statement uses.
std::string emitter::value_name(unsigned number, const context& where) const {
  const std::string name = "sukima_v" + std::to_string(number);
  return where.version->slow && where.version->kept.contains(number) ? "sukima_r->" + name : name;
}

/// Declares such a variable, or gives an assignment to it.
std::string emitter::begin_value(unsigned number, QualType type, const context& where) {
  const std::string name = value_name(number, where);
  if (!where.version->slow) return declare_unqualified(type, name);
  if (!where.version->kept.contains(number))
    where.version->declarations += " " + declare_unqualified(type, name) + ";";
  return name;
}

void emitter::substitute(token_range range, const std::string& text, const context& where) {
  where.version->substitutes[range.begin].emplace_back(range.end, text);
}

/// Prints the calls in an expression in front of it, and what then stands in their place is known.
void emitter::hoist(writer& out, const Expr* e, const context& where) {
  if (e == nullptr || !plan_->holds_call(e)) return;
  if (const auto* call = dyn_cast<CallExpr>(e)) {
    hoist_children(out, call, where);
    if (plan_->unwinds(call)) unwind_call(out, call, where);
    return;
  }
  if (const auto* two = dyn_cast<BinaryOperator>(e)) {
    if (two->isLogicalOp() && plan_->holds_call(two->getRHS())) return hoist_logical(out, two, where);
    if (two->getOpcode() == BO_Comma) return hoist_comma(out, two, false, where);
  }
  if (const auto* either = dyn_cast<ConditionalOperator>(e);
      either != nullptr &&
      (plan_->holds_call(either->getTrueExpr()) || plan_->holds_call(either->getFalseExpr())))
    return hoist_choice(out, either, where);
  hoist_children(out, e, where);
}

/// The operands of an expression from left to right: calls of plain C keep their place among the others.
void emitter::hoist_children(writer& out, const Expr* e, const context& where) {
  const auto* assignment = dyn_cast<BinaryOperator>(e);
  std::vector<const Expr*> operands;
  for (const Stmt* child : e->children())
    if (const auto* one = dyn_cast_or_null<Expr>(child)) operands.push_back(one);
  for (std::size_t k = 0; k < operands.size(); ++k) {
    const bool more = std::any_of(operands.begin() + static_cast<std::ptrdiff_t>(k) + 1, operands.end(),
                                  [this](const Expr* later) { return plan_->holds_call(later); });
    if (more && (assignment == nullptr || !assignment->isAssignmentOp()))
      pin(out, operands[k], where);
    else
      hoist(out, operands[k], where);
  }
}

/// A, B is `(void)(A);` in front of B.
void emitter::hoist_comma(writer& out, const BinaryOperator* e, bool pinned, const context& where) {
  hoist(out, e->getLHS(), where);
  const token_range left = plan_->tokens_of(e->getLHS());
  out.text(" (void)(");
  print(out, left, where);
  out.text(");");
  if (pinned)
    pin(out, e->getRHS(), where);
  else
    hoist(out, e->getRHS(), where);
  substitute({left.begin, plan_->tokens_of(e->getRHS()).begin}, "", where);
}

/// As hoist, but the calls of plain C in it are made here, too.
void emitter::pin(writer& out, const Expr* e, const context& where) {
  unwind_version& v = *where.version;
  if (!calls_anything(e)) return;
  const auto* call = dyn_cast<CallExpr>(e);
  const auto* two = dyn_cast<BinaryOperator>(e);
  if (two != nullptr && two->getOpcode() == BO_Comma) return hoist_comma(out, two, true, where);
  const bool chooses = isa<ConditionalOperator>(e) || (two != nullptr && two->isLogicalOp());
  if (call != nullptr && plan_->unwinds(call)) return hoist(out, e, where);
  if (call == nullptr && !chooses) {
    for (const Stmt* child : e->children())
      if (const auto* one = dyn_cast_or_null<Expr>(child)) pin(out, one, where);
    return;
  }
  if (call != nullptr && call->getBuiltinCallee() != 0 && !call->HasSideEffects(ast_)) return;
  hoist(out, e, where);
  const token_range tokens = plan_->tokens_of(e);
  const QualType type = e->getType();
  if (type->isVoidType() || tokens.empty()) return;
  const unsigned number = ++v.values;
  out.text(" " + begin_value(number, type, where) + " = ");
  print(out, tokens, where);
  out.text(";");
  v.waiting.emplace_back(number, type);
  substitute(tokens, value_name(number, where), where);
}

/// A && B, where B holds a call, is `int v = (A) != 0; if (v) v = (B) != 0;`.
void emitter::hoist_logical(writer& out, const BinaryOperator* e, const context& where) {
  unwind_version& v = *where.version;
  hoist(out, e->getLHS(), where);
  const unsigned number = ++v.values;
  out.text(" " + begin_value(number, ast_.IntTy, where) + " = (");
  print(out, plan_->tokens_of(e->getLHS()), where);
  const std::string name = value_name(number, where);
  out.text(std::string(") != 0; if (") + (e->getOpcode() == BO_LOr ? "!" : "") + name + ") {");
  const std::size_t waiting = v.waiting.size();
  hoist(out, e->getRHS(), where);
  out.text(" " + name + " = (");
  print(out, plan_->tokens_of(e->getRHS()), where);
  out.text(") != 0; }");
  v.waiting.resize(waiting);
  v.waiting.emplace_back(number, ast_.IntTy);
  substitute(plan_->tokens_of(e), name, where);
}

/// C ? X : Y, where X or Y holds a call, is `if (C) v = X; else v = Y;`.
void emitter::hoist_choice(writer& out, const ConditionalOperator* e, const context& where) {
  unwind_version& v = *where.version;
  hoist(out, e->getCond(), where);
  const unsigned number = ++v.values;
  const QualType type = e->getType();
  std::string name;
  if (!type->isVoidType()) {
    const std::string declared = begin_value(number, type, where);
    if (!v.slow) out.text(" " + declared + ";");
    name = value_name(number, where);
  }
  out.text(" if (");
  print(out, plan_->tokens_of(e->getCond()), where);
  out.text(") {");
  const std::size_t waiting = v.waiting.size();
  for (const Expr* one : {e->getTrueExpr(), e->getFalseExpr()}) {
    if (one == e->getFalseExpr()) out.text(" } else {");
    hoist(out, one, where);
    out.text(name.empty() ? " (void)(" : " " + name + " = (");
    print(out, plan_->tokens_of(one), where);
    out.text(");");
    v.waiting.resize(waiting);
  }
  out.text(" }");
  if (!name.empty()) v.waiting.emplace_back(number, type);
  substitute(plan_->tokens_of(e), name.empty() ? "(void)0" : "(" + name + ")", where);
}

/// The call, and what happens where it unwinds.
void emitter::unwind_call(writer& out, const CallExpr* call, const context& where) {
  unwind_version& v = *where.version;
  const unwound& u = *v.of;
  const unsigned place = ++v.calls;
  const QualType type = call->getType();
  const token_index open = unit_.partner[unit_.find(call->getRParenLoc())];
  const token_range whole = plan_->tokens_of(call);
  go_to(out, unit_.tokens[whole.begin].getLocation());
  std::string name;
  const unsigned number = type->isVoidType() ? 0 : ++v.values;
  try {
    if (!type->isVoidType()) {
      out.token(begin_value(number, type, where) + " = ", true);
      name = value_name(number, where);
    } else {
      out.token("if (SUKIMA_RARELY(", true);
    }
    const std::string top = "(char *)(sukima_r + 1)";
    if (const FunctionDecl* callee = call->getDirectCallee();
        callee != nullptr && !is_closure_type(call->getCallee()->getType())) {
      declare_unwound(*plan_->find(callee));
      out.text("sukima_unwind_" + plan_->find(callee)->name + "(" + top);
    } else {
      out.text(unwind_caller(*call) + "(" + top + ", ");
      print(out, {whole.begin, open}, where);
      out.text(", __FILE__, __LINE__");
    }
    if (call->getNumArgs() > 0) {
      out.text(", ");
      print(out, {open + 1, unit_.partner[open]}, where);
    }
    out.text(type->isVoidType() ? "))) " : "); if (" + special_test(type, name) + ") ");
    for (const auto& [one, its_type] : v.waiting) v.kept.emplace(one, its_type);
    const std::string label = "sukima_place_" + std::to_string(place);
    if (v.slow) {
      out.text("{ sukima_r->sukima_head.sukima_place = " + std::to_string(place) + "; return 1; } if (0) { " +
               label + ": ");
      out.text(type->isVoidType() ? "; }" : name + " = *(" + pointer_to(type) + ")(void *)(sukima_r + 1); }");
    } else {
      out.text("{" + stores_of(u, whole.begin));
      for (const auto& [one, its_type] : v.waiting)
        out.text(" sukima_r->sukima_v" + std::to_string(one) + " = sukima_v" + std::to_string(one) + ";");
      out.text(" return sukima_save_" + u.name + "(sukima_r, " + std::to_string(place) + "); }");
    }
  } catch (const unprintable_type& problem) {
    report(call->getExprLoc(),
           "this call cannot be unwound: " + problem.reason + "; compile with -fclosures=frame");
  }
  if (!type->isVoidType()) v.waiting.emplace_back(number, type);
  substitute(whole, type->isVoidType() ? "(void)0" : name, where);
}

/// Stores the variables that are visible at a token.
std::string emitter::stores_of(const unwound& u, token_index at) const {
  std::string text;
  if (u.closure != nullptr) text += " sukima_r->sukima_self = sukima_self;";
  for (const VarDecl* variable : u.variables)
    if (!u.in_record.contains(variable) && u.scopes.at(variable).holds(at))
      text += " sukima_r->" + u.members.at(variable) + " = " + variable->getNameAsString() + ";";
  return text;
}

/// A function that calls what a pointer to closures leads to. \returns its name
std::string emitter::unwind_caller(const CallExpr& call) {
  const auto* proto =
      call.getCallee()->getType()->castAs<PointerType>()->getPointeeType()->castAs<FunctionProtoType>();
  const std::string type = declare(QualType(proto, 0), "") + " unwinding";
  if (const auto known = closure_callers_.find(type); known != closure_callers_.end()) return known->second;
  const std::string number = std::to_string(closure_callers_.size() + 1);
  const std::string name = "sukima_unwind_call_" + number;
  closure_callers_.emplace(type, name);
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
    types += ", " + declare_unqualified(parameter, "");
    parameters += ", " + declare_unqualified(parameter, one);
    arguments += ", " + one;
    members += " " + declare_unqualified(parameter, one) + ";";
    stores += " sukima_q->" + one + " = " + one + ";";
    loads += " " + declare_unqualified(parameter, one) + " = sukima_q->" + one + ";";
  }
  const bool is_void = result->isVoidType();
  const std::string callee = declare(ast_.getPointerType(QualType(proto, 0)), "sukima_callee");
  const std::string call_inner =
      "((" + declare_unqualified(own, "(*)(char *, void *" + types + ")") + ")sukima_c->sukima_inner)(";
  const std::string request = "struct sukima_request_" + number;
  before_.text(request + " { sukima_frame_closure *sukima_c;" + members + " };\n");
  before_.text("static int sukima_run_" + number + "(char *sukima_at) { " + request + " *const sukima_q = (" +
               request + " *)(void *)sukima_at; sukima_frame_closure *const sukima_c = sukima_q->sukima_c;" +
               loads + " " + (is_void ? "return " : declare_unqualified(own, "sukima_v") + " = ") +
               call_inner + "sukima_at, sukima_c" + arguments + ");" +
               (is_void ? ""
                        : " if (" + special_test(result, "sukima_v") + ") return 1; *(" + pointer_to(own) +
                              ")(void *)sukima_at = sukima_v; return 0;") +
               " }\n");
  before_.text(
      "static __attribute__((noinline, cold)) " +
      declare_unqualified(own, "sukima_ask_" + number + "(char *sukima_top, sukima_frame_closure *sukima_c" +
                                   parameters + ")") +
      " { " + request + " *const sukima_q = (" + request +
      " *)(void *)sukima_top; sukima_q->sukima_c = sukima_c;" + stores +
      " sukima_ask(sukima_top, sukima_run_" + number +
      "); void *const sukima_r = sukima_top; (void)sukima_r; return " + special_result(result) + "; }\n");
  const std::string plain_types = "(*)(void *" + types + ")";
  std::string plain_arguments = arguments.empty() ? "" : arguments.substr(2);
  const std::string leave = is_void ? "" : "return ";
  const std::string end = is_void ? "; return 0; }" : "; }";
  before_.text(
      "static __inline__ __attribute__((unused)) " +
      declare_unqualified(own, name + "(char *sukima_top, " + callee +
                                   ", const char *sukima_file, int sukima_line" + parameters + ")") +
      " { if (sukima_is_in_frame((__UINTPTR_TYPE__)sukima_callee)) { sukima_frame_closure *const sukima_c = "
      "(sukima_frame_closure *)sukima_closure_self((__UINTPTR_TYPE__)sukima_callee); if "
      "(sukima_is_saved(sukima_c, "
      "sukima_top, sukima_file, sukima_line)) return " +
      call_inner + "sukima_top, sukima_c" + arguments + "); return sukima_ask_" + number +
      "(sukima_top, sukima_c" + arguments +
      "); } sukima_unwinding.sukima_top = sukima_top; if (sukima_is_closure((__UINTPTR_TYPE__)" +
      "sukima_callee)) { " + leave + "((" + declare_unqualified(result, plain_types) +
      ")sukima_closure_code((__UINTPTR_TYPE__)sukima_callee))(sukima_closure_self((__UINTPTR_TYPE__)sukima_"
      "callee)" +
      arguments + ")" + end + " " + leave + "sukima_callee(" + plain_arguments + ")" +
      (is_void ? "; return 0; }\n" : "; }\n"));
  return name;
}

}  // namespace sukima::language
