// SPDX-License-Identifier: Apache-2.0
#include "index/semantic_index.hpp"

#include <clang/AST/ParentMapContext.h>

namespace sukima::language {

using namespace clang;

namespace {

/// The calling convention that stands for what a function is; CC_C of what is no function.
CallingConv convention_of(QualType type) {
  if (type.isNull()) return CC_C;
  if (const auto* pointer = type->getAs<PointerType>()) type = pointer->getPointeeType();
  const auto* function = type->getAs<FunctionType>();
  return function == nullptr ? CC_C : function->getCallConv();
}

}  // namespace

bool is_worker_type(QualType type) {
  const CallingConv convention = convention_of(type);
  return convention == CC_PreserveMost || convention == CC_PreserveNone;
}

bool is_closure_type(QualType type) {
  const CallingConv convention = convention_of(type);
  return convention == CC_PreserveAll || convention == CC_PreserveNone;
}

const function_info* semantic_index::info_of(const closure_declaration& c) const {
  for (const function_info& f : closures)
    if (f.closure == &c) return &f;
  return nullptr;
}

const function_info* semantic_index::function_at(token_index t) const {
  for (auto f = closures.rbegin(); f != closures.rend(); ++f)
    if (f->body.holds(t)) return &*f;
  for (const function_info& f : functions)
    if (f.body.holds(t)) return &f;
  return nullptr;
}

namespace {

class collector : public RecursiveASTVisitor<collector> {
 public:
  collector(ASTContext& context, unit& from, semantic_index& result)
      : context_(context), sources_(context.getSourceManager()), unit_(from), result_(result) {}

  bool TraverseFunctionDecl(FunctionDecl* function) {
    if (!function->doesThisDeclarationHaveABody() || in_system(function->getLocation()))
      return RecursiveASTVisitor::TraverseFunctionDecl(function);
    function_info& f = result_.functions.emplace_back();
    f.declaration = function;
    f.is_worker = is_worker_type(function->getType());
    f.result = function->getReturnType();
    f.execution = nullptr;
    f.body = {unit_.find(function->getBody()->getBeginLoc()),
              unit_.find(function->getBody()->getEndLoc()) + 1};
    for (const task_execution& execution : unit_.executions)
      if (execution.block.begin == f.body.begin) {
        f.execution = &execution;
        f.is_worker = true;
      }
    for (construct& c : unit_.constructs)
      if (f.body.holds(c.whole)) f.constructs.push_back(&c);
    for (const closure_declaration& c : unit_.closures) f.has_closures |= f.body.holds(c.whole);
    function_ = &f;
    const bool more = RecursiveASTVisitor::TraverseFunctionDecl(function);
    function_ = nullptr;
    return more;
  }

  bool VisitFunctionDecl(FunctionDecl* function) {
    if (in_system(function->getLocation())) return true;
    name(function->getLocation(), function);
    if (is_closure_type(function->getType())) result_.declared_by_typedef.push_back(function);
    if (is_worker_type(function->getType()) && function->isFirstDecl()) result_.workers.push_back(function);
    return true;
  }

  bool VisitVarDecl(VarDecl* variable) {
    const token_index t = unit_.find(variable->getLocation());
    if (t == no_token) return true;
    result_.declared[variable] = t;
    if (!isa<ParmVarDecl>(variable))
      for (const closure_declaration& c : unit_.closures)
        if (c.name_token == t) result_.closure_variables[variable] = &c;
    if (unit_.tokens[t].is(tok::identifier) && unit_.roles[t] != token_role::printed_only)
      result_.names[t] = variable;
    if (variable->isFileVarDecl())
      for (const token_range& r : unit_.worker_locals)
        if (r.holds(t)) result_.worker_locals.insert(variable->getCanonicalDecl());
    // The initial value is not a change: nothing can look before it.
    return true;
  }

  bool VisitFieldDecl(FieldDecl* field) {
    const token_index t = unit_.find(field->getLocation());
    if (t != no_token) result_.fields[t] = field;
    return true;
  }
  bool VisitTypedefDecl(TypedefDecl* type) { return name(type->getLocation(), type); }
  bool VisitTagDecl(TagDecl* type) {
    if (function_ != nullptr && type->isThisDeclarationADefinition()) {
      local_type t{type,
                   {unit_.find(type->getBeginLoc()), unit_.find(type->getBraceRange().getEnd())},
                   unit_.find(type->getBraceRange().getBegin())};
      if (t.tokens.begin != no_token && t.tokens.end != no_token && t.brace != no_token) {
        ++t.tokens.end;
        while (unit_.tokens[t.tokens.end].is(tok::kw___attribute))
          t.tokens.end = unit_.partner[t.tokens.end + 1] + 1;
        function_->types.push_back(t);
      }
    }
    return name(type->getLocation(), type);
  }
  bool VisitDeclStmt(DeclStmt* statement) {
    const token_index begin = unit_.find(statement->getBeginLoc());
    const token_index end = unit_.find(statement->getEndLoc());
    if (function_ == nullptr || begin == no_token || end == no_token) return true;
    local_declaration d{{begin, end + 1}, {}};
    for (const Decl* one : statement->decls())
      if (const auto* named = dyn_cast<NamedDecl>(one)) d.declared.push_back(named);
    function_->declarations.push_back(std::move(d));
    return true;
  }
  bool VisitEnumConstantDecl(EnumConstantDecl* constant) { return name(constant->getLocation(), constant); }

  bool VisitTagTypeLoc(TagTypeLoc type) { return name(type.getNameLoc(), type.getDecl()); }
  bool VisitTypedefTypeLoc(TypedefTypeLoc type) {
    const token_index t = unit_.find(type.getNameLoc());
    if (t != no_token) result_.type_names.insert(t);
    return name(type.getNameLoc(), type.getTypedefNameDecl());
  }

  bool VisitAttributedTypeLoc(AttributedTypeLoc type) {
    const attr::Kind kind = type.getTypePtr()->getAttrKind();
    if (kind != attr::PreserveMost && kind != attr::PreserveNone) return true;
    if (const Attr* attribute = type.getAttr())
      used_keywords.insert(attribute->getLocation().getRawEncoding());
    TypeLoc inner = type.getModifiedLoc();
    while (!inner.isNull()) {
      if (const auto function = inner.getAs<FunctionTypeLoc>()) {
        declarator(function);
        break;
      }
      inner = inner.getNextTypeLoc();
    }
    return true;
  }

  bool VisitDeclRefExpr(DeclRefExpr* reference) {
    const token_index t = unit_.find(reference->getLocation());
    if (t == no_token) return true;
    result_.names[t] = reference->getDecl();
    return true;
  }

  bool VisitPredefinedExpr(PredefinedExpr* e) {
    const token_index t = unit_.find(e->getLocation());
    if (t != no_token) result_.function_names.insert(t);
    return true;
  }

  bool VisitCallExpr(CallExpr* call) {
    const token_index closing = unit_.find(call->getRParenLoc());
    if (closing == no_token || unit_.partner[closing] == no_token) return true;
    result_.all_calls[unit_.partner[closing]] = call;
    if (is_closure_type(call->getCallee()->getType())) return call_of_closure(call, unit_.partner[closing]);
    if (!is_worker_type(call->getCallee()->getType())) return true;
    worker_call w{};
    w.call = call;
    w.first = unit_.find(call->getBeginLoc());
    w.in_worker = function_ != nullptr && function_->is_worker;
    w.has_arguments = call->getNumArgs() > 0;
    if (const auto* reference = dyn_cast<DeclRefExpr>(call->getCallee()->IgnoreParenImpCasts()))
      w.callee = dyn_cast<FunctionDecl>(reference->getDecl());
    if (w.callee != nullptr && !w.in_worker) result_.entered.insert(w.callee->getCanonicalDecl());
    result_.calls[unit_.partner[closing]] = w;
    return true;
  }

  /// (plain type)f: the C entry, which is what plain C can call.
  bool VisitCStyleCastExpr(CStyleCastExpr* cast) {
    if (is_closure_type(cast->getSubExpr()->getType()) && cast->getType()->isFunctionPointerType() &&
        !is_closure_type(cast->getType()))
      result_.casts_of_closures.push_back(cast->getBeginLoc());
    const auto* reference = dyn_cast<DeclRefExpr>(cast->getSubExpr()->IgnoreParenImpCasts());
    if (reference == nullptr) return true;
    const auto* callee = dyn_cast<FunctionDecl>(reference->getDecl());
    if (callee == nullptr || !is_worker_type(callee->getType()) || is_worker_type(cast->getType()))
      return true;
    const token_index t = unit_.find(reference->getLocation());
    if (t == no_token) return true;
    result_.plain_entries.insert(t);
    result_.entered.insert(callee->getCanonicalDecl());
    return true;
  }

  bool VisitUnaryOperator(UnaryOperator* e) {
    if (e->getOpcode() == UO_AddrOf) {
      const auto* reference = dyn_cast<DeclRefExpr>(e->getSubExpr()->IgnoreParens());
      const auto* variable = reference == nullptr ? nullptr : dyn_cast<VarDecl>(reference->getDecl());
      if (variable != nullptr && result_.closure_variables.contains(variable))
        result_.dropped.insert(unit_.find(e->getOperatorLoc()));
      else
        take_address(e->getSubExpr());
    }
    if (e->isIncrementDecrementOp()) change(e->getSubExpr());
    return true;
  }
  bool VisitBinaryOperator(BinaryOperator* e) {
    if (!e->isAssignmentOp()) return true;
    change(e->getLHS());
    result_.assignments[unit_.find(e->getOperatorLoc())] = e;
    return true;
  }
  bool VisitAsmStmt(AsmStmt* e) {
    for (Stmt* child : e->children())
      if (auto* operand = dyn_cast_or_null<Expr>(child)) change(operand);
    return true;
  }

  bool VisitAddrLabelExpr(AddrLabelExpr* e) {
    const token_index label = unit_.find(e->getLabelLoc());
    for (const closure_declaration& c : unit_.closures)
      for (const closure_jump& j : c.jumps)
        if (j.label == label) result_.closure_jumps[j.keyword] = e->getLabel();
    return true;
  }

  /// The block of a closure, which stands in the function around it.
  bool TraverseCompoundStmt(CompoundStmt* s) {
    const token_index t = unit_.find(s->getLBracLoc());
    const closure_declaration* closure = nullptr;
    for (const closure_declaration& c : unit_.closures)
      if (!c.body.empty() && c.body.begin == t) closure = &c;
    if (closure == nullptr || function_ == nullptr) return RecursiveASTVisitor::TraverseCompoundStmt(s);
    function_info& f = result_.closures.emplace_back();
    f.declaration = function_->declaration;
    f.closure = closure;
    f.outer = function_;
    f.is_worker = closure->is_worker;
    f.execution = nullptr;
    f.body = closure->body;
    f.whole = closure->whole;
    for (construct& c : unit_.constructs)
      if (f.body.holds(c.whole)) f.constructs.push_back(&c);
    for (const closure_declaration& c : unit_.closures) f.has_closures |= f.body.holds(c.whole);
    function_info* const outer = function_;
    std::vector<token_index> breaks;
    std::vector<token_index> loops;
    std::vector<token_index> switches;
    breaks.swap(breaks_);
    loops.swap(loops_);
    switches.swap(switches_);
    function_ = &f;
    for (const token_index keyword : closure->returns)
      leave(jump_kind::leave_function, unit_.tokens[keyword].getLocation(), no_token, nullptr);
    const bool more = RecursiveASTVisitor::TraverseCompoundStmt(s);
    function_ = outer;
    breaks.swap(breaks_);
    loops.swap(loops_);
    switches.swap(switches_);
    return more;
  }

  bool VisitReturnStmt(ReturnStmt* s) {
    return leave(jump_kind::leave_function, s->getReturnLoc(), no_token, nullptr);
  }
  bool VisitGotoStmt(GotoStmt* s) {
    name(s->getLabelLoc(), s->getLabel());
    return leave(jump_kind::go_to, s->getGotoLoc(), unit_.find(s->getLabel()->getLocation()), s->getLabel());
  }
  bool VisitIndirectGotoStmt(IndirectGotoStmt*) {
    if (function_ != nullptr) function_->computed_goto = true;
    return true;
  }
  bool VisitBreakStmt(BreakStmt* s) {
    return leave(jump_kind::leave_block, s->getBreakLoc(), breaks_.empty() ? no_token : breaks_.back(),
                 nullptr);
  }
  bool VisitContinueStmt(ContinueStmt* s) {
    return leave(jump_kind::next_iteration, s->getContinueLoc(), loops_.empty() ? no_token : loops_.back(),
                 nullptr);
  }
  bool VisitLabelStmt(LabelStmt* s) {
    if (function_ != nullptr) function_->labels[s->getDecl()] = unit_.find(s->getIdentLoc());
    result_.all_labels[s->getDecl()] = unit_.find(s->getIdentLoc());
    return name(s->getIdentLoc(), s->getDecl());
  }
  bool VisitSwitchCase(SwitchCase* s) {
    if (function_ != nullptr && !switches_.empty()) function_->switches.emplace_back(s, switches_.back());
    return true;
  }

  bool TraverseForStmt(ForStmt* s) {
    return inside(s->getForLoc(), true, [&] { return RecursiveASTVisitor::TraverseForStmt(s); });
  }
  bool TraverseWhileStmt(WhileStmt* s) {
    return inside(s->getWhileLoc(), true, [&] { return RecursiveASTVisitor::TraverseWhileStmt(s); });
  }
  bool TraverseDoStmt(DoStmt* s) {
    return inside(s->getDoLoc(), true, [&] { return RecursiveASTVisitor::TraverseDoStmt(s); });
  }
  bool TraverseSwitchStmt(SwitchStmt* s) {
    switches_.push_back(unit_.find(s->getSwitchLoc()));
    const bool more =
        inside(s->getSwitchLoc(), false, [&] { return RecursiveASTVisitor::TraverseSwitchStmt(s); });
    switches_.pop_back();
    return more;
  }

  std::set<unsigned> used_keywords;  ///< raw places of `worker` that gave a function type its meaning

 private:
  bool in_system(SourceLocation location) const {
    const token_index t = unit_.find(location);
    return t != no_token && unit_.roles[t] == token_role::system;
  }

  bool name(SourceLocation location, const NamedDecl* declaration) {
    const token_index t = unit_.find(location);
    if (t != no_token && unit_.tokens[t].is(tok::identifier)) result_.names[t] = declaration;
    return true;
  }

  bool call_of_closure(const CallExpr* call, token_index open) {
    closure_call w{};
    w.call = call;
    w.open = open;
    w.first = unit_.find(call->getBeginLoc());
    w.is_worker = is_worker_type(call->getCallee()->getType());
    w.in_worker = function_ != nullptr && function_->is_worker;
    w.has_arguments = call->getNumArgs() > 0;
    // Written f(…) only: parentheses and stars are a pointer's.
    if (const auto* reference = dyn_cast<DeclRefExpr>(call->getCallee()->IgnoreImpCasts()))
      if (const auto* variable = dyn_cast<VarDecl>(reference->getDecl());
          variable != nullptr && result_.closure_variables.contains(variable))
        w.callee = variable;
    result_.closure_calls[open] = w;
    return true;
  }

  void declarator(FunctionTypeLoc function) {
    const token_index open = unit_.find(function.getLParenLoc());
    if (open == no_token) return;
    worker_declarator d{};
    const auto proto = function.getAs<FunctionProtoTypeLoc>();
    d.empty = !proto.isNull() && proto.getNumParams() == 0 && !proto.getTypePtr()->isVariadic();
    d.void_token = no_token;
    d.has_prototype = !proto.isNull();
    for (token_index t = open + 1; d.empty && t < unit_.tokens.size() && t < unit_.partner[open]; ++t)
      if (unit_.tokens[t].is(tok::kw_void)) d.void_token = t;
    result_.declarators[open] = d;
  }

  /// The variable whose storage an lvalue is part of.
  static const VarDecl* variable_of(const Expr* e) {
    for (;;) {
      e = e->IgnoreParenCasts();
      if (const auto* member = dyn_cast<MemberExpr>(e)) {
        if (member->isArrow()) return nullptr;
        e = member->getBase();
      } else if (const auto* element = dyn_cast<ArraySubscriptExpr>(e)) {
        const Expr* base = element->getBase()->IgnoreParenCasts();
        if (!base->getType()->isArrayType()) return nullptr;
        e = base;
      } else if (const auto* unary = dyn_cast<UnaryOperator>(e);
                 unary != nullptr && (unary->getOpcode() == UO_Extension || unary->getOpcode() == UO_Real ||
                                      unary->getOpcode() == UO_Imag)) {
        e = unary->getSubExpr();
      } else {
        const auto* reference = dyn_cast<DeclRefExpr>(e);
        return reference == nullptr ? nullptr : dyn_cast<VarDecl>(reference->getDecl());
      }
    }
  }
  void take_address(const Expr* e) {
    for (function_info* f = function_; f != nullptr; f = f->outer)
      if (const VarDecl* v = variable_of(e)) f->address_taken.insert(v);
  }
  void change(const Expr* e) {
    const VarDecl* v = function_ == nullptr ? nullptr : variable_of(e);
    if (v == nullptr) return;
    function_->changes.emplace(v, unit_.find(e->getExprLoc()));
    // To the functions around it: a closure may run at any time.
    for (function_info* f = function_->outer; f != nullptr; f = f->outer) f->changes.emplace(v, no_token);
  }

  bool leave(jump_kind kind, SourceLocation location, token_index target, const LabelDecl* label) {
    const token_index t = unit_.find(location);
    if (t == no_token || function_ == nullptr) return true;
    jump j{kind, t, t + 1, target, nullptr, label};
    for (token_index k = t + 1; k < unit_.tokens.size(); ++k) {
      if (unit_.tokens[k].is(tok::semi)) {
        j.end = k + 1;
        break;
      }
      if (unit_.partner[k] != no_token && unit_.partner[k] > k) k = unit_.partner[k];
    }
    if (kind == jump_kind::leave_block || kind == jump_kind::next_iteration)
      for (const construct* c : function_->constructs)
        if (c->kind == construct_kind::loop && c->whole.begin == target) j.own_loop = c;
    result_.jumps[t] = j;
    return true;
  }

  template <class F> bool inside(SourceLocation location, bool loop, F traverse) {
    const token_index t = unit_.find(location);
    breaks_.push_back(t);
    if (loop) loops_.push_back(t);
    const bool more = traverse();
    breaks_.pop_back();
    if (loop) loops_.pop_back();
    return more;
  }

  ASTContext& context_;
  SourceManager& sources_;
  unit& unit_;
  semantic_index& result_;
  function_info* function_ = nullptr;
  std::vector<token_index> breaks_;
  std::vector<token_index> loops_;
  std::vector<token_index> switches_;
};

/// Each function's external declaration begins behind the end of the one before it.
void find_declarations(const unit& from, semantic_index& result) {
  token_index begin = 0;
  token_index t = 0;
  for (function_info& f : result.functions) {
    for (; t < f.body.begin; ++t) {
      if (from.roles[t] == token_role::keyword) continue;
      if (from.tokens[t].isAnnotation() || from.tokens[t].is(tok::semi)) begin = t + 1;
      if (from.partner[t] != no_token && from.partner[t] > t) t = from.partner[t];
    }
    f.whole = {f.execution != nullptr ? f.execution->whole.begin : begin, f.body.end};
    begin = t = f.body.end;
  }
}

}  // namespace

semantic_index build_semantic_index(ASTContext& context, unit& from) {
  semantic_index result;
  collector walk(context, from, result);
  // Clang gives `main` the calling convention of C, whatever is written.
  for (Decl* one : context.getTranslationUnitDecl()->decls())
    if (auto* function = dyn_cast<FunctionDecl>(one); function != nullptr && function->isMain())
      if (const TypeSourceInfo* written = function->getTypeSourceInfo();
          written != nullptr && is_worker_type(written->getType()))
        function->setType(written->getType());
  walk.TraverseDecl(context.getTranslationUnitDecl());
  std::sort(result.functions.begin(), result.functions.end(),
            [](const function_info& a, const function_info& b) { return a.body.begin < b.body.begin; });
  find_declarations(from, result);
  for (function_info& f : result.closures)
    for (const auto& [variable, c] : result.closure_variables)
      if (c == f.closure)
        f.result = variable->getType()
                       ->castAs<PointerType>()
                       ->getPointeeType()
                       ->castAs<FunctionType>()
                       ->getReturnType();
  DiagnosticsEngine& diagnostics = context.getDiagnostics();
  for (const token_index t : from.worker_keywords) {
    const SourceLocation location = from.tokens[t].getLocation();
    if (!walk.used_keywords.contains(location.getRawEncoding()))
      diagnostics.Report(location, diagnostics.getCustomDiagID(DiagnosticsEngine::Error, "%0"))
          << "'worker' belongs to a function or to a pointer to one; this declares neither";
  }
  return result;
}

}  // namespace sukima::language
