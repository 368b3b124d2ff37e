// SPDX-License-Identifier: Apache-2.0
// Builds the semantic index: walks Clang's syntax tree once, and passes each node to the functions of its
// subject (recording.hpp).
#include "index/recording.hpp"
#include "source/report.hpp"

namespace sukima::language {
namespace {

using namespace clang;

/// Long: RecursiveASTVisitor needs a method for each kind of node; each is a call.
class index_visitor : public RecursiveASTVisitor<index_visitor> {
 public:
  explicit index_visitor(const recording& to) : to_(to) {
    for (const closure_declaration& c : to.of.closures)
      if (!c.body.empty()) blocks_of_closures_.emplace(c.body.begin, &c);
  }

  // Declarations
  bool TraverseFunctionDecl(FunctionDecl* function) {
    if (!function->doesThisDeclarationHaveABody() || to_.in_system(function->getLocation()))
      return RecursiveASTVisitor::TraverseFunctionDecl(function);
    SUKIMA_ASSERT(function_ == nullptr, "C functions do not nest");
    function_ = &record_function(to_, function);
    const bool more = RecursiveASTVisitor::TraverseFunctionDecl(function);
    function_ = nullptr;
    return more;
  }
  bool VisitFunctionDecl(FunctionDecl* function) {
    if (to_.in_system(function->getLocation())) return true;
    to_.name(function->getLocation(), function);
    if (is_closure_type(function->getType())) to_.index.declared_by_typedef.push_back(function);
    if (is_worker_type(function->getType()) && function->isFirstDecl()) to_.index.workers.push_back(function);
    if (function->isNoReturn()) find_lost_keyword(function);
    return true;
  }
  bool VisitVarDecl(VarDecl* variable) { return record_variable(to_, variable), true; }
  bool VisitFieldDecl(FieldDecl* field) {
    const token_index t = to_.of.find(field->getLocation());
    if (t != no_token) to_.index.fields[t] = field;
    return true;
  }
  bool VisitTypedefDecl(TypedefDecl* type) { return to_.name(type->getLocation(), type), true; }
  bool VisitTagDecl(TagDecl* type) { return record_type(to_, type, function_), true; }
  bool VisitEnumConstantDecl(EnumConstantDecl* c) { return to_.name(c->getLocation(), c), true; }
  bool VisitDeclStmt(DeclStmt* statement) {
    return record_local_declaration(to_, statement, function_), true;
  }

  // Names of types, and the types that `worker` marks
  bool VisitTagTypeLoc(TagTypeLoc type) { return record_named_type(to_, type, function_), true; }
  bool VisitTypedefTypeLoc(TypedefTypeLoc type) {
    return to_.name(type.getNameLoc(), type.getTypedefNameDecl()), true;
  }
  bool VisitAttributedTypeLoc(AttributedTypeLoc type) {
    const attr::Kind kind = type.getTypePtr()->getAttrKind();
    if (kind != attr::PreserveMost && kind != attr::PreserveNone) return true;
    if (const Attr* attribute = type.getAttr())
      used_keywords.insert(attribute->getLocation().getRawEncoding());
    return record_declarator(to_, type.getModifiedLoc()), true;
  }

  // Expressions
  bool VisitDeclRefExpr(DeclRefExpr* reference) {
    const token_index t = to_.of.find(reference->getLocation());
    if (t != no_token) to_.index.names[t] = reference->getDecl();
    return true;
  }
  bool VisitPredefinedExpr(PredefinedExpr* e) {
    const token_index t = to_.of.find(e->getLocation());
    if (t != no_token) to_.index.function_names.insert(t);
    return true;
  }
  bool VisitSourceLocExpr(SourceLocExpr* e) {
    const token_index t = to_.of.find(e->getBeginLoc());
    if (t != no_token && e->getIdentKind() == SourceLocIdentKind::Function)
      to_.index.function_names.insert(t);
    return true;
  }
  bool VisitCallExpr(CallExpr* call) { return record_call(to_, call, function_), true; }
  bool VisitGenericSelectionExpr(GenericSelectionExpr* e) { return record_generic(to_, e), true; }
  bool VisitCStyleCastExpr(CStyleCastExpr* cast) { return record_cast(to_, cast), true; }
  bool VisitUnaryOperator(UnaryOperator* e) {
    if (e->getOpcode() == UO_AddrOf) record_address_operator(to_, e, function_);
    if (e->isIncrementDecrementOp()) record_change(to_, e->getSubExpr(), function_);
    return true;
  }
  bool VisitBinaryOperator(BinaryOperator* e) {
    if (!e->isAssignmentOp()) return true;
    record_change(to_, e->getLHS(), function_);
    to_.index.assignments[to_.of.find(e->getOperatorLoc())] = e;
    return true;
  }
  bool VisitAsmStmt(AsmStmt* e) {
    for (Stmt* child : e->children())
      if (auto* operand = dyn_cast_or_null<Expr>(child)) record_change(to_, operand, function_);
    if (auto* jumping = dyn_cast<GCCAsmStmt>(e); jumping != nullptr && function_ != nullptr)
      for (const AddrLabelExpr* label : jumping->labels())
        function_->asm_jumps.emplace_back(to_.of.find(label->getLabelLoc()), label->getLabel());
    return true;
  }

  // Statements
  bool TraverseCompoundStmt(CompoundStmt* s) {
    const closure_declaration* closure = closure_of(s);
    return closure == nullptr ? RecursiveASTVisitor::TraverseCompoundStmt(s) : closure_block(s, *closure);
  }
  bool VisitReturnStmt(ReturnStmt* s) {
    return jump_to(jump_kind::leave_function, s->getReturnLoc(), no_token);
  }
  bool VisitGotoStmt(GotoStmt* s) {
    to_.name(s->getLabelLoc(), s->getLabel());
    return jump_to(jump_kind::go_to, s->getGotoLoc(), to_.of.find(s->getLabel()->getLocation()),
                   s->getLabel());
  }
  bool VisitIndirectGotoStmt(IndirectGotoStmt*) {
    if (function_ != nullptr) function_->computed_goto = true;
    return true;
  }
  bool VisitBreakStmt(BreakStmt* s) {
    return jump_to(jump_kind::leave_block, s->getBreakLoc(), last(around_.breakable));
  }
  bool VisitContinueStmt(ContinueStmt* s) {
    return jump_to(jump_kind::next_iteration, s->getContinueLoc(), last(around_.loops));
  }
  bool VisitLabelStmt(LabelStmt* s) { return record_label(to_, s, function_), true; }
  bool VisitAddrLabelExpr(AddrLabelExpr* e) { return record_label_address(to_, e), true; }
  bool VisitSwitchCase(SwitchCase* s) {
    if (function_ == nullptr) return true;
    if (around_.switches.empty())
      function_->stray_labels.push_back(s);
    else
      function_->switches.emplace_back(s, around_.switches.back());
    return true;
  }
  bool TraverseForStmt(ForStmt* s) {
    return inside(s->getForLoc(), around_.loops, [&] { return RecursiveASTVisitor::TraverseForStmt(s); });
  }
  bool TraverseWhileStmt(WhileStmt* s) {
    return inside(s->getWhileLoc(), around_.loops, [&] { return RecursiveASTVisitor::TraverseWhileStmt(s); });
  }
  bool TraverseDoStmt(DoStmt* s) {
    return inside(s->getDoLoc(), around_.loops, [&] { return RecursiveASTVisitor::TraverseDoStmt(s); });
  }
  bool TraverseSwitchStmt(SwitchStmt* s) {
    return inside(s->getSwitchLoc(), around_.switches,
                  [&] { return RecursiveASTVisitor::TraverseSwitchStmt(s); });
  }

  /// Raw locations of each `worker` that has marked a function type.
  std::set<unsigned> used_keywords;

 private:
  /// Finds the `worker` of a function. Clang forgets the position of an attribute of a function's type if
  /// `noreturn` follows it.
  void find_lost_keyword(const FunctionDecl* function) {
    const token_index name = to_.of.find(function->getLocation());
    const token_index begin = to_.of.find(function->getBeginLoc());
    const TypeSourceInfo* const written = function->getTypeSourceInfo();
    if (name == no_token || begin == no_token || written == nullptr) return;
    for (const token_index t : to_.of.worker_keywords)
      if (begin <= t && t < name &&
          used_keywords.insert(to_.of.tokens[t].getLocation().getRawEncoding()).second)
        record_declarator(to_, written->getTypeLoc());
  }

  static token_index last(const std::vector<token_index>& keywords) {
    return keywords.empty() ? no_token : keywords.back();
  }

  bool jump_to(jump_kind kind, SourceLocation keyword, token_index target, const LabelDecl* label = nullptr) {
    record_jump(to_, kind, keyword, target, label, function_);
    return true;
  }

  /// Walks a loop or switch, which `break` can leave.
  template <class F> bool inside(SourceLocation keyword, std::vector<token_index>& kind, F traverse) {
    const token_index t = to_.of.find(keyword);
    around_.breakable.push_back(t);
    kind.push_back(t);
    [[maybe_unused]] const std::size_t depth = around_.breakable.size();
    const bool more = traverse();
    SUKIMA_ASSERT(around_.breakable.size() == depth && kind.back() == t, "loops and switches nest");
    kind.pop_back();
    around_.breakable.pop_back();
    return more;
  }

  /// Returns the closure that owns a block in a function, or null.
  const closure_declaration* closure_of(const CompoundStmt* s) const {
    if (function_ == nullptr) return nullptr;
    const auto found = blocks_of_closures_.find(to_.of.find(s->getLBracLoc()));
    return found == blocks_of_closures_.end() ? nullptr : found->second;
  }

  /// Walks a closure's block. It is inside the surrounding function in the tree, but is a function of its
  /// own.
  bool closure_block(CompoundStmt* s, const closure_declaration& closure) {
    function_info* const outer = function_;
    enclosing_statements around_outside;
    std::swap(around_, around_outside);
    function_info*& own = recorded_[&closure];  // Clang's tree has the values of some initializers twice
    if (own == nullptr) own = &record_closure(to_, closure, *outer);
    function_ = own;
    function_->block = s;
    for (const token_index keyword : closure.returns)
      jump_to(jump_kind::leave_function, to_.of.tokens[keyword].getLocation(), no_token);
    const bool more = RecursiveASTVisitor::TraverseCompoundStmt(s);
    SUKIMA_ASSERT(around_.breakable.empty(), "the loops and switches of a closure are in its block");
    function_ = outer;
    std::swap(around_, around_outside);
    return more;
  }

  recording to_;
  std::unordered_map<token_index, const closure_declaration*> blocks_of_closures_;  ///< by their braces
  std::unordered_map<const closure_declaration*, function_info*> recorded_;
  function_info* function_ = nullptr;
  enclosing_statements around_;
};

/// Restores the type of `main`. Clang gives `main` the calling convention of C, regardless of its
/// declaration.
void restore_type_of_main(ASTContext& ast) {
  for (Decl* one : ast.getTranslationUnitDecl()->decls())
    if (auto* function = dyn_cast<FunctionDecl>(one); function != nullptr && function->isMain())
      if (const TypeSourceInfo* written = function->getTypeSourceInfo();
          written != nullptr && is_worker_type(written->getType()))
        function->setType(written->getType());
}

/// Finds the external declarations. That of a function begins after the end of the previous one.
void find_external_declarations(const unit& u, semantic_index& index) {
  token_index begin = 0;
  token_index t = 0;
  for (function_info& f : index.functions) {
    // In a K&R definition, semicolons follow the name.
    const token_index name = f.execution != nullptr ? no_token : u.find(f.declaration->getLocation());
    for (; t < std::min(name, f.body.begin); ++t) {
      if (u.roles[t] == token_role::keyword) continue;
      const bool is_between =
          u.roles[t] == token_role::system || u.roles[t] == token_role::pragma || u.tokens[t].is(tok::semi);
      if (u.partner[t] != no_token && u.partner[t] > t) t = u.partner[t];
      if (is_between) begin = t + 1;
    }
    f.whole = {f.execution != nullptr ? f.execution->whole.begin : begin, f.body.end};
    begin = t = f.body.end;
  }
}

/// Sorts the closures by their blocks. Clang's tree has some operands in another order than the text, as
/// those of atomic operations.
void sort_closures(semantic_index& index) {
  std::vector<function_info*> order;
  for (function_info& f : index.closures) order.push_back(&f);
  const auto beginning = [](const function_info* f) { return f->body.begin; };
  if (std::ranges::is_sorted(order, {}, beginning)) return;
  std::ranges::sort(order, {}, beginning);
  std::deque<function_info> sorted;
  std::unordered_map<const function_info*, function_info*> places;
  for (function_info* const f : order) places[f] = &sorted.emplace_back(std::move(*f));
  for (function_info& f : sorted)
    if (const auto moved = places.find(f.outer); moved != places.end()) f.outer = moved->second;
  index.closures = std::move(sorted);  // the elements keep their addresses
}

void find_result_types_of_closures(semantic_index& index) {
  std::unordered_map<const closure_declaration*, QualType> results;
  for (const auto& [variable, c] : index.closure_variables) {
    const QualType function = variable->getType()->castAs<PointerType>()->getPointeeType();
    results.emplace(c, function->castAs<FunctionType>()->getReturnType());
  }
  for (function_info& f : index.closures)
    if (const auto own = results.find(f.closure); own != results.end()) f.result = own->second;
}

void report_unused_keywords(const unit& u, const std::set<unsigned>& used, DiagnosticsEngine& diagnostics) {
  for (const token_index t : u.worker_keywords) {
    const SourceLocation location = u.tokens[t].getLocation();
    if (!used.contains(location.getRawEncoding()))
      report_error(diagnostics, location,
                   "'worker' applies to functions and pointers to functions; this declares neither");
  }
}

}  // namespace

semantic_index build_semantic_index(ASTContext& ast, const unit& u) {
  semantic_index index;
  restore_type_of_main(ast);
  index_visitor walk({u, index, ast.getDiagnostics()});
  walk.TraverseDecl(ast.getTranslationUnitDecl());
  std::sort(index.functions.begin(), index.functions.end(),
            [](const function_info& a, const function_info& b) { return a.body.begin < b.body.begin; });
  sort_closures(index);
  find_external_declarations(u, index);
  find_result_types_of_closures(index);
  report_unused_keywords(u, walk.used_keywords, ast.getDiagnostics());
  find_travelling_tasks(ast, u, index, ast.getDiagnostics());
  SUKIMA_ASSERT_VALID((indexed_unit{index, u}));
  return index;
}

}  // namespace sukima::language
