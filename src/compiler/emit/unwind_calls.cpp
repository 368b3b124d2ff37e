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
  if (type->isVoidType()) return options_.land_closures ? "" : "1";
  std::string value = special_value(type);
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
  return type->isVoidType() && !options_.land_closures ? ast_.IntTy : type.getUnqualifiedType();
}

/// A variable for a result or a condition that what comes next in the statement uses.
std::string emitter::value_name(unsigned number, const context& where) const {
  const std::string name = "sukima_v" + std::to_string(number);
  return where.version->slow && where.version->kept.contains(number) ? "sukima_r->" + name : name;
}

/// Declares such a variable, or gives an assignment to it.
std::string emitter::begin_value(unsigned number, QualType type, const context& where) {
  std::string name = value_name(number, where);
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
    const bool lands = options_.land_closures;
    if (!type->isVoidType()) {
      const std::string declared = begin_value(number, type, where);
      name = value_name(number, where);
      if (!lands)
        out.token(declared + " = ", true);
      else if (!v.slow)
        out.token(declared + "; ", true);
    } else if (!lands) {
      out.token("if (SUKIMA_RARELY(", true);
    }
    for (const auto& [one, its_type] : v.waiting) v.kept.emplace(one, its_type);
    if (lands) out.text(begin_landing(place, whole.begin, where) + (name.empty() ? "" : name + " = "));
    const std::string top = end_of_record(u, v.slow);
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
    const std::string back =
        " if (0) { sukima_place_" + std::to_string(place) + ": " +
        (name.empty() ? "" : name + " = *(" + pointer_to(type) + ")(void *)(sukima_r + 1)") + "; }";
    if (lands) {
      out.text(v.slow ? ");" + back : "); sukima_p.sukima_top = 0; }");
    } else {
      out.text(type->isVoidType() ? "))) " : "); if (" + special_test(type, name) + ") ");
      if (v.slow)
        out.text("{ sukima_r->sukima_head.sukima_place = " + std::to_string(place) + "; return 1; }" + back);
      else
        out.text("{" + own_record(u, "sukima_top") + stores_of(where, whole.begin, "sukima_r", "") +
                 " return sukima_save_" + u.name + "(sukima_r, " + std::to_string(place) + "); }");
    }
  } catch (const unprintable_type& problem) {
    report(call->getExprLoc(),
           "this call cannot be unwound: " + problem.reason + "; compile with -fclosures=frame");
  }
  if (!type->isVoidType()) v.waiting.emplace_back(number, type);
  substitute(whole, type->isVoidType() ? "(void)0" : name, where);
}

/// Stores what is visible at a token in a record. \param from  in front of each name
std::string emitter::stores_of(const context& where, token_index at, const std::string& record,
                               const std::string& from) const {
  const unwound& u = *where.version->of;
  std::string text;
  const auto store = [&](const std::string& member, const std::string& name) {
    text += " " + record + "->" + member + " = " + from + name + ";";
  };
  if (u.closure != nullptr) store("sukima_self", "sukima_self");
  for (const VarDecl* variable : u.variables)
    if (!u.in_record.contains(variable) && u.scopes.at(variable).holds(at))
      store(u.members.at(variable), variable->getNameAsString());
  for (const auto& [number, type] : where.version->waiting)
    store("sukima_v" + std::to_string(number), "sukima_v" + std::to_string(number));
  return text;
}

/// What stands in front of a call, if the unwinder passes it: a variable whose clean-up is the landing pad.
std::string emitter::begin_landing(unsigned place, token_index at, const context& where) {
  const unwound& u = *where.version->of;
  const std::string number = std::to_string(place);
  if (where.version->slow) return " sukima_r->sukima_head.sukima_place = " + number + "; ";
  const std::string pad = "sukima_pad_" + u.name + "_" + number;
  const std::string land = "sukima_land_" + u.name + "_" + number;
  std::string members = " char *sukima_top;";
  std::string values = "sukima_top";
  const auto add = [&](QualType type, const std::string& name) {
    members += " " + declare(ast_.getPointerType(type), name) + ";";
    values += ", &" + name;
  };
  if (u.closure != nullptr) add(ast_.VoidPtrTy, "sukima_self");
  for (const VarDecl* variable : u.variables)
    if (!u.in_record.contains(variable) && u.scopes.at(variable).holds(at))
      add(variable->getType(), variable->getNameAsString());
  for (const auto& [one, type] : where.version->waiting)
    add(type.getUnqualifiedType(), "sukima_v" + std::to_string(one));
  landings_.text("struct " + pad + " {" + members + " };\n");
  landings_.text("__attribute__((always_inline)) static __inline__ void " + land + "(struct " + pad +
                 " *sukima_p) { if (sukima_p->sukima_top == 0) return; struct sukima_frame_" + u.name +
                 " *const sukima_r = (struct sukima_frame_" + u.name +
                 " *)(void *)sukima_unmarked(sukima_p->sukima_top);" +
                 stores_of(where, at, "sukima_r", "*sukima_p->") + " sukima_save_" + u.name + "(sukima_r, " +
                 number + "); }\n");
  return " { struct " + pad + " __attribute__((cleanup(" + land + "))) sukima_p = { " + values + " }; ";
}

}  // namespace sukima::language
