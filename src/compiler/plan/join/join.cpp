// SPDX-License-Identifier: Apache-2.0
// join and spawn: the operands of all statements are evaluated at the start, and stored in the choice point.
// In the sequential program they are stored in variables.
#include "plan/join/join_text.hpp"
#include "plan/join/spawned_call.hpp"

#include "plan/captures.hpp"
#include "plan/clones.hpp"
#include "plan/closures.hpp"
#include "plan/constructs.hpp"
#include "plan/input.hpp"
#include "plan/names.hpp"
#include "plan/side_texts.hpp"
#include "plan/tokens.hpp"

#include <utility>

namespace sukima::language {

using namespace clang;

namespace {

/// Plans statement number k.
class statement_planner {
 public:
  statement_planner(planner& p, join_text& join, const spawned_call& s, std::size_t k, const context& scope)
      : p_(p),
        join_(join),
        s_(s),
        index_(std::to_string(k)),
        scope_(scope),
        is_sequential_(p.in.options.sequential),
        is_worker_(is_worker_type(s.call->getCallee()->getType()) && !is_sequential_),
        is_closure_(is_closure_type(s.call->getCallee()->getType())) {}

  /// \returns whether the statement can be spawned
  bool plan() {
    std::string target;
    if (s_.assignment != nullptr) {
      const std::string written = text_of(p_, s_.target, scope_);
      const bool is_variable = isa<DeclRefExpr>(s_.assignment->getLHS()->IgnoreParens());
      // The address of a `register` variable cannot be taken.
      target =
          is_sequential_ && is_variable
              ? written
              : "*" + keep("sukima_a" + index_, p_.in.ast.getPointerType(s_.assignment->getLHS()->getType()),
                           "&(" + written + ")");
    }
    callee_ = callee();
    const auto* function =
        s_.call->getCallee()->getType()->castAs<PointerType>()->getPointeeType()->castAs<FunctionType>();
    const auto* proto = dyn_cast<FunctionProtoType>(function);
    keep_arguments(proto);
    if (is_closure_ && proto != nullptr && proto->isVariadic()) {
      report(p_.in, s_.call->getExprLoc(),
             "a variadic closure cannot be spawned; spawn a closure that calls it");
      return false;
    }
    if (is_closure_) caller_ = closure_caller(p_, p_.in.index.closure_calls.at(s_.callee.end));
    const auto noted = p_.in.calls_of_c.find(s_.callee.begin);
    leaves_ = leaves_for_c(p_.in, s_.callee.end, scope_) &&
              (is_closure_ || (noted != p_.in.calls_of_c.end() && noted->second == s_.callee.end));
    add_to_join(target);
    return true;
  }

 private:
  /// Declares a member of the choice point. Choice points are aligned to 16 bytes.
  std::string declared_member(QualType type, const std::string& member) {
    const bool fits =
        is_sequential_ || type->isIncompleteType() || p_.in.ast.getTypeAlignInChars(type).getQuantity() <= 16;
    if (!fits && !std::exchange(is_refused_, true))
      report(p_.in, s_.call->getExprLoc(),
             "the arguments and the result of a spawned call may be aligned to 16 bytes at most; pass a "
             "pointer");
    return declared_type(type, member);
  }
  std::string declared_type(QualType type, const std::string& name) {
    try {
      return declare_unqualified(p_, type, name);
    } catch (const unprintable_type& problem) {
      report(p_.in, s_.call->getExprLoc(),
             "this call cannot be spawned because of one of its types: " + problem.reason);
      return "int " + name;
    }
  }

  /// Adds a member to the choice point, or a variable of that name to the sequential join. Its value is
  /// computed at the start. \returns an expression for it
  std::string keep(const std::string& member, QualType type, const std::string& value) {
    const std::string declared = declared_member(type, member);
    if (!is_sequential_) join_.members += " " + declared + ";";
    join_.operands += " " + declared + " = " + value + ";";
    if (is_sequential_) return member;
    join_.stores += " " + assign(p_, type, join_.point + "->" + member, member);
    return join_.point + "->" + member;
  }

  std::string callee() {
    if (const FunctionDecl* direct = s_.call->getDirectCallee()) {
      if (direct->getBuiltinID() != 0 || is_sequential_) return text_of(p_, s_.callee, scope_);
      return is_worker_ ? worker_name(direct) : direct->getNameAsString();
    }
    context apart = scope_;
    apart.noted_apart = s_.callee.end;
    if (is_closure_) apart.called_apart = &p_.in.index.closure_calls.at(s_.callee.end);
    return keep("sukima_c" + index_, s_.call->getCallee()->getType(), text_of(p_, s_.callee, apart));
  }

  /// Returns an argument as an initial value. A parameter of a transparent union takes the value of a member.
  std::string argument_text(std::size_t a) {
    const std::string value = "(" + text_of(p_, s_.arguments[a], scope_) + ")";
    const Expr* const argument = s_.call->getArg(static_cast<unsigned>(a))->IgnoreImplicit();
    const auto* const made = dyn_cast<CompoundLiteralExpr>(argument);
    if (made == nullptr || made->getLParenLoc().isValid()) return value;  // written by the user
    const auto* const list = dyn_cast<InitListExpr>(made->getInitializer());
    const FieldDecl* const member = list == nullptr ? nullptr : list->getInitializedFieldInUnion();
    return member == nullptr ? value : "{ ." + member->getNameAsString() + " = " + value + " }";
  }

  void keep_arguments(const FunctionProtoType* proto) {
    for (std::size_t a = 0; a < s_.arguments.size() && a < s_.call->getNumArgs(); ++a) {
      const QualType type = proto != nullptr && a < proto->getNumParams()
                                ? proto->getParamType(static_cast<unsigned>(a))
                                : s_.call->getArg(static_cast<unsigned>(a))->getType();
      arguments_ += (arguments_.empty() ? "" : ", ") +
                    keep("sukima_x" + index_ + "_" + std::to_string(a), type, argument_text(a));
    }
  }

  /// Returns the callee in the form that the owner runs.
  std::string own_callee() const {
    const FunctionDecl* const direct = s_.call->getDirectCallee();
    return is_worker_ && direct != nullptr ? form_name(p_.in, direct, scope_) : callee_;
  }

  std::string call_with(const std::string& top, const std::string& callee) const {
    const std::string note = leaves_ ? "sukima_leave_for_c(" + top + "), " : "";
    if (is_closure_)
      return (leaves_ ? "(" + note + caller_ + ")" : caller_) + "(" + (is_worker_ ? top + ", " : "") +
             callee + (arguments_.empty() ? "" : ", ") + arguments_ + ")";
    return (leaves_ ? "(" + note + callee + ")" : callee) + "(" +
           (is_worker_ ? top + (arguments_.empty() ? "" : ", ") : "") + arguments_ + ")";
  }

  /// Returns the casts as text for places where the function's own names are not visible.
  std::string casts_elsewhere() {
    std::string text;
    for (const token_range& one : s_.casts) {
      const auto cast = p_.in.index.casts.find(one.begin);
      const bool has_words = cast != p_.in.index.casts.end() && !cast->second->isVariablyModifiedType();
      text += has_words ? "(" + declared_type(cast->second, "") + ")" : text_of(p_, one, scope_);
    }
    return text;
  }

  void add_to_join(const std::string& target) {
    std::string cast;
    for (const token_range& one : s_.casts) cast += text_of(p_, one, scope_);
    const bool assigns = s_.assignment != nullptr;
    const std::string operation = assigns ? spelling(p_.in, s_.operation) + " " : "";
    join_.own.push_back((assigns ? target + " " : "") + operation + cast +
                        call_with("(char *)(" + join_.point + " + 1)", own_callee()) + ";");
    if (is_sequential_) return;
    join_.given += " case " + index_ + ": ";
    if (assigns) {
      const std::string result = join_.point + "->sukima_v" + index_;
      join_.members += " " + declared_member(s_.call->getType(), "sukima_v" + index_) + ";";
      join_.given += assign(p_, s_.call->getType(), result, call_with("sukima_top", callee_)) + " break;";
      join_.assigned += " " + c_text(join_assigned, {{"k", index_},
                                                     {"target", target},
                                                     {"operation", operation},
                                                     {"casts", casts_elsewhere()},
                                                     {"result", result}});
    } else {
      join_.given += call_with("sukima_top", callee_) + "; break;";
    }
  }

  planner& p_;
  join_text& join_;
  const spawned_call& s_;
  std::string index_;
  const context& scope_;
  bool is_sequential_;
  bool is_worker_;
  bool is_closure_;
  bool leaves_ = false;
  bool is_refused_ = false;
  std::string callee_;
  std::string caller_;
  std::string arguments_;
};

/// Plans the choice point's type and kind, and the functions that a thief and the end of the join run.
void declare_join(planner& p, const construct& c, const join_text& join) {
  const std::string count = std::to_string(join.own.size());
  p.out.before_function.text(
      c_text(join_declarations, {{"name", join.name}, {"members", join.members}, {"point", join.point}}));
  sheet text;
  text.go_to(c.location, false);
  text.text(c_text(join_run_function, {{"name", join.name},
                                       {"point", join.point},
                                       {"prototypes", local_prototypes(p, {c.first})},
                                       {"cases", join.given}}));
  text.go_to(c.location, false);
  text.text(c_text(join_end_function,
                   {{"name", join.name}, {"point", join.point}, {"count", count}, {"cases", join.assigned}}));
  p.out.after_function.append(std::move(text));
}

/// Plans pragmas and comments before a statement. A block prints its own.
void texts_in_front(planner& p, sheet& out, const join_statement& s, const context& scope) {
  const token_index first = s.spawned ? s.tokens.begin - 1 : s.tokens.begin;
  if (s.spawned || !p.in.unit.tokens[first].is(tok::l_brace)) texts_of_statement(p, out, first, scope);
}

/// Plans the text in the function itself: it fills in the choice point and runs the statements that no thief
/// took.
void run_join(planner& p, sheet& out, const construct& c, const join_text& join, const context& scope) {
  SUKIMA_ASSERT(join.own.size() <= c.statements.size() && join.own.size() + 1 >= c.statements.size(),
                "each statement of a join but the last one is spawned");
  const std::string& point = join.point;
  const std::string count = std::to_string(join.own.size());
  const level l{&c, point, {}, std::make_shared<const context>(scope)};
  out.token(c_text(join_begin, {{"operands", join.operands},
                                {"name", join.name},
                                {"point", point},
                                {"top", scope.top},
                                {"stores", join.stores},
                                {"count", count}}),
            true);
  for (std::size_t k = 0; k < join.own.size(); ++k) {
    out.go_to(c.statements[k].location);
    if (k > 0) out.text(" " + c_text(join_next, {{"point", point}, {"k", std::to_string(k)}}) + " ");
    texts_in_front(p, out, c.statements[k], scope);
    out.text((k == 0 ? " " : "") + join.own[k]);
  }
  if (!c.statements.empty() && !c.statements.back().spawned) {
    out.text(" " + c_text(join_last, {{"point", point}, {"count", count}}) + " ");
    texts_in_front(p, out, c.statements.back(), scope);
    plan_tokens(p, out, c.statements.back().tokens, inside_of(p.in, l, scope));
    out.text(" }");
  }
  out.text(" " + c_text(join_end, {{"name", join.name}, {"point", point}}));
}

void plan_sequential_join(planner& p, sheet& out, const construct& c, const join_text& join,
                          const context& scope) {
  out.token("{" + join.operands + " ", true);
  for (std::size_t k = 0; k < c.statements.size(); ++k) {
    out.go_to(c.statements[k].location);
    texts_in_front(p, out, c.statements[k], scope);
    if (k < join.own.size())
      out.text(join.own[k]);
    else
      plan_tokens(p, out, c.statements[k].tokens, scope);
  }
  out.text(" }");
}

}  // namespace

void plan_join(planner& p, sheet& out, const construct& c, const context& scope) {
  std::vector<spawned_call> calls;
  for (const join_statement& s : c.statements) {
    if (!s.spawned) continue;
    std::optional<spawned_call> one = parts_of(p.in, s);
    if (!one) return;
    calls.push_back(std::move(*one));
  }
  const std::string number = std::to_string(c.number);
  join_text join{base_name(scope) + "_" + number, "sukima_r" + number, {}, {}, {}, {}, {}, {}};
  for (std::size_t k = 0; k < calls.size(); ++k)
    if (!statement_planner(p, join, calls[k], k, scope).plan()) return;
  if (p.in.options.sequential) return plan_sequential_join(p, out, c, join, scope);
  declare_join(p, c, join);
  run_join(p, out, c, join, scope);
}

}  // namespace sukima::language
