// SPDX-License-Identifier: Apache-2.0
#include "plan/cluster.hpp"

#include "plan/c_text.hpp"

namespace sukima::language {

using namespace clang;

namespace {

/// The description of a task that travels. It is weak, because each file that hands out such tasks has one;
/// the linker keeps one of them.
constexpr std::string_view travel_description = R"(
    static const sukima_member sukima_members_$task$[] = {$members$ };

    __attribute__((__weak__)) sukima_travelling sukima_travel_$task$ =
      SUKIMA_TRAVELLING("task $task$", sukima_exec_$task$, $type$, sukima_members_$task$, $count$);

    __attribute__((__constructor__)) static void sukima_travels_$task$(void) {
      sukima_register_travelling(&sukima_travel_$task$);
    }

)";

constexpr std::string_view plain_member = "SUKIMA_MEMBER($flags$, $type$, $name$)";
constexpr std::string_view array_member = "SUKIMA_ARRAY_MEMBER($flags$, $type$, $name$, $length$)";

/// The call that enters a node's runtime from plain C, and the call of an entry that other nodes share.
constexpr std::string_view plain_enter = "sukima_enter($run$, &$frame$)";
constexpr std::string_view shared_enter =
    R"(sukima_cluster_enter("$function$", $reason$, $loop$, $run$, &$frame$, $result$))";

std::string flags_of(const travelling_member& member) {
  std::string text = member.is_in ? "SUKIMA_IN" : "SUKIMA_OUT";
  if (member.has_signed_length) text += " | SUKIMA_SIGNED";
  if (member.is_late) text += " | SUKIMA_LATE";
  return text;
}

/// Prints the description of the task if it has not been printed.
void describe(planner& p, const std::string& task, const task_travel& travel) {
  if (!p.names.declared.insert("sukima_travel_" + task).second) return;
  const std::string type = "struct " + task_type_name(task);
  std::string members;
  for (const travelling_member& member : travel.members)
    members +=
        (members.empty() ? " " : ", ") +
        c_text(
            member.length.empty() ? plain_member : array_member,
            {{"flags", flags_of(member)}, {"type", type}, {"name", member.name}, {"length", member.length}});
  p.out.before_function.text(c_text(travel_description, {{"task", task},
                                                         {"type", type},
                                                         {"members", members},
                                                         {"count", std::to_string(travel.members.size())}}));
}

std::string string_literal(const std::string& text) {
  std::string literal = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') literal += '\\';
    literal += c;
  }
  return literal + "\"";
}

/// Returns the reason why the first task that cannot leave its node, of those that the unit hands out, stays
/// there, as a literal; 0: there is none.
std::string first_reason(const plan_input& in) {
  for (const construct& c : in.unit.constructs) {
    const auto travel = in.index.travels.find(c.task);
    if (c.task.empty() || travel == in.index.travels.end() || travel->second.stays.empty()) continue;
    const PresumedLoc place = in.sources.getPresumedLoc(in.sources.getExpansionLoc(c.task_location));
    return string_literal("task '" + c.task + "' (" + place.getFilename() + ":" +
                          std::to_string(place.getLine()) + "): " + travel->second.stays);
  }
  return "0";
}

/// Returns whether an expression computes a floating-point number, and does not only name one.
bool computes_float(const Expr* e) {
  e = e->IgnoreParenCasts();
  if (const auto* choice = dyn_cast<ConditionalOperator>(e))
    return computes_float(choice->getTrueExpr()) || computes_float(choice->getFalseExpr());
  const auto* operation = dyn_cast<BinaryOperator>(e);
  return operation != nullptr && (operation->isMultiplicativeOp() || operation->isAdditiveOp());
}
/// Returns whether an assignment rounds: `s += x` and `s = s + x` do, `best = x` does not.
bool rounds(const BinaryOperator& assignment) {
  QualType type = assignment.getLHS()->getType().getAtomicUnqualifiedType();
  if (const auto* vector = type->getAs<VectorType>()) type = vector->getElementType();
  if (!type->isRealFloatingType() && !type->isComplexType()) return false;
  return assignment.isCompoundAssignmentOp() || computes_float(assignment.getRHS());
}

/// Returns the place of the unit's first parallel loop whose GET adds up floating-point numbers, as a
/// literal; 0: there is none. The rounding of such a sum depends on which iterations were handed out.
std::string first_rounding_loop(const plan_input& in) {
  for (const construct& c : in.unit.constructs) {
    if (c.kind != construct_kind::loop) continue;
    for (token_index t = c.get.begin; t < c.get.end; ++t) {
      const auto found = in.index.assignments.find(t);
      if (found == in.index.assignments.end() || !rounds(*found->second)) continue;
      const PresumedLoc place = in.sources.getPresumedLoc(in.sources.getExpansionLoc(c.location));
      return string_literal(std::string(place.getFilename()) + ":" + std::to_string(place.getLine()));
    }
  }
  return "0";
}

}  // namespace

std::string begin_kind(planner& p, const construct& c, const std::string& form) {
  const auto travel = p.in.index.travels.find(c.task);
  if (travel == p.in.index.travels.end() || !travel->second.stays.empty()) return "SUKIMA_" + form + "_KIND(";
  describe(p, c.task, travel->second);
  return "SUKIMA_TRAVELLING_" + form + "_KIND(&sukima_travel_" + c.task + ", ";
}

std::string enter_call(const planner& p, const FunctionDecl* function, const std::string& run,
                       const std::string& frame, const std::string& result) {
  if (!p.in.index.cluster_entries.contains(function->getCanonicalDecl()))
    return c_text(plain_enter, {{"run", run}, {"frame", frame}});
  const std::string value = frame + "." + result;
  return c_text(shared_enter, {{"function", function->getNameAsString()},
                               {"reason", first_reason(p.in)},
                               {"loop", first_rounding_loop(p.in)},
                               {"run", run},
                               {"frame", frame},
                               {"result", result.empty() ? "0, 0" : "&" + value + ", sizeof " + value}});
}

}  // namespace sukima::language
