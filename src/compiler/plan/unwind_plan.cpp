// SPDX-License-Identifier: Apache-2.0
#include "plan/unwind_plan.hpp"

#include "plan/types.hpp"

namespace sukima::language {

using namespace clang;

namespace {

/// Finds statements that another version of the function cannot resume, because the frame on the C stack no
/// longer exists by then.
class obstacle_finder : public RecursiveASTVisitor<obstacle_finder> {
 public:
  explicit obstacle_finder(ASTContext& ast) : ast_(ast) {}
  bool found = false;

  bool VisitVarDecl(VarDecl* v) {
    constexpr unsigned frame_alignment = 128;  // in bits
    if (!v->hasLocalStorage()) return true;
    found |= has_const_members(v->getType(), ast_);
    found |= v->getType()->isVariablyModifiedType() || v->hasAttr<CleanupAttr>() ||
             v->hasAttr<AlignedAttr>() || v->hasAttr<AsmLabelAttr>() || v->getStorageClass() == SC_Register ||
             (!v->getType()->isIncompleteType() && ast_.getTypeAlign(v->getType()) > frame_alignment);
    return true;
  }
  bool VisitTypedefNameDecl(TypedefNameDecl* type) {
    found |= type->getUnderlyingType()->isVariablyModifiedType();
    return true;
  }
  bool VisitAddrLabelExpr(AddrLabelExpr*) { return stop(); }
  bool VisitGCCAsmStmt(GCCAsmStmt* s) {
    found |= s->isAsmGoto();
    return true;
  }
  bool VisitCallExpr(CallExpr* call) {
    found |= has_const_members(call->getType(), ast_);
    const FunctionDecl* callee = call->getDirectCallee();
    if (callee == nullptr || callee->getIdentifier() == nullptr) return true;
    const StringRef name = callee->getName();
    found |= callee->hasAttr<ReturnsTwiceAttr>() || name.contains("setjmp") || name.contains("alloca") ||
             name == "vfork" || name.starts_with("__builtin_va_");
    return true;
  }
  // A compound literal exists until its block ends, unless only its value is used.
  bool TraverseImplicitCastExpr(ImplicitCastExpr* e) {
    if (e->getCastKind() == CK_LValueToRValue)
      if (auto* literal = dyn_cast<CompoundLiteralExpr>(e->getSubExpr()->IgnoreParens()))
        return TraverseStmt(literal->getInitializer());
    if (e->getCastKind() == CK_ArrayToPointerDecay && !e->getSubExpr()->isLValue()) return stop();
    return RecursiveASTVisitor::TraverseImplicitCastExpr(e);
  }
  bool VisitCompoundLiteralExpr(CompoundLiteralExpr*) { return stop(); }

 private:
  bool stop() {
    found = true;
    return false;
  }
  ASTContext& ast_;
};

}  // namespace

unwind_plan::unwind_plan(ASTContext& ast, const unit& u, const semantic_index& index)
    : ast_(ast), unit_(u), index_(index) {
  choose();
  SUKIMA_ASSERT_VALID(*this);
}

const unwound* unwind_plan::find(const function_info* f) const {
  for (const unwound& one : all_)
    if (one.function == f) return &one;
  return nullptr;
}
const unwound* unwind_plan::find(const closure_declaration* c) const {
  for (const unwound& one : all_)
    if (one.closure != nullptr && (one.closure == c || one.closure == c->definition)) return &one;
  return nullptr;
}
const unwound* unwind_plan::find(const FunctionDecl* f) const {
  for (const unwound& one : all_)
    if (one.closure == nullptr && one.function->declaration->getCanonicalDecl() == f->getCanonicalDecl())
      return &one;
  return nullptr;
}

bool unwind_plan::unwinds(const CallExpr* call) const {
  if (is_closure_type(call->getCallee()->getType())) return true;
  const FunctionDecl* callee = call->getDirectCallee();
  return callee != nullptr && chosen_.contains(callee->getCanonicalDecl());
}

bool unwind_plan::holds_call(const Stmt* s) const {
  if (s == nullptr) return false;
  if (const auto known = holds_.find(s); known != holds_.end()) return known->second;
  bool found = false;
  const auto* call = dyn_cast<CallExpr>(s);
  if (call != nullptr) found = unwinds(call);
  const bool is_closure = isa<CompoundStmt>(s) && blocks_.contains(unit_.find(s->getBeginLoc()));
  const bool is_evaluated = call == nullptr || !call->isUnevaluatedBuiltinCall(ast_);  // __builtin_constant_p
  if (!is_closure && is_evaluated && !isa<UnaryExprOrTypeTraitExpr>(s))
    for (const Stmt* child : s->children()) found = found || holds_call(child);
  holds_[s] = found;
  return found;
}

token_range unwind_plan::tokens_of(const Expr* e) const {
  const token_index begin = unit_.find(e->getBeginLoc());
  const token_index last = unit_.find(e->getEndLoc());
  return begin == no_token || last == no_token ? token_range{} : token_range{begin, last + 1};
}

token_index unwind_plan::end_of(const Stmt* statement) const {
  if (const auto* one = dyn_cast<CompoundStmt>(statement)) return unit_.find(one->getRBracLoc()) + 1;
  if (const auto* one = dyn_cast<IfStmt>(statement))
    return end_of(one->getElse() != nullptr ? one->getElse() : one->getThen());
  if (const auto* one = dyn_cast<WhileStmt>(statement)) return end_of(one->getBody());
  if (const auto* one = dyn_cast<ForStmt>(statement)) return end_of(one->getBody());
  if (const auto* one = dyn_cast<SwitchStmt>(statement)) return end_of(one->getBody());
  if (const auto* one = dyn_cast<LabelStmt>(statement)) return end_of(one->getSubStmt());
  if (const auto* one = dyn_cast<SwitchCase>(statement)) return end_of(one->getSubStmt());
  if (const auto* one = dyn_cast<AttributedStmt>(statement)) return end_of(one->getSubStmt());
  const token_index begin = unit_.find(statement->getBeginLoc());
  if (const auto j = index_.jumps.find(begin); j != index_.jumps.end()) return j->second.end;
  token_index t = isa<DeclStmt>(statement) ? begin : unit_.find(statement->getEndLoc());
  for (; t < unit_.tokens.size(); ++t) {
    if (unit_.tokens[t].is(tok::semi) && unit_.roles[t] == token_role::user) return t + 1;
    if (unit_.partner[t] != no_token && unit_.partner[t] > t) t = unit_.partner[t];
  }
  return no_token;
}

/// Returns whether a pragma belongs to a statement. A loop's pragma must directly precede the loop, but the
/// loop may be taken apart.
bool unwind_plan::has_statement_pragma(const function_info& f) const {
  const token_index first = unit_.origins[f.body.begin];
  const token_index last = unit_.origins[f.body.end - 1];
  return std::ranges::any_of(unit_.source.texts, [&](const side_text& text) {
    return text.is_of_statement && text.before > first && text.before <= last;
  });
}

/// Returns whether the heading defines a structure. A structure must be defined once, and a function that is
/// unwound has several headings.
bool unwind_plan::defines_type_in_heading(const function_info& f) const {
  for (token_index t = f.whole.begin; t < f.body.begin; ++t)
    if (unit_.tokens[t].is(tok::l_brace)) return true;
  return false;
}

/// Returns whether all parts of the function, including its closures, can be unwound.
bool unwind_plan::is_possible(const function_info& f) const {
  const FunctionDecl* function = f.declaration;
  if (f.is_worker || f.execution != nullptr || !f.constructs.empty() || function->isVariadic() ||
      !function->hasPrototype() ||
      (function->isInlineSpecified() && function->getStorageClass() != SC_Static) ||
      function->getReturnType()->isVariablyModifiedType() || f.computed_goto || has_statement_pragma(f) ||
      defines_type_in_heading(f) || has_const_members(function->getReturnType(), ast_))
    return false;
  const auto* written = function->getTypeSourceInfo();
  if (written == nullptr) return false;
  for (const ParmVarDecl* p : function->parameters())
    if (p->getIdentifier() == nullptr) return false;
  for (const auto& [open, call] : index_.calls)
    if (f.body.holds(open)) return false;
  for (const auto& [open, call] : index_.closure_calls)
    if (f.body.holds(open) && (call.is_worker || call.call->getCallee()
                                                     ->getType()
                                                     ->castAs<PointerType>()
                                                     ->getPointeeType()
                                                     ->castAs<FunctionProtoType>()
                                                     ->isVariadic()))
      return false;
  for (const function_info& closure : index_.closures)
    if (f.body.holds(closure.body) && (closure.is_worker || !closure.constructs.empty() ||
                                       closure.computed_goto || has_const_members(closure.result, ast_)))
      return false;
  for (const auto& [variable, c] : index_.closure_variables)
    if (f.body.holds(c->whole) && variable->getType()
                                      ->castAs<PointerType>()
                                      ->getPointeeType()
                                      ->castAs<FunctionProtoType>()
                                      ->isVariadic())
      return false;
  obstacle_finder obstacles(ast_);
  obstacles.TraverseStmt(function->getBody());
  for (ParmVarDecl* p : const_cast<FunctionDecl*>(function)->parameters()) obstacles.VisitVarDecl(p);
  return !obstacles.found;
}

namespace {

/// Finds expressions with a call in them that cannot be split into statements, and statements that begin
/// inside another one.
class shape_checker {
 public:
  explicit shape_checker(const unwind_plan& plan) : plan_(plan) {}

  bool is_bad(const Stmt* s) const {
    if (s == nullptr || isa<UnaryExprOrTypeTraitExpr>(s)) return false;
    if (const auto* either = dyn_cast<BinaryConditionalOperator>(s))
      return plan_.holds_call(either->getFalseExpr()) || is_bad(either->getCommon());
    if (isa<StmtExpr, GenericSelectionExpr, ChooseExpr, AtomicExpr>(s)) return plan_.holds_call(s);
    // Some tokens of this expression are not the user's own.
    if (const auto* e = dyn_cast<Expr>(s); e != nullptr && plan_.holds_call(e) && plan_.tokens_of(e).empty())
      return true;
    for (const Stmt* child : s->children())
      if (is_bad(child)) return true;
    return false;
  }

 private:
  const unwind_plan& plan_;
};

}  // namespace

/// Chooses the functions that contain such calls, and their callers, as long as all of them can be unwound.
void unwind_plan::choose() {
  std::set<const function_info*> possible;
  for (const function_info& f : index_.closures) blocks_.insert(f.body.begin);
  for (const function_info& f : index_.functions)
    if (is_possible(f)) possible.insert(&f);
  for (bool again = true; again;) {
    again = false;
    chosen_.clear();
    for (bool more = true; more;) {
      more = false;
      holds_.clear();
      for (const function_info* f : possible)
        if (!chosen_.contains(f->declaration->getCanonicalDecl()) && holds_call(f->declaration->getBody()))
          more |= chosen_.insert(f->declaration->getCanonicalDecl()).second;
    }
    holds_.clear();
    all_.clear();
    const shape_checker shapes(*this);
    for (const function_info& f : index_.functions) {
      if (!possible.contains(&f) || !chosen_.contains(f.declaration->getCanonicalDecl())) continue;
      if (shapes.is_bad(f.declaration->getBody()) || !collect(f)) again |= possible.erase(&f) > 0;
    }
  }
}

}  // namespace sukima::language
