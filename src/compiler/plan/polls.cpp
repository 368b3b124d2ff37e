// SPDX-License-Identifier: Apache-2.0
#include "plan/polls.hpp"

#include "plan/names.hpp"

namespace sukima::language {

using namespace clang;

namespace {

/// Returns the definition of a function in this unit; null if there is none.
const function_info* definition_of(const plan_input& in, const FunctionDecl* function) {
  const FunctionDecl* const definition = function == nullptr ? nullptr : function->getDefinition();
  const token_index brace =
      definition == nullptr ? no_token : in.unit.find(definition->getBody()->getBeginLoc());
  return brace == no_token ? nullptr : in.index.function_at(brace);
}

/// Returns whether a function changes only the object to which its first argument points.
bool only_fills_its_first_argument(const FunctionDecl* callee) {
  if (callee == nullptr) return false;
  switch (callee->getMemoryFunctionKind()) {
    case Builtin::BImemcpy:
    case Builtin::BImempcpy:
    case Builtin::BImemmove:
    case Builtin::BImemset:
    case Builtin::BIbzero:
      return true;
    default:
      return false;
  }
}

/// Returns the variable of which an assignment changes a part; null: it assigns through a pointer.
const VarDecl* changed_variable(const Expr* target) {
  for (;;) {
    target = target->IgnoreParenImpCasts();
    if (const auto* member = dyn_cast<MemberExpr>(target); member != nullptr && !member->isArrow()) {
      target = member->getBase();
    } else if (const auto* element = dyn_cast<ArraySubscriptExpr>(target);
               element != nullptr && element->getBase()->IgnoreParenImpCasts()->getType()->isArrayType()) {
      target = element->getBase();
    } else {
      const auto* name = dyn_cast<DeclRefExpr>(target);
      return name == nullptr ? nullptr : dyn_cast<VarDecl>(name->getDecl());
    }
  }
}

/// Returns the variable into which a pointer points; null: unknown.
const VarDecl* variable_under(const Expr* pointer) {
  pointer = pointer->IgnoreParenCasts();
  if (const auto* sum = dyn_cast<BinaryOperator>(pointer); sum != nullptr && sum->isAdditiveOp())
    return variable_under(sum->getLHS()->getType()->isPointerType() ? sum->getLHS() : sum->getRHS());
  const auto* address = dyn_cast<UnaryOperator>(pointer);
  if (address != nullptr && address->getOpcode() == UO_AddrOf) return changed_variable(address->getSubExpr());
  return pointer->getType()->isArrayType() ? changed_variable(pointer) : nullptr;
}

/// Clang does not represent atomic operations as calls.
bool is_atomic_operation(const Token& token) {
  const IdentifierInfo* const word = token.isAnnotation() ? nullptr : token.getIdentifierInfo();
  return word != nullptr &&
         (word->getName().starts_with("__atomic_") || word->getName().starts_with("__c11_atomic_"));
}

/// Finds out which tokens visibly change only variables of their own.
class change_finder {
 public:
  explicit change_finder(const plan_input& in) : in_(in) {}

  /// \param is_own  returns whether the tokens may change a variable
  /// \param call  the parenthesis of an allowed call, whose result is assigned after it; or no_token
  template <class F> bool only_own(token_range tokens, const F& is_own, token_index call = no_token) {
    for (token_index t = tokens.begin; t < tokens.end; ++t)
      if (changes_others(t, is_own, call)) return false;
    return true;
  }

 private:
  template <class F> bool changes_others(token_index t, const F& is_own, token_index call) {
    const Token& token = in_.unit.tokens[t];
    if (token.is(tok::kw_asm) || is_atomic_operation(token) || in_.index.closure_calls.contains(t) ||
        in_.closure_at.contains(t))
      return true;
    if (const auto a = in_.index.assignments.find(t); a != in_.index.assignments.end())
      return !gets_result(*a->second, call) && !is_owned(changed_variable(a->second->getLHS()), is_own);
    if (token.isOneOf(tok::plusplus, tok::minusminus)) {
      const VarDecl* const behind = variable_at(in_, t + 1);
      const VarDecl* const before = variable_at(in_, t - 1);
      const bool is_name =
          behind != nullptr && !in_.unit.tokens[t + 2].isOneOf(tok::period, tok::arrow, tok::l_square);
      return !is_owned(is_name ? behind : before, is_own);
    }
    const auto called = in_.index.all_calls.find(t);
    if (called == in_.index.all_calls.end() || t == call) return false;
    const FunctionDecl* const callee = called->second->getDirectCallee();
    return !(only_fills_its_first_argument(callee) &&
             is_owned(variable_under(called->second->getArg(0)), is_own)) &&
           !changes_nothing(callee);
  }

  template <class F> static bool is_owned(const VarDecl* variable, const F& is_own) {
    return variable != nullptr && is_own(variable);
  }

  bool gets_result(const BinaryOperator& assignment, token_index call) const {
    if (call == no_token) return false;
    const token_index first = in_.unit.find(assignment.getRHS()->getBeginLoc());
    const token_index last = in_.unit.find(assignment.getRHS()->getEndLoc());
    return first != no_token && last != no_token && token_range{first, last + 1}.holds(call);
  }

  /// Returns whether a plain function changes only its own variables.
  bool changes_nothing(const FunctionDecl* function) {
    if (function == nullptr) return false;
    if (function->hasAttr<ConstAttr>() || function->hasAttr<PureAttr>()) return true;
    const function_info* const f = definition_of(in_, function);
    if (f == nullptr || f->is_worker) return false;
    const auto [known, is_new] = known_.emplace(f, true);  // while it calls itself
    if (!is_new) return known->second;
    const bool result = only_own(f->body, [&](const VarDecl* variable) {
      const auto declared = in_.index.declared.find(variable);
      return declared != in_.index.declared.end() && f->whole.holds(declared->second) &&
             variable->hasLocalStorage();
    });
    return known_[f] = result;
  }

  const plan_input& in_;
  std::map<const function_info*, bool> known_;
};

/// Returns whether a block visibly changes only its task and its own variables.
bool only_fills_its_task(const plan_input& in, token_range block) {
  return change_finder(in).only_own(block, [&](const VarDecl* variable) {
    if (is_put_in(in, variable)) return variable->getName() == "this";
    const auto declared = in.index.declared.find(variable);
    return declared != in.index.declared.end() && block.holds(declared->second) && !variable->isStaticLocal();
  });
}

/// Returns whether a change of a variable concerns only the body of a loop: no block that runs at a poll
/// uses it.
bool concerns_only_the_body(const plan_input& in, const VarDecl* variable, const construct& loop,
                            const function_info& f) {
  const auto declared = in.index.declared.find(variable);
  if (declared == in.index.declared.end() || !variable->hasLocalStorage()) return false;
  if (loop.first.holds(declared->second)) return true;
  if (!f.whole.holds(declared->second) || f.has_closures || f.address_taken.contains(variable) ||
      variable->getType()->isArrayType())
    return false;
  for (const construct* c = &loop; c != nullptr; c = c->parent)
    for (const token_range& block : {c->put, c->guard, c->split, c->before, c->after})
      if (uses(in, block, variable)) return false;
  return true;
}

/// Returns whether a brace opens a block, not a list of initial values or a statement expression.
bool opens_block(const unit& u, token_index brace) {
  while (u.tokens[brace - 1].is(tok::l_brace)) --brace;
  const Token& before = u.tokens[brace - 1];
  if (before.isNot(tok::r_paren)) return !before.isOneOf(tok::l_paren, tok::equal, tok::comma);
  return u.tokens[u.partner[brace - 1] - 1].isOneOf(tok::kw_if, tok::kw_switch);
}

/// Returns the end of the statement of a loop's body that contains a call; of an `if` or `switch`, the end of
/// its head if the call is there.
token_index end_of_statement(const unit& u, token_range body, token_index call) {
  token_index t = call;
  for (token_index bracket = u.opened[t]; bracket != no_token && bracket > body.begin;
       bracket = u.opened[t]) {
    if (u.tokens[bracket].is(tok::l_brace) && opens_block(u, bracket)) break;
    t = bracket;
  }
  for (; t < body.end && (u.partner[t] == no_token || u.partner[t] > t); ++t) {
    if (u.tokens[t].isOneOf(tok::semi, tok::l_brace)) break;
    if (u.partner[t] != no_token) t = u.partner[t];
  }
  return t;
}

}  // namespace

bool contains_polls(const plan_input& in, const FunctionDecl* function) {
  return function != nullptr && in.polling.contains(function->getCanonicalDecl());
}

bool polls_at_its_call(const plan_input& in, const construct& loop) {
  for (const token_range& block : {loop.put, loop.guard, loop.split})
    if (!only_fills_its_task(in, block)) return false;
  const worker_call* only = nullptr;
  for (token_index t = loop.first.begin; t < loop.first.end; ++t) {
    if (in.construct_at.contains(t) || in.closure_at.contains(t) || in.index.closure_calls.contains(t))
      return false;
    if (in.unit.tokens[t].isOneOf(tok::kw_for, tok::kw_while, tok::kw_do, tok::kw_goto)) return false;
    const auto call = in.index.calls.find(t);
    if (call == in.index.calls.end()) continue;
    if (only != nullptr) return false;
    only = &call->second;
  }
  if (only == nullptr) return false;
  const function_info* const f = in.index.function_at(loop.whole.begin);
  return contains_polls(in, only->callee) ||
         change_finder(in).only_own(
             {loop.first.begin, end_of_statement(in.unit, loop.first, only->open)},
             [&](const VarDecl* variable) { return concerns_only_the_body(in, variable, loop, *f); },
             only->open);
}

}  // namespace sukima::language
