// SPDX-License-Identifier: Apache-2.0
// Warns of closures that end without a value, and of functions that do so after a closure.
//
// Clang sees the block of a closure as a part of the surrounding function that runs at its declaration. So
// Clang does not check whether a closure returns a value. And it treats all code after a closure that does
// not end as code that never runs.
#include "check/check.hpp"

#include "check/rules.hpp"

namespace sukima::language {
namespace {

using namespace clang;

/// The paths through one function or closure. They may bypass the blocks of the closures in it.
class paths {
 public:
  paths(ASTContext& ast, const unit& u, const function_info& f, CompoundStmt* body)
      : sources_(ast.getSourceManager()), closure_(f.closure), parents_(body), body_(body) {
    CFG::BuildOptions options;
    options.setAllAlwaysAdd();
    graph_ = CFG::buildCFG(f.declaration, body, &ast, options);
    if (graph_ != nullptr)
      for (const CFGBlock* block : *graph_)
        for (const CFGElement& element : *block)
          if (const std::optional<CFGStmt> one = element.getAs<CFGStmt>();
              one && one->getStmt()->children().empty())
            leaves_.emplace(one->getStmt(), block);
    if (closure_ == nullptr) return;
    for (const closure_jump& jump : closure_->jumps) jumps_.insert(u.tokens[jump.label].getLocation());
  }

  /// Finds the paths. \param inner  blocks of closures that paths may bypass; empty: no block is bypassed, as
  /// Clang assumes
  void follow(const std::set<const Stmt*>& inner) {
    if (graph_ == nullptr) return;
    falls_ = returns_ = false;
    seen_.clear();
    open_.clear();
    passed_.clear();
    reach(&graph_->getEntry());
    while (!open_.empty()) {
      const CFGBlock* const block = open_.back();
      open_.pop_back();
      visit(*block, inner);
    }
  }
  bool reach_the_end() const noexcept { return falls_; }
  bool reach_a_return() const noexcept { return returns_; }

 private:
  void reach(const CFGBlock* block) {
    if (block == &graph_->getExit())
      falls_ = true;
    else if (block != nullptr && seen_.insert(block).second)
      open_.push_back(block);
  }

  void visit(const CFGBlock& block, const std::set<const Stmt*>& inner) {
    SUKIMA_ASSERT(seen_.contains(&block), "a path visits the blocks that it reaches");
    for (const CFGElement& element : block) {
      const std::optional<CFGStmt> statement = element.getAs<CFGStmt>();
      if (!statement) continue;
      if (leaves(statement->getStmt())) return;
      for (const Stmt* s = statement->getStmt(); s != nullptr && !inner.empty(); s = parents_.getParent(s))
        if (inner.contains(s) && passed_.insert(s).second) reach(behind(s));
    }
    if (block.hasNoReturnElement()) return;
    for (const CFGBlock::AdjacentBlock& next : block.succs()) reach(next.getReachableBlock());
  }

  /// Returns whether a statement is a `return`, or a `goto` out of the closure, in the form that the parser
  /// sees.
  bool leaves(const Stmt* s) {
    const auto* const call = dyn_cast<CallExpr>(s);
    const FunctionDecl* const callee = call == nullptr ? nullptr : call->getDirectCallee();
    const bool is_return = closure_ == nullptr ? isa<ReturnStmt>(s)
                                               : callee != nullptr && callee->getIdentifier() != nullptr &&
                                                     callee->getName() == result_function_of(*closure_);
    returns_ = returns_ || is_return;
    const auto* const label = dyn_cast<AddrLabelExpr>(s);
    return is_return || (label != nullptr && jumps_.contains(label->getLabelLoc()));
  }

  /// Returns the block to which control continues after a statement; null if it is unknown.
  const CFGBlock* behind(const Stmt* s) const {
    for (;;) {
      const auto* const around = dyn_cast_or_null<CompoundStmt>(parents_.getParent(s));
      if (around == nullptr) return nullptr;
      auto next = std::find(around->body_begin(), around->body_end(), s);
      for (++next; next != around->body_end(); ++next) {
        if (const CFGBlock* const block = beginning_of(*next)) return block;
        if (!isa<NullStmt, DeclStmt, CompoundStmt>(*next)) return nullptr;
      }
      if (around == body_) return &graph_->getExit();
      s = around;
    }
  }

  /// Returns the block that contains the start of a statement: the first expression in it that has no parts.
  const CFGBlock* beginning_of(const Stmt* s) const {
    const CFGBlock* best = nullptr;
    SourceLocation place;
    for (std::vector<const Stmt*> parts{s}; !parts.empty();) {
      const Stmt* const part = parts.back();
      parts.pop_back();
      if (part == nullptr) continue;
      parts.insert(parts.end(), part->child_begin(), part->child_end());
      const auto leaf = leaves_.find(part);
      if (leaf == leaves_.end()) continue;
      const SourceLocation here = part->getBeginLoc();
      if (best != nullptr && !sources_.isBeforeInTranslationUnit(here, place)) continue;
      best = leaf->second;
      place = here;
    }
    return best;
  }

  const SourceManager& sources_;
  const closure_declaration* closure_;
  ParentMap parents_;
  const CompoundStmt* body_;
  std::unique_ptr<CFG> graph_;
  std::set<SourceLocation> jumps_;
  std::set<const CFGBlock*> seen_;
  std::vector<const CFGBlock*> open_;
  std::map<const Stmt*, const CFGBlock*> leaves_;  ///< expressions without parts
  std::set<const Stmt*> passed_;  ///< closures with blocks that were reached
  bool falls_ = false;
  bool returns_ = false;
};

class return_checker : rules {
 public:
  return_checker(CompilerInstance& compiler, const unit& u, const semantic_index& index)
      : rules(compiler, u, index) {}

  void run() const {
    for (const function_info& f : index_.functions) {
      const FunctionDecl& function = *f.declaration;
      if (f.has_closures && !function.isNoReturn() && !function.hasImplicitReturnZero())
        check_end(f, dyn_cast<CompoundStmt>(function.getBody()));
    }
    for (const function_info& f : index_.closures) {
      if (f.stray_labels.empty())
        check_end(f, f.block);  // Clang's graph of paths needs the switch of each label
      check_returned(f, f.block);
    }
  }

 private:
  /// Reports values of `return` in a closure without a result. The parser sees `(void)(E);` there.
  void check_returned(const function_info& f, const Stmt* part) const {
    if (part == nullptr || f.result.isNull() || !f.result->isVoidType()) return;
    if (const auto* const cast = dyn_cast<CStyleCastExpr>(part);
        cast != nullptr && !cast->getSubExpr()->getType()->isVoidType())
      for (const token_index t : f.closure->returns)
        if (cast->getBeginLoc() == location_of(t)) value_of_void(location_of(t), f.closure->name);
    for (const Stmt* const inner : part->children()) check_returned(f, inner);
  }

  void check_end(const function_info& f, CompoundStmt* body) const {
    if (body == nullptr || f.result.isNull() || f.result->isVoidType()) return;
    std::set<const Stmt*> inner;
    for (const function_info& closure : index_.closures_in(f.body))
      if (closure.outer == &f) inner.insert(closure.block);
    paths all(ast_, unit_, f, body);
    all.follow({});
    if (f.closure == nullptr && all.reach_the_end()) return;  // Clang has warned already
    if (!inner.empty()) all.follow(inner);
    if (all.reach_the_end())
      warning_of_c(body->getRBracLoc(), all.reach_a_return() ? diag::warn_maybe_falloff_nonvoid_function
                                                             : diag::warn_falloff_nonvoid_function);
  }
};

}  // namespace

void check_returns(CompilerInstance& compiler, const unit& u, const semantic_index& index) {
  return_checker(compiler, u, index).run();
}

}  // namespace sukima::language
