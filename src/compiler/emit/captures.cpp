// SPDX-License-Identifier: Apache-2.0
// Which variables outlined blocks use, and how they reach them through records.
#include "emit/emitter.hpp"
#include "emit/types.hpp"

namespace sukima::language {

using namespace clang;

const VarDecl* emitter::variable_at(token_index t) const {
  if (unit_.roles[t] == token_role::parsed_only) return nullptr;
  const auto name = index_.names.find(t);
  return name == index_.names.end() ? nullptr : dyn_cast<VarDecl>(name->second);
}

bool emitter::uses(token_range range, const VarDecl* variable) const {
  for (token_index t = range.begin; t < range.end; ++t)
    if (variable_at(t) == variable) return true;
  return false;
}

/// Nobody can change the variable from the construct's start to its end, and it has a value at the start.
bool emitter::keeps_its_value(const VarDecl* variable, const construct& c, const function_info& f) const {
  const QualType type = variable->getType();
  if (!type->isScalarType() || type.isVolatileQualified() || type->isAtomicType() ||
      !variable->hasLocalStorage() || is_put_in(variable))
    return false;
  if (index_.closure_variables.contains(variable)) return true;
  bool has_value = is_parameter(variable) || variable->hasInit();
  for (const construct* outer = &c; outer != nullptr && !has_value; outer = outer->parent)
    has_value = outer->variable != no_token && index_.declared.at(variable) == outer->variable;
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
      if (needs_what_stays(t, used)) continue;
      if (variable == nullptr || variable->isFileVarDecl() || !seen.insert(variable).second) continue;
      if (variable->isLocalExternDecl() || renamed_.contains(variable->getCanonicalDecl())) continue;
      const auto declared = index_.declared.find(variable);
      if (declared == index_.declared.end()) continue;
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
      const function_info& owner = owner_of(variable, where);
      const bool by_value = where.copies.contains(variable) ||
                            (owner.closure == where.function->closure && keeps_its_value(variable, c, owner));
      result.push_back({variable, by_value});
      try {
        const std::vector<std::string> lengths = variable_lengths(variable->getType(), "x");
        (void)language::declare(variable->getType(), "", {ast_, !options_.sequential, &renamed_, &lengths});
      } catch (const unprintable_type& problem) {
        result.pop_back();
        report(unit_.tokens[t].getLocation(),
               "'" + variable->getNameAsString() + "' cannot be used in this block: " + problem.reason);
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

namespace {

/// The member that holds length number k of a variable's type.
std::string length_member(const VarDecl* variable, std::size_t k) {
  return "sukima_length" + std::to_string(k) + "_" + variable->getNameAsString();
}

std::vector<std::string> lengths_of(const captured& one, const std::string& variable) {
  return variable_lengths(one.variable->getType(), variable);
}

}  // namespace

/// Types of variable length have no name outside of their function: the lengths are captured, too.
std::string emitter::fields(const std::vector<captured>& captures) {
  std::string text;
  for (const captured& one : captures) {
    const QualType type = one.variable->getType();
    const std::string name = one.variable->getNameAsString();
    if (type->isVariablyModifiedType()) {
      text += " void *" + name + ";";
      for (std::size_t k = 0; k < lengths_of(one, name).size(); ++k)
        text += " sukima_size " + length_member(one.variable, k) + ";";
    } else {
      text += " " +
              (one.by_value ? declare_unqualified(type, name) : declare(ast_.getPointerType(type), name)) +
              ";";
    }
  }
  return text;
}

std::string emitter::fill(const std::string& record, const std::vector<captured>& captures,
                          const context& where) {
  std::string text;
  for (const captured& one : captures) {
    const bool lengths = one.variable->getType()->isVariablyModifiedType();
    const std::string name = name_in(one.variable, where);
    text += " " + record + "->" + one.variable->getNameAsString() + " = " + (lengths ? "(void *)" : "") +
            (one.by_value ? "" : "&") + name + ";";
    if (!lengths) continue;
    std::size_t k = 0;
    for (const std::string& length : lengths_of(one, name))
      text += " " + record + "->" + length_member(one.variable, k++) + " = " + length + ";";
  }
  return text;
}

std::string emitter::bind(const captured& one, const std::string& record, context& inside) const {
  const std::string name = one.variable->getNameAsString();
  const std::string member = record + "->" + name;
  const QualType type = one.variable->getType();
  if (type->isVariablyModifiedType()) {
    std::vector<std::string> lengths = lengths_of(one, name);
    for (std::size_t k = 0; k < lengths.size(); ++k)
      lengths[k] = record + "->" + length_member(one.variable, k);
    const type_style style{ast_, !options_.sequential, &renamed_, &lengths};
    if (one.by_value) {
      inside.names.erase(one.variable);
      inside.copies.insert(one.variable);
      return " " + language::declare(type, name, style) + " = " + member + ";";
    }
    const std::string pointer = "sukima_at_" + name;
    inside.names[one.variable] = "(*" + pointer + ")";
    return " " + language::declare(ast_.getPointerType(type).withConst(), pointer, style) + " = " + member +
           ";";
  }
  if (one.by_value) {
    inside.names.erase(one.variable);
    inside.copies.insert(one.variable);
    return " " + declare(type, name) + " = " + member + ";";
  }
  inside.names[one.variable] = "(*" + member + ")";
  return "";
}

/// Functions and variables that the user declared in the function only, as `extern int f(int);`.
std::string emitter::local_prototypes(const std::vector<token_range>& used) const {
  std::string text;
  std::set<const NamedDecl*> seen;
  for (const token_range& range : used)
    for (token_index t = range.begin; t < range.end; ++t) {
      const auto name = index_.names.find(t);
      if (name == index_.names.end() || unit_.roles[t] == token_role::parsed_only) continue;
      const auto* value = dyn_cast<ValueDecl>(name->second);
      if (value == nullptr || !value->isLocalExternDecl() || !seen.insert(value).second) continue;
      const auto* function = dyn_cast<FunctionDecl>(value);
      if (function != nullptr && is_worker_type(function->getType())) continue;  // declared in front
      const token_index place = unit_.find(value->getLocation());
      if (place != no_token && range.holds(place)) continue;
      text += " extern " + declare(value->getType(), value->getNameAsString()) + ";";
    }
  return text;
}

/// Reports a type that the block uses and that could not be moved out of the function.
bool emitter::needs_what_stays(token_index t, const std::vector<token_range>& used) {
  const auto name = index_.names.find(t);
  if (name == index_.names.end() || unit_.roles[t] == token_role::parsed_only) return false;
  const NamedDecl* declaration = name->second;
  if (!isa<TypeDecl>(declaration) && !isa<EnumConstantDecl>(declaration)) return false;
  const Decl* type =
      isa<EnumConstantDecl>(declaration) ? cast<Decl>(declaration->getDeclContext()) : declaration;
  const token_index place = unit_.find(type->getBeginLoc());
  if (type->getParentFunctionOrMethod() == nullptr || renamed_.contains(declaration->getCanonicalDecl()) ||
      place == no_token)
    return false;
  for (const token_range& r : used)
    if (r.holds(place)) return false;
  report(unit_.tokens[t].getLocation(),
         "the type of '" + declaration->getNameAsString() +
             "' is declared in the function with the help of its variables; declare it in this block");
  return true;
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
  for (const auto& [variable, place] : found)
    text +=
        bind({variable, place.second}, "sukima_r" + std::to_string(chain[place.first]->c->number), inside);
  return text + local_prototypes(used);
}

void emitter::bind_this(token_range block, const std::string& expression, context& inside) const {
  for (token_index t = block.begin; t < block.end; ++t)
    if (const VarDecl* variable = variable_at(t); variable != nullptr && is_put_in(variable) &&
                                                  variable->getName() == "this" &&
                                                  index_.declared.at(variable) == block.begin)
      inside.names[variable] = expression;
}

}  // namespace sukima::language
