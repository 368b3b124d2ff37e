// SPDX-License-Identifier: Apache-2.0
// Which variables outlined blocks use, and how they reach them through records.
#include "emit/emitter.hpp"
#include "emit/types.hpp"

namespace sukima::language {

using namespace clang;

const VarDecl* emitter::variable_at(token_index t) const {
  if (unit_.roles[t] == token_role::hidden) return nullptr;
  const auto name = facts_.names.find(t);
  return name == facts_.names.end() ? nullptr : dyn_cast<VarDecl>(name->second);
}

bool emitter::uses(token_range range, const VarDecl* variable) const {
  for (token_index t = range.begin; t < range.end; ++t)
    if (variable_at(t) == variable) return true;
  return false;
}

/// Nobody can change the variable from the construct's start to its end, and it has a value at the start.
bool emitter::keeps_its_value(const VarDecl* variable, const construct& c, const function_facts& f) const {
  const QualType type = variable->getType();
  if (!type->isScalarType() || type.isVolatileQualified() || type->isAtomicType() ||
      !variable->hasLocalStorage() || is_put_in(variable))
    return false;
  if (facts_.closure_variables.contains(variable)) return true;
  bool has_value = is_parameter(variable) || variable->hasInit();
  for (const construct* outer = &c; outer != nullptr && !has_value; outer = outer->parent)
    has_value = outer->variable != no_token && facts_.declared.at(variable) == outer->variable;
  if (!has_value || f.address_taken.contains(variable)) return false;
  const auto [first, last] = f.changes.equal_range(variable);
  for (auto change = first; change != last; ++change)
    if (change->second == no_token || c.whole.holds(change->second)) return false;
  return true;
}

std::vector<captured> emitter::captures_of(const construct& c, const std::vector<token_range>& used,
                                           const context& where) {
  std::vector<captured> result;
  std::set<const VarDecl*> seen;
  for (const token_range& range : used) {
    for (token_index t = range.begin; t < range.end; ++t) {
      const VarDecl* variable = variable_at(t);
      if (variable == nullptr || variable->isFileVarDecl() || !seen.insert(variable).second) continue;
      if (variable->isLocalExternDecl()) continue;
      const auto declared = facts_.declared.find(variable);
      if (declared == facts_.declared.end()) continue;
      // Declared in the block itself, or bound by the construct.
      bool own = false;
      for (const token_range& r : used) own = own || r.holds(declared->second);
      if (own) continue;
      if (is_put_in(variable) &&
          (variable->getName() != "this" || unit_.roles[declared->second] != token_role::keyword))
        continue;
      if (c.kind == construct_kind::loop && declared->second == c.variable) continue;
      bool known = false;
      for (const level& outer : where.levels)
        for (const captured& one : outer.captures) known = known || one.variable == variable;
      if (known && !options_.sequential) continue;
      const function_facts& owner = owner_of(variable, where);
      const bool by_value = where.copies.contains(variable) ||
                            (owner.closure == where.function->closure && keeps_its_value(variable, c, owner));
      result.push_back({variable, by_value});
      try {
        (void)declare(ast_.getPointerType(variable->getType()), "");
      } catch (const unprintable_type& problem) {
        result.pop_back();
        report(unit_.tokens[t].getLocation(),
               "'" + variable->getNameAsString() + "' cannot be used in this block: " + problem.reason +
                   (variable->getType()->isVariablyModifiedType()
                        ? "; declare a pointer to its first element in front of the "
                          "construct and use that"
                        : ""));
      }
    }
  }
  return result;
}

std::string emitter::name_in(const VarDecl* variable, const context& where) const {
  const auto own = where.names.find(variable);
  if (own != where.names.end()) return own->second;
  return is_put_in(variable) && variable->getName() == "this" ? "(*sukima_this)"
                                                              : variable->getNameAsString();
}

std::string emitter::fields(const std::vector<captured>& captures) {
  std::string text;
  for (const captured& one : captures) {
    const QualType type = one.variable->getType();
    text += " " +
            (one.by_value ? declare_unqualified(type, one.variable->getNameAsString())
                          : declare(ast_.getPointerType(type), one.variable->getNameAsString())) +
            ";";
  }
  return text;
}

std::string emitter::fill(const std::string& record, const std::vector<captured>& captures,
                          const context& where) {
  std::string text;
  for (const captured& one : captures)
    text += " " + record + "->" + one.variable->getNameAsString() + " = " + (one.by_value ? "" : "&") +
            name_in(one.variable, where) + ";";
  return text;
}

std::string emitter::reach(const level& own, const context& outside, const std::vector<token_range>& used,
                           context& inside) {
  std::string text;
  // The records of one function lie side by side: the outer one ends where the inner one begins.
  std::vector<const level*> chain{&own};
  if (!options_.sequential)
    for (std::size_t k = outside.levels.size(); k > 0; --k) chain.push_back(&outside.levels[k - 1]);
  std::size_t deepest = 0;
  std::map<const VarDecl*, std::pair<std::size_t, bool>> found;
  for (const token_range& range : used)
    for (token_index t = range.begin; t < range.end; ++t)
      if (const VarDecl* variable = variable_at(t))
        for (std::size_t k = 0; k < chain.size() && !found.contains(variable); ++k)
          for (const captured& one : chain[k]->captures)
            if (one.variable == variable) {
              found[variable] = {k, one.by_value};
              deepest = std::max(deepest, k);
            }
  std::string previous;
  for (std::size_t k = 0; k <= deepest && !(k == 0 && found.empty()); ++k) {
    const std::string type = "struct " + base_name(outside) + "_" + std::to_string(chain[k]->c->number);
    const std::string name = "sukima_r" + std::to_string(chain[k]->c->number);
    const std::string address =
        k == 0 ? "(" + type + " *)sukima_r" : "(" + type + " *)(void *)" + previous + " - 1";
    text += " " + type + " *const " + name + " = " + address + ";";
    previous = name;
  }
  for (const auto& [variable, place] : found) {
    const std::string name = variable->getNameAsString();
    const std::string member = "sukima_r" + std::to_string(chain[place.first]->c->number) + "->" + name;
    if (place.second) {
      text +=
          " " + declare(variable->getType().getUnqualifiedType().withConst(), name) + " = " + member + ";";
      inside.names.erase(variable);
      inside.copies.insert(variable);
    } else {
      inside.names[variable] = "(*" + member + ")";
    }
  }
  return text;
}

void emitter::bind_this(token_range block, const std::string& expression, context& inside) const {
  for (token_index t = block.begin; t < block.end; ++t)
    if (const VarDecl* variable = variable_at(t); variable != nullptr && is_put_in(variable) &&
                                                  variable->getName() == "this" &&
                                                  facts_.declared.at(variable) == block.begin)
      inside.names[variable] = expression;
}

}  // namespace sukima::language
