// SPDX-License-Identifier: Apache-2.0
// join and spawn: the operands of all statements are evaluated on entry and lie in the record.
#include "emit/emitter.hpp"
#include "emit/types.hpp"

namespace sukima::language {

using namespace clang;

namespace {

/// A spawned statement: [target op] [casts] callee(arguments).
struct spawned_call {
  const CallExpr* call = nullptr;
  const BinaryOperator* assignment = nullptr;
  token_range target{};
  token_index operation = no_token;
  std::vector<token_range> casts;
  token_range callee{};
  std::vector<token_range> arguments;
};

}  // namespace

void emitter::join(writer& out, const construct& c, const context& where) {
  const std::string number = std::to_string(c.number);
  if (options_.sequential) {
    out.token("{ ", true);
    for (const join_statement& s : c.statements) {
      print(out, s.tokens, where);
      if (s.spawned) out.text(";");
    }
    out.text(" }");
    return;
  }
  std::vector<spawned_call> calls;
  for (const join_statement& s : c.statements) {
    if (!s.spawned) continue;
    spawned_call one;
    token_range right = s.tokens;
    for (token_index t = s.tokens.begin; t < s.tokens.end; ++t) {
      if (const auto a = index_.assignments.find(t); a != index_.assignments.end()) {
        one.assignment = a->second;
        one.target = {s.tokens.begin, t};
        one.operation = t;
        right.begin = t + 1;
        break;
      }
      if (unit_.partner[t] != no_token && unit_.partner[t] > t) t = unit_.partner[t];
    }
    while (right.begin < right.end && unit_.roles[right.begin] == token_role::keyword) ++right.begin;
    // Casts, and parentheses around all the rest, as macros have them.
    token_index last = right.end;
    while (last > right.begin && unit_.tokens[last - 1].is(tok::r_paren) &&
           !index_.all_calls.contains(unit_.partner[last - 1]))
      --last;
    if (last > right.begin && unit_.tokens[last - 1].is(tok::r_paren)) {
      const CallExpr* const call = index_.all_calls.at(unit_.partner[last - 1]);
      const token_index begin = unit_.find(call->getBeginLoc());
      while (right.begin < begin && unit_.tokens[right.begin].is(tok::l_paren)) {
        const token_index closing = unit_.partner[right.begin];
        if (closing < begin) {
          one.casts.push_back({right.begin, closing + 1});
          right.begin = closing + 1;
        } else if (closing + 1 == right.end) {
          right = {right.begin + 1, closing};
        } else {
          break;
        }
      }
      if (right.begin == begin && right.end == last) one.call = call;
    }
    if (one.call == nullptr) {
      report(s.location,
             "a spawned statement is a call, or an assignment of a call; put the rest into a function");
      return;
    }
    if (one.assignment != nullptr && one.assignment->getLHS()->refersToBitField()) {
      report(s.location,
             "a bit-field has no address; let 'spawn' assign to a variable and copy it behind the join");
      return;
    }
    const token_index open = unit_.partner[right.end - 1];
    one.callee = {right.begin, open};
    token_index begin = open + 1;
    for (token_index t = begin; t < right.end; ++t) {
      if (unit_.partner[t] != no_token && unit_.partner[t] > t) t = unit_.partner[t];
      if (!unit_.tokens[t].is(tok::comma) && t + 1 != right.end) continue;
      if (t > begin) one.arguments.push_back({begin, t});
      begin = t + 1;
    }
    calls.push_back(std::move(one));
  }

  const std::string name = base_name(where) + "_" + number;
  const std::string record = "sukima_r" + number;
  std::string members;
  std::string operands;  // computed before the record is filled in: they may call worker functions
  std::string stores;
  std::vector<std::string> own;
  std::string given;
  std::string assigned;
  for (std::size_t k = 0; k < calls.size(); ++k) {
    const spawned_call& s = calls[k];
    const std::string index = std::to_string(k);
    const auto keep = [&](const std::string& field, QualType type, const std::string& value) {
      members += " " + declare_unqualified(type, field) + ";";
      operands += " " + declare_unqualified(type, field) + " = " + value + ";";
      stores += " " + record + "->" + field + " = " + field + ";";
      return record + "->" + field;
    };
    std::string target;
    if (s.assignment != nullptr)
      target = keep("sukima_a" + index, ast_.getPointerType(s.assignment->getLHS()->getType()),
                    "&(" + text_of(s.target, where) + ")");
    const auto* function =
        s.call->getCallee()->getType()->castAs<PointerType>()->getPointeeType()->castAs<FunctionType>();
    const bool is_worker = is_worker_type(s.call->getCallee()->getType());
    const bool is_closure = is_closure_type(s.call->getCallee()->getType());
    std::string callee;
    if (const FunctionDecl* direct = s.call->getDirectCallee()) {
      callee = is_worker ? worker_name(direct) : direct->getNameAsString();
      if (direct->getBuiltinID() != 0) callee = text_of(s.callee, where);
    } else {
      context apart = where;
      if (is_closure) apart.called_apart = &index_.closure_calls.at(s.callee.end);
      callee = keep("sukima_c" + index, s.call->getCallee()->getType(), text_of(s.callee, apart));
    }
    std::string arguments;
    const auto* proto = dyn_cast<FunctionProtoType>(function);
    for (std::size_t a = 0; a < s.arguments.size() && a < s.call->getNumArgs(); ++a) {
      const QualType type = proto != nullptr && a < proto->getNumParams()
                                ? proto->getParamType(static_cast<unsigned>(a))
                                : s.call->getArg(static_cast<unsigned>(a))->getType();
      arguments += (arguments.empty() ? "" : ", ") + keep("sukima_x" + index + "_" + std::to_string(a), type,
                                                          "(" + text_of(s.arguments[a], where) + ")");
    }
    if (is_closure && proto != nullptr && proto->isVariadic()) {
      report(s.call->getExprLoc(), "a variadic closure cannot be spawned; let a closure of its own call it");
      return;
    }
    const std::string caller =
        is_closure ? closure_caller(index_.closure_calls.at(s.callee.end)) : std::string();
    const auto noted = calls_of_c_.find(s.callee.begin);
    const bool leaves = leaves_for_c(s.callee.end, where) &&
                        (is_closure || (noted != calls_of_c_.end() && noted->second == s.callee.end));
    const auto call_with = [&](const std::string& top) {
      const std::string note = leaves ? "sukima_leave_for_c(" + top + "), " : "";
      if (is_closure)
        return (leaves ? "(" + note + caller + ")" : caller) + "(" + (is_worker ? top + ", " : "") + callee +
               (arguments.empty() ? "" : ", ") + arguments + ")";
      return (leaves ? "(" + note + callee + ")" : callee) + "(" +
             (is_worker ? top + (arguments.empty() ? "" : ", ") : "") + arguments + ")";
    };
    std::string cast;
    for (const token_range& one : s.casts) cast += text_of(one, where);
    const std::string operation = (s.assignment != nullptr ? spelling(s.operation) + " " : "") + cast;
    own.push_back((s.assignment != nullptr ? "*" + target + " " : "") + operation +
                  call_with("(char *)(" + record + " + 1)") + ";");
    given += " case " + index + ": ";
    if (s.assignment != nullptr) {
      members += " " + declare_unqualified(s.call->getType(), "sukima_v" + index) + ";";
      given += record + "->sukima_v" + index + " = ";
      assigned +=
          " case " + index + ": *" + target + " " + operation + record + "->sukima_v" + index + "; break;";
    }
    given += call_with("sukima_top") + "; break;";
  }
  const std::string type = "struct " + name;
  const std::string count = std::to_string(calls.size());
  before_.text(type + " { sukima_loop sukima_head;" + members + " } __attribute__((aligned(16)));\n");
  before_.text("static void " + name + "_run(char *sukima_top, void *sukima_choice_point, int sukima_k);\n");
  before_.text("static const sukima_kind " + name + "_kind = SUKIMA_JOIN_KIND(" + type + ", " + name +
               "_run);\n");
  before_.text("static void " + name + "_end(" + type + " *" + record + ");\n");
  writer text(options_.line_directives);
  go_to(text, c.location, false);
  text.text("static void " + name + "_run(char *sukima_top, void *sukima_choice_point, int sukima_k) { " +
            type + " *const " + record + " = (" + type + " *)sukima_choice_point; (void)sukima_top; (void)" +
            record + "; switch (sukima_k) {" + given + " default: break; } }\n");
  go_to(text, c.location, false);
  text.text("static __inline__ void " + name + "_end(" + type + " *" + record + ") { if (sukima_was_split(&" +
            record + "->sukima_head.sukima_head)) { sukima_await(&" + record +
            "->sukima_head.sukima_head); int sukima_k; for (sukima_k = " + record +
            "->sukima_head.sukima_end; sukima_k < " + count + "; sukima_k++) switch (sukima_k) {" + assigned +
            " default: break; } } }\n");
  behind_.append(text);

  level l{&c, record, {}, std::make_shared<const context>(where)};
  out.token("{" + operands + " " + type + " *const " + record + " = (" + type + " *)(void *)" + where.top +
                "; " + record + "->sukima_head.sukima_head.sukima_kind_or_child = (sukima_word)&" + name +
                "_kind;" + stores + " " + record + "->sukima_head.sukima_i = 0; " + record +
                "->sukima_head.sukima_end = " + count + "; sukima_poll(&" + record +
                "->sukima_head.sukima_head);",
            true);
  for (std::size_t k = 0; k < own.size(); ++k) {
    const std::string index = std::to_string(k);
    go_to(out, c.statements[k].location);
    if (k > 0)
      out.text(" " + record + "->sukima_head.sukima_i = " + index + "; if (" + index + " < " + record +
               "->sukima_head.sukima_end) ");
    out.text((k == 0 ? " " : "") + own[k]);
  }
  if (!c.statements.empty() && !c.statements.back().spawned) {
    out.text(" " + record + "->sukima_head.sukima_i = " + count + "; { ");
    print(out, c.statements.back().tokens, inside(l, where));
    out.text(" }");
  }
  out.text(" " + name + "_end(" + record + "); }");
}

}  // namespace sukima::language
