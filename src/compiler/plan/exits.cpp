// SPDX-License-Identifier: Apache-2.0
#include "plan/exits.hpp"

#include "plan/constructs.hpp"
#include "plan/names.hpp"
#include "plan/tokens.hpp"
#include "plan/types.hpp"

namespace sukima::language {

using namespace clang;

namespace {

/// Returns the number of levels, counted from the outermost, that the jump does not leave.
std::size_t kept_levels(const jump& j, const context& scope) {
  if (j.kind == jump_kind::leave_function) return 0;
  std::size_t kept = 0;
  for (const level& l : scope.levels) {
    const bool stays = j.own_loop == l.c
                           ? j.kind == jump_kind::next_iteration
                           : j.target != no_token && l.c->whole.holds(j.target) && l.c != j.own_loop;
    if (!stays) break;
    ++kept;
    if (j.own_loop == l.c) break;
  }
  return kept;
}

/// Returns whether the jump leaves the body of the `try` that is being planned as a function of its own.
bool leaves_the_body(const planner& p, const jump& j, const context& scope) {
  if (scope.exits == nullptr || kept_levels(j, scope) != 0) return false;
  const auto body = p.function.bodies.begin();
  for (const auto& [c, exits] : p.function.bodies)
    if (exits == scope.exits)
      return j.target == no_token || !c->first.holds(j.target) || j.kind == jump_kind::leave_function;
  return body != p.function.bodies.end();
}

}  // namespace

bool leaves_something(const planner& p, const jump& j, const context& scope) {
  if (scope.function == nullptr || !scope.function->is_worker) return false;
  if (j.own_loop != nullptr) return true;
  return kept_levels(j, scope) < scope.levels.size() || leaves_the_body(p, j, scope);
}

namespace {

/// Plans the text that leaves the levels, from the innermost outwards.
void plan_exits(planner& p, sheet& out, const std::vector<level>& levels, std::size_t keep) {
  SUKIMA_ASSERT(keep <= levels.size(), "a jump keeps levels that it is in");
  for (std::size_t k = levels.size(); k > keep; --k) {
    const level& l = levels[k - 1];
    switch (l.c->kind) {
      case construct_kind::do_two:
        if (!l.choice_point.empty())
          out.text(" if (sukima_was_split(&" + l.choice_point + "->sukima_head)) sukima_abandon(&" +
                   l.choice_point + "->sukima_head);");
        break;
      case construct_kind::loop:
        if (!l.choice_point.empty())
          out.text(" if (sukima_was_split(&" + l.choice_point +
                   "->sukima_head.sukima_head)) sukima_abandon(&" + l.choice_point +
                   "->sukima_head.sukima_head);");
        break;
      case construct_kind::join:
        if (!p.in.options.sequential)
          out.text(" " + base_name(*l.outside) + "_" + std::to_string(l.c->number) + "_end(" +
                   l.choice_point + ");");
        break;
      case construct_kind::wind: {
        if (p.in.options.sequential)
          out.text(" sukima_sequential_leave(&" + l.choice_point + "->sukima_head);");
        context after = *l.outside;
        after.is_copy = true;
        after.copied = l.c->after;
        after.suffix = "_sukima" + std::to_string(++p.names.copy_count);
        out.text(" ");
        plan_tokens(p, out, l.c->after, after);
        break;
      }
      default:
        break;
    }
  }
}

}  // namespace

void plan_jump(planner& p, sheet& out, const jump& j, const context& scope, const std::string& computed) {
  out.go_to(p.in.unit.tokens[j.keyword].getLocation());
  const std::size_t keep = kept_levels(j, scope);
  const bool out_of_body = leaves_the_body(p, j, scope);
  SUKIMA_ASSERT(!out_of_body || scope.exits != nullptr, "a jump leaves the body of a 'try' that is planned");
  out.token("{", true);
  std::string last;
  if (j.kind == jump_kind::leave_function) {
    const token_range value{j.keyword + 1, j.end - 1};
    const QualType type = scope.function->result;
    const std::string text = computed.empty() ? text_of(p, value, scope) : computed;
    if (!text.empty() && !type->isVoidType()) {
      if (out_of_body) {
        out.text(" " + assign(p, type, scope.exits->frame + "->sukima_result", "(" + text + ")"));
      } else {
        out.text(" " + declare_unqualified(p, type, "sukima_value") + " = (" + text + ");");
        last = " return sukima_value;";
      }
    } else {
      if (!text.empty()) out.text(" " + text + ";");
      last = " return;";
    }
  } else if (j.own_loop != nullptr) {
    const bool again = j.kind == jump_kind::next_iteration;
    last = std::string(" goto sukima_") + (again ? "continue" : "break") +
           std::to_string(j.own_loop->number) + scope.form_suffix + ";";
    if (!out_of_body) (again ? p.function.continued : p.function.broken).insert(j.own_loop);
  } else if (j.kind == jump_kind::go_to) {
    last = " goto " + j.label->getNameAsString() + label_suffix(j.label, scope) + ";";
  } else {
    last = j.kind == jump_kind::leave_block ? " break;" : " continue;";
  }
  if (out_of_body) {
    const auto known =
        std::find_if(scope.exits->jumps.begin(), scope.exits->jumps.end(), [&](const jump& other) {
          return other.kind == j.kind && other.target == j.target && other.label == j.label;
        });
    last = " return " + std::to_string(known - scope.exits->jumps.begin() + 1) + ";";
    if (known == scope.exits->jumps.end()) scope.exits->jumps.push_back(j);
  }
  plan_exits(p, out, scope.levels, keep);
  out.text(last + " }");
}

}  // namespace sukima::language
