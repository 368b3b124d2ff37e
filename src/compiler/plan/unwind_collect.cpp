// SPDX-License-Identifier: Apache-2.0
// Walks over the own block of a function that is unwound, and collects its variables and the statements to
// rewrite.
#include "plan/unwind_plan.hpp"

namespace sukima::language {

using namespace clang;

class unwind_collector {
 public:
  unwind_collector(unwind_plan& plan, unwound& into)
      : plan_(plan), unit_(plan.unit_), index_(plan.index_), into_(into) {}

  bool failed = false;
  std::vector<std::pair<const closure_declaration*, const CompoundStmt*>> closures;

  void parameter(const VarDecl* v) {
    into_.parameters.push_back(v);
    variable(v, false);
  }

  /// Walks over the whole block. The parameters are already known.
  void body(const CompoundStmt* block) {
    scope_end_ = plan_.end_of(block);
    for (const VarDecl* v : into_.parameters)
      into_.scopes[v] = {unit_.find(block->getLBracLoc()), scope_end_};
    for (const Stmt* one : block->body()) statement(one);
    if (into_.closure != nullptr)
      for (const token_index t : into_.closure->returns)
        if (!into_.statements.contains(t))  // `return;`
          into_.statements[t] = {
              unwind_statement::form::leave, nullptr, nullptr, {t, index_.jumps.at(t).end}};
    // A jump may bypass the declaration of a variable. Then the variable has no value to store.
    for (const VarDecl* v : nested_)
      if (into_.has_labels) into_.in_frame.insert(v);
    // A variable that another one hides cannot be named at the place where it would have to be stored.
    for (const VarDecl* v : into_.variables)
      for (const VarDecl* inner : into_.variables)
        if (inner != v && inner->getName() == v->getName() &&
            into_.scopes.at(v).holds(index_.declared.at(inner)))
          into_.in_frame.insert(v);
  }

 private:
  using form = unwind_statement::form;

  void variable(const VarDecl* v, bool in_nested_block) {
    std::string name = v->getNameAsString();
    for (unsigned k = 2; std::any_of(into_.members.begin(), into_.members.end(),
                                     [&](const auto& one) { return one.second == name; });
         ++k)
      name = "sukima_" + v->getNameAsString() + "_" + std::to_string(k);
    into_.members[v] = name;
    into_.variables.push_back(v);
    const token_index declared = index_.declared.at(v);
    const token_range value = v->hasInit() ? plan_.tokens_of(v->getInit()) : token_range{};
    into_.scopes[v] = {std::max(declared + 1, value.end), scope_end_};
    constexpr CharUnits::QuantityType most_bytes = 64;  // larger variables are not copied
    const QualType type = v->getType();
    if (type->isArrayType() || type.isVolatileQualified() || type->isAtomicType() ||
        plan_.ast_.getTypeSizeInChars(type).getQuantity() > most_bytes)
      into_.in_frame.insert(v);
    if (in_nested_block) nested_.push_back(v);
    if (in_switch_ > 0) into_.in_frame.insert(v);
  }

  void add(form kind, const Stmt* statement, const Expr* value = nullptr) {
    const token_index begin = plan_.unit_.find(statement->getBeginLoc());
    const token_index end = begin == no_token ? no_token : plan_.end_of(statement);
    if (begin == no_token || end == no_token || into_.statements.contains(begin)) {
      failed = true;
      return;
    }
    // No other text of the statement may precede the label.
    token_index before = begin;
    while (before > 0 && unit_.roles[before - 1] != token_role::user &&
           unit_.roles[before - 1] != token_role::pragma)
      --before;
    if (before == 0 || !unit_.tokens[before - 1].isOneOf(tok::semi, tok::l_brace, tok::r_brace, tok::r_paren,
                                                         tok::colon, tok::kw_else, tok::kw_do))
      failed = true;
    into_.statements[begin] = {kind, statement, value, {begin, end}};
  }

  /// Adds the variables of a declaration. \returns whether any of them is one of the block's own
  bool declare(const DeclStmt* declaration) {
    bool any = false;
    for (const Decl* d : declaration->decls()) {
      const auto* v = dyn_cast<VarDecl>(d);
      if (v == nullptr || !v->hasLocalStorage() || index_.closure_variables.contains(v)) continue;
      const auto declared = index_.declared.find(v);
      if (declared == index_.declared.end()) {
        failed = true;
        continue;
      }
      if (into_.closure != nullptr && into_.closure->parameters.holds(declared->second)) {
        parameter(v);
        continue;
      }
      any = true;
      variable(v, depth_ > 0 || into_.has_labels);
    }
    return any;
  }

  void statement(const Stmt* node) {
    if (node == nullptr) return;
    if (const auto* e = dyn_cast<Expr>(node)) return expression_statement(e);
    if (const auto* one = dyn_cast<CompoundStmt>(node)) return block(one);
    if (const auto* one = dyn_cast<DeclStmt>(node)) {
      if (declare(one)) add(form::declaration, one);
      for (const Stmt* child : one->children()) expression(child);
      return;
    }
    if (const auto* one = dyn_cast<ReturnStmt>(node)) {
      add(form::leave, one, one->getRetValue());
      expression(one->getRetValue());
      return;
    }
    if (isa<AsmStmt>(node)) {
      for (const Stmt* child : node->children()) address_of(child);
      return;
    }
    if (!labelled(node) && !conditional(node) && !isa<NullStmt, BreakStmt, ContinueStmt, GotoStmt>(node))
      failed = true;
  }

  void expression_statement(const Expr* e) {
    const token_index begin = unit_.find(e->getBeginLoc());
    if (begin != no_token && is_closure_return(begin)) return leave(e);
    if (plan_.holds_call(e)) add(form::expression, e);
    expression(e);
  }

  void block(const CompoundStmt* s) {
    const token_index begin = unit_.find(s->getBeginLoc());
    if (plan_.blocks_.contains(begin)) {
      for (const closure_declaration& c : unit_.closures)
        if (!c.body.empty() && c.body.begin == begin) closures.emplace_back(&c, s);
      return;
    }
    ++depth_;
    const token_index outer = std::exchange(scope_end_, plan_.end_of(s));
    for (const Stmt* child : s->body()) statement(child);
    scope_end_ = outer;
    --depth_;
  }

  /// Walks over a label, case or attribute with its statement. \returns whether it is such a statement
  bool labelled(const Stmt* s) {
    if (const auto* one = dyn_cast<LabelStmt>(s)) {
      into_.has_labels = true;
      statement(one->getSubStmt());
    } else if (const auto* label = dyn_cast<SwitchCase>(s)) {
      statement(label->getSubStmt());
    } else if (const auto* attributed = dyn_cast<AttributedStmt>(s)) {
      if (plan_.holds_call(attributed)) failed = true;
      statement(attributed->getSubStmt());
    } else {
      return false;
    }
    return true;
  }

  /// Walks over a statement with a condition. \returns whether it is such a statement
  bool conditional(const Stmt* node) {
    if (const auto* one = dyn_cast<IfStmt>(node)) {
      if (plan_.holds_call(one->getCond())) add(form::choice, one);
      expression(one->getCond());
      statement(one->getThen());
      statement(one->getElse());
    } else if (const auto* before = dyn_cast<WhileStmt>(node)) {
      if (plan_.holds_call(before->getCond())) add(form::while_loop, before);
      expression(before->getCond());
      statement(before->getBody());
    } else if (const auto* after = dyn_cast<DoStmt>(node)) {
      if (plan_.holds_call(after->getCond())) add(form::do_loop, after);
      statement(after->getBody());
      expression(after->getCond());
    } else if (const auto* counted = dyn_cast<ForStmt>(node)) {
      loop(counted);
    } else if (const auto* selection = dyn_cast<SwitchStmt>(node)) {
      if (plan_.holds_call(selection->getCond())) add(form::selection, selection);
      expression(selection->getCond());
      ++in_switch_;
      statement(selection->getBody());
      --in_switch_;
    } else {
      return false;
    }
    return true;
  }

  void loop(const ForStmt* node) {
    ++depth_;
    const token_index outer = std::exchange(scope_end_, plan_.end_of(node));
    bool rewritten = plan_.holds_call(node->getInit()) || plan_.holds_call(node->getCond()) ||
                     plan_.holds_call(node->getInc());
    if (const auto* init = dyn_cast_or_null<DeclStmt>(node->getInit())) rewritten |= declare(init);
    if (rewritten) add(form::for_loop, node);
    if (const Stmt* init = node->getInit()) {
      if (isa<DeclStmt>(init))
        for (const Stmt* child : init->children()) expression(child);
      else
        expression(init);
    }
    expression(node->getCond());
    expression(node->getInc());
    statement(node->getBody());
    scope_end_ = outer;
    --depth_;
  }

  bool is_closure_return(token_index t) const {
    return into_.closure != nullptr && std::find(into_.closure->returns.begin(), into_.closure->returns.end(),
                                                 t) != into_.closure->returns.end();
  }

  /// Records a `return`, which the parser saw as sukima_return_N((E)) or (void)(E).
  void leave(const Expr* e) {
    const Expr* value = e->IgnoreParenImpCasts();
    if (const auto* call = dyn_cast<CallExpr>(value))
      value = call->getArg(0);
    else if (const auto* cast = dyn_cast<CStyleCastExpr>(value))
      value = cast->getSubExpr();
    add(form::leave, e, value);
    expression(value);
  }

  /// Records that the variable which contains an lvalue must not move.
  void address_of(const Stmt* s) {
    if (s == nullptr) return;
    if (const auto* e = dyn_cast<DeclRefExpr>(s))
      if (const auto* v = dyn_cast<VarDecl>(e->getDecl()); v != nullptr && into_.members.contains(v))
        into_.in_frame.insert(v);
    if (const auto* e = dyn_cast<MemberExpr>(s); e != nullptr && e->isArrow())
      return expression(e->getBase());
    for (const Stmt* child : s->children()) address_of(child);
  }

  void expression(const Stmt* part) {
    if (part == nullptr) return;
    if (const auto* e = dyn_cast<StmtExpr>(part)) return statement(e->getSubStmt());
    if (const auto* e = dyn_cast<UnaryOperator>(part); e != nullptr && e->getOpcode() == UO_AddrOf)
      address_of(e->getSubExpr());
    if (const auto* e = dyn_cast<ImplicitCastExpr>(part);
        e != nullptr && e->getCastKind() == CK_ArrayToPointerDecay)
      address_of(e->getSubExpr());  // the address of an array in a structure
    if (const auto* e = dyn_cast<CallExpr>(part); e != nullptr && !plan_.unwinds(e)) {
      std::set<const FunctionDecl*> seen;
      if (const token_index close = unit_.find(e->getRParenLoc());
          close != no_token && plan_.may_enter(e, seen))
        into_.plain_calls.emplace(unit_.find(e->getBeginLoc()), unit_.partner[close]);
    }
    if (isa<UnaryExprOrTypeTraitExpr>(part)) return;
    for (const Stmt* child : part->children()) expression(child);
  }

  unwind_plan& plan_;
  const unit& unit_;
  const semantic_index& index_;
  unwound& into_;
  token_index scope_end_ = 0;
  int depth_ = 0;
  int in_switch_ = 0;
  std::vector<const VarDecl*> nested_;
};

/// Returns whether the statement may call code that is not visible here and that may enter an unwound
/// function.
bool unwind_plan::may_enter(const Stmt* statement, std::set<const FunctionDecl*>& seen) const {
  if (statement == nullptr) return false;
  if (const auto* call = dyn_cast<CallExpr>(statement)) {
    const FunctionDecl* callee = call->getDirectCallee();
    if (callee == nullptr) return true;
    const bool is_put_in =
        callee->getIdentifier() != nullptr && callee->getName().starts_with("sukima_return_");
    const FunctionDecl* definition = callee->getDefinition();
    if (chosen_.contains(callee->getCanonicalDecl())) return true;
    if (definition == nullptr && !is_put_in && (callee->getBuiltinID() == 0 || callee->getName() == "exit"))
      return true;
    if (definition != nullptr && seen.insert(definition).second && may_enter(definition->getBody(), seen))
      return true;
  }
  const auto children = statement->children();
  return std::any_of(children.begin(), children.end(),
                     [&](const Stmt* child) { return may_enter(child, seen); });
}

/// Collects the data of a function with its closures. \returns false if a statement cannot be rewritten
bool unwind_plan::collect(const function_info& f) {
  const std::size_t before = all_.size();
  const auto own = [&](const function_info& info, const std::string& name) -> unwound& {
    unwound& one = all_.emplace_back();
    one.function = &info;
    one.closure = info.closure;
    one.name = name;
    one.result = info.result;
    return one;
  };
  bool good = true;
  struct work {
    unwound* into;
    const CompoundStmt* block;
  };
  unwound& function = own(f, f.declaration->getNameAsString());
  for (const ParmVarDecl* p : f.declaration->parameters()) function.parameter_types.push_back(p->getType());
  std::vector<work> open{{&function, cast<CompoundStmt>(f.declaration->getBody())}};
  for (std::size_t k = 0; k < open.size() && good; ++k) {
    unwound& into = *open[k].into;
    unwind_collector collector(*this, into);
    if (into.closure == nullptr)
      for (const ParmVarDecl* p : f.declaration->parameters()) collector.parameter(p);
    collector.body(open[k].block);
    good = !collector.failed && into.parameters.size() == into.parameter_types.size();
    for (const auto& [closure, block] : collector.closures) {
      const function_info* info = index_.info_of(*closure);
      if (info == nullptr) return false;
      // The number comes first, because a function may be named like another function and its closure.
      unwound& inner = own(*info, std::to_string(closure->number) + "_" + into.name + "_" + closure->name);
      inner.creator = &into;
      for (const auto& [variable, c] : index_.closure_variables)
        if (c == closure) {
          const auto* type =
              variable->getType()->castAs<PointerType>()->getPointeeType()->castAs<FunctionProtoType>();
          inner.parameter_types.assign(type->param_type_begin(), type->param_type_end());
        }
      into.closures.push_back(closure);
      open.push_back({&inner, block});
    }
  }
  if (!good)
    while (all_.size() > before) all_.pop_back();
  return good;
}

}  // namespace sukima::language
