// SPDX-License-Identifier: Apache-2.0
// Variables in the frame of a closure. If only one closure changes a plain variable of its own block (or a
// parameter), the variable becomes a member of the frame. That saves an address in the frame, and a store in
// each call of the function.
#include "plan/closures.hpp"

#include "plan/names.hpp"
#include "plan/tokens.hpp"

namespace sukima::language {

using namespace clang;

namespace {

bool is_plain(const VarDecl* variable) {
  const QualType type = variable->getType();
  return type->isScalarType() && !type->isAtomicType() && !type.isVolatileQualified() &&
         !type.isConstQualified() && !type->isVariablyModifiedType() && variable->hasLocalStorage() &&
         !variable->hasAttrs();
}

/// Returns the statement that declares only this variable, with an expression as its initial value or with
/// none.
const local_declaration* sole_declaration(const planner& p, const VarDecl* variable, const function_info& f) {
  const token_index name = p.in.index.declared.at(variable);
  for (const local_declaration& d : f.declarations) {
    if (d.declared.size() != 1 || d.declared.front() != variable) continue;
    if (p.function.moved.contains(d.tokens.begin) || isa_and_nonnull<InitListExpr>(variable->getInit()))
      return nullptr;
    for (token_index t = d.tokens.begin; t < d.tokens.end; ++t)
      if (p.in.unit.roles[t] != token_role::user || p.in.unit.tokens[t].getLocation().isMacroID() ||
          p.in.unit.tokens[t].is(tok::l_brace) || p.in.closure_at.contains(t))
        return nullptr;
    const bool initialised = p.in.unit.tokens[name + 1].is(tok::equal) && variable->hasInit();
    return initialised || name + 2 == d.tokens.end ? &d : nullptr;
  }
  return nullptr;
}

/// Returns the variables that closures of a function use, each with the closure if it is the only one,
/// otherwise with null. Closures in a closure count as part of it.
std::map<const VarDecl*, const closure_declaration*> variables_of_closures(const plan_input& in,
                                                                           const function_info& f) {
  std::map<const VarDecl*, const closure_declaration*> users;
  token_index end = 0;
  for (const closure_declaration& c : in.unit.closures_in(f.body)) {
    if (c.whole.begin < end) continue;  // it is in the previous one
    end = c.whole.end;
    for (token_index t = c.whole.begin; t < end; ++t) {
      const VarDecl* const variable = variable_at(in, t);
      if (variable == nullptr) continue;
      const auto [known, is_new] = users.emplace(variable, &c);
      if (!is_new && known->second != &c) known->second = nullptr;
    }
  }
  return users;
}

/// Returns whether the variable can be a member of the frame of this closure, which is declared in this
/// function. No other closure uses the variable.
bool lives_in_frame(const planner& p, const VarDecl* variable, const closure_declaration& c,
                    const function_info& f, const context& scope) {
  if (!is_plain(variable) || is_final_at_birth(p.in, variable, c, scope)) return false;
  const token_range block = p.in.unit.block_around(c.whole.begin);
  const token_index declared = p.in.index.declared.at(variable);
  if (const auto* parameter = dyn_cast<ParmVarDecl>(variable))
    return parameter->getDeclContext() == f.declaration && block.begin == f.body.begin;
  return declared < c.whole.begin && p.in.unit.block_around(declared).begin == block.begin &&
         p.in.index.function_at(declared) == &f && sole_declaration(p, variable, f) != nullptr;
}

}  // namespace

std::map<const VarDecl*, std::string> place_in_frames(planner& p, const function_info& f,
                                                      const context& scope) {
  std::map<const VarDecl*, std::string> names;
  p.function.in_frame.clear();
  p.function.frame_numbers.clear();
  p.function.placed.clear();
  const auto jump = p.in.index.closure_jumps.lower_bound(f.body.begin);
  const bool jumps = jump != p.in.index.closure_jumps.end() && f.body.holds(jump->first);
  if (p.in.options.debuggable || !f.has_closures || !f.constructs.empty() || f.execution != nullptr || jumps)
    return names;
  const std::map<const VarDecl*, const closure_declaration*> users = variables_of_closures(p.in, f);
  for (const closure_declaration& c : p.in.unit.closures_in(f.body)) {
    if (c.body.empty() || c.forward != nullptr || p.in.index.function_at(c.whole.begin) != &f) continue;
    std::string stores;
    for (const auto& [variable, user] : users) {
      if (user != &c || !lives_in_frame(p, variable, c, f, scope)) continue;
      const token_index declared = p.in.index.declared.at(variable);
      if (!p.function.frame_numbers.contains(&c)) p.function.frame_numbers[&c] = ++p.names.closure_count;
      const std::string name = variable->getNameAsString();
      const std::string member = "sukima_c" + std::to_string(p.function.frame_numbers[&c]) + "." + name;
      SUKIMA_ASSERT(!names.contains(variable), "a variable is in the frame of one closure");
      p.function.in_frame[&c].push_back(variable);
      names[variable] = member;
      if (isa<ParmVarDecl>(variable)) {
        stores.append(" ").append(member).append(" = ").append(name).append(";");
      } else {
        const local_declaration& d = *sole_declaration(p, variable, f);
        SUKIMA_ASSERT(!p.function.placed.contains(d.tokens.begin), "a declaration is replaced once");
        const bool initialised = p.in.unit.tokens[declared + 1].is(tok::equal);
        p.function.placed[d.tokens.begin] = {
            d.tokens.end, member, {initialised ? declared + 2 : d.tokens.end - 1, d.tokens.end - 1}};
      }
    }
    const auto number = p.function.frame_numbers.find(&c);
    if (number == p.function.frame_numbers.end()) continue;
    const token_index block = p.in.unit.block_around(c.whole.begin).begin;
    const token_range labels = label_declarations(p.in, block + 1);
    const std::string own = std::to_string(number->second);
    std::string& text = p.function.after_token[labels.empty() ? block : labels.end - 1];
    text.append(" struct ").append(base_name(scope)).append("_").append(c.name).append("_").append(own);
    text.append(" sukima_c").append(own).append(";").append(stores);
  }
  return names;
}

void plan_placed(planner& p, sheet& out, const placed_variable& one, const context& scope) {
  if (one.value.empty()) {
    out.token(";", false);
    return;
  }
  out.go_to(p.in.unit.tokens[one.value.begin].getLocation());
  out.token(one.member + " = (", true);
  plan_tokens(p, out, one.value, scope);
  out.text(");");
}

}  // namespace sukima::language
