// SPDX-License-Identifier: Apache-2.0
// Variables that live in the record of a closure. Where only one closure changes a plain variable of its own
// block (or a parameter), the variable is a member of the record: that saves the record an address, and the
// function a store, in each of its calls.
#include "emit/emitter.hpp"

namespace sukima::language {

using namespace clang;

namespace {

bool is_plain(const VarDecl* variable) {
  const QualType type = variable->getType();
  return type->isScalarType() && !type->isAtomicType() && !type.isVolatileQualified() &&
         !type.isConstQualified() && !type->isVariablyModifiedType() && variable->hasLocalStorage() &&
         !variable->hasAttrs();
}

}  // namespace

/// The declaration statement of one variable alone, with an expression as its initial value or none.
const local_declaration* emitter::sole_declaration(const VarDecl* variable, const function_info& f) const {
  const token_index name = index_.declared.at(variable);
  for (const local_declaration& d : f.declarations) {
    if (d.declared.size() != 1 || d.declared.front() != variable) continue;
    if (moved_.contains(d.tokens.begin) || isa_and_nonnull<InitListExpr>(variable->getInit())) return nullptr;
    for (token_index t = d.tokens.begin; t < d.tokens.end; ++t)
      if (unit_.roles[t] != token_role::user || unit_.tokens[t].getLocation().isMacroID() ||
          unit_.tokens[t].is(tok::l_brace) || closure_at_.contains(t))
        return nullptr;
    const bool initialised = unit_.tokens[name + 1].is(tok::equal) && variable->hasInit();
    return initialised || name + 2 == d.tokens.end ? &d : nullptr;
  }
  return nullptr;
}

/// Can the variable live in the record of this closure, which is declared in this function?
bool emitter::lives_in_record(const VarDecl* variable, const closure_declaration& c, const function_info& f,
                              const context& where) const {
  if (!is_plain(variable) || !uses(c.whole, variable) || is_final_at_birth(variable, c, where)) return false;
  for (const closure_declaration& other : unit_.closures)
    if (&other != &c && !c.whole.holds(other.whole) && uses(other.whole, variable)) return false;
  const token_range block = unit_.block_around(c.whole.begin);
  const token_index declared = index_.declared.at(variable);
  if (const auto* parameter = dyn_cast<ParmVarDecl>(variable))
    return parameter->getDeclContext() == f.declaration && block.begin == f.body.begin;
  return declared < c.whole.begin && unit_.block_around(declared).begin == block.begin &&
         index_.function_at(declared) == &f && sole_declaration(variable, f) != nullptr;
}

/// Finds these variables of a function. \returns their names in its body
std::map<const VarDecl*, std::string> emitter::place_in_records(const function_info& f,
                                                                const context& where) {
  std::map<const VarDecl*, std::string> names;
  in_record_.clear();
  numbers_.clear();
  placed_.clear();
  const bool jumps = std::any_of(index_.closure_jumps.begin(), index_.closure_jumps.end(),
                                 [&f](const auto& j) { return f.body.holds(j.first); });
  if (!f.has_closures || !f.constructs.empty() || f.execution != nullptr || jumps) return names;
  for (const closure_declaration& c : unit_.closures) {
    if (c.body.empty() || c.forward != nullptr || !f.body.holds(c.whole) ||
        index_.function_at(c.whole.begin) != &f)
      continue;
    std::string stores;
    for (const auto& [variable, declared] : index_.declared) {
      if (!lives_in_record(variable, c, f, where)) continue;
      if (!numbers_.contains(&c)) numbers_[&c] = ++closures_printed_;
      const std::string name = variable->getNameAsString();
      const std::string member = "sukima_c" + std::to_string(numbers_[&c]) + "." + name;
      in_record_[&c].push_back(variable);
      names[variable] = member;
      if (isa<ParmVarDecl>(variable)) {
        stores += " " + member + " = " + name + ";";
      } else {
        const local_declaration& d = *sole_declaration(variable, f);
        const bool initialised = unit_.tokens[declared + 1].is(tok::equal);
        placed_[d.tokens.begin] = {
            d.tokens.end, member, {initialised ? declared + 2 : d.tokens.end - 1, d.tokens.end - 1}};
      }
    }
    const auto number = numbers_.find(&c);
    if (number == numbers_.end()) continue;
    const token_index block = unit_.block_around(c.whole.begin).begin;
    const token_range labels = label_declarations(block + 1);
    const std::string own = std::to_string(number->second);
    behind_token_[labels.empty() ? block : labels.end - 1] +=
        " struct " + base_name(where) + "_" + c.name + "_" + own + " sukima_c" + own + ";" + stores;
  }
  return names;
}

/// What stands for the declaration of such a variable.
void emitter::print_placed(writer& out, const placed_variable& one, const context& where) {
  if (one.value.empty()) {
    out.token(";", false);
    return;
  }
  go_to(out, unit_.tokens[one.value.begin].getLocation());
  out.token(one.member + " = (", true);
  print(out, one.value, where);
  out.text(");");
}

}  // namespace sukima::language
