// SPDX-License-Identifier: Apache-2.0
#include "plan/captures.hpp"

#include "plan/names.hpp"
#include "plan/tokens.hpp"
#include "plan/types.hpp"

namespace sukima::language {

using namespace clang;

namespace {

/// The name of the member with length number k of a variable's type.
std::string length_member(const VarDecl* variable, std::size_t k) {
  return "sukima_length" + std::to_string(k) + "_" + variable->getNameAsString();
}

std::vector<std::string> lengths_of(const captured& one, const std::string& variable) {
  return variable_lengths(one.variable->getType(), variable);
}

/// Returns whether the variable has a value at the start of the construct, and no code changes it until the
/// construct ends.
bool keeps_its_value(const plan_input& in, const VarDecl* variable, const construct& c,
                     const function_info& f) {
  const QualType type = variable->getType();
  if (!type->isScalarType() || type.isVolatileQualified() || type->isAtomicType() ||
      !variable->hasLocalStorage() || is_put_in(in, variable))
    return false;
  if (in.ast.getTypeAlignInChars(type).getQuantity() > 16) return false;  // choice points have this alignment
  if (in.index.closure_variables.contains(variable)) return true;
  bool has_value = is_parameter(in, variable) || variable->hasInit();
  for (const construct* outer = &c; outer != nullptr && !has_value; outer = outer->parent)
    has_value = outer->variable != no_token && in.index.declared.at(variable) == outer->variable;
  if (!has_value || f.address_taken.contains(variable)) return false;
  return !f.changes_in_closure(variable) && !f.changes_in(variable, c.whole) &&
         !changes_while_asleep(in, variable, c.whole, f);
}

}  // namespace

bool changes_while_asleep(const plan_input& in, const VarDecl* variable, token_range within,
                          const function_info& f) {
  for (const construct* c = in.unit.construct_around(within.begin); c != nullptr; c = c->around) {
    if (!c->whole.holds(within) || !f.body.holds(c->whole)) continue;
    for (const token_range& block : {c->put, c->before, c->after, c->guard, c->split})
      if (f.changes_in(variable, block)) return true;
  }
  return false;
}

bool needs_local_type(const planner& p, token_index token, const std::vector<token_range>& used) {
  const auto name = p.in.index.names.find(token);
  if (name == p.in.index.names.end() || p.in.unit.roles[token] == token_role::parsed_only) return false;
  const NamedDecl* declaration = name->second;
  if (!isa<TypeDecl>(declaration) && !isa<EnumConstantDecl>(declaration)) return false;
  const Decl* type =
      isa<EnumConstantDecl>(declaration) ? cast<Decl>(declaration->getDeclContext()) : declaration;
  const token_index place = p.in.unit.find(type->getBeginLoc());
  if (type->getParentFunctionOrMethod() == nullptr ||
      p.names.renamed.contains(declaration->getCanonicalDecl()) || place == no_token)
    return false;
  for (const token_range& r : used)
    if (r.holds(place)) return false;
  report(p.in, p.in.unit.tokens[token].getLocation(),
         "the type of '" + declaration->getNameAsString() +
             "' depends on variables of the function; declare the type in this block");
  return true;
}

std::vector<captured> captures_of(const planner& p, const construct& c, const std::vector<token_range>& used,
                                  const context& scope) {
  std::vector<captured> result;
  std::set<const VarDecl*> seen;
  for (const token_range& range : used) {
    for (token_index t = range.begin; t < range.end; ++t) {
      const VarDecl* variable = variable_at(p.in, t);
      if (needs_local_type(p, t, used)) continue;
      if (variable == nullptr || variable->isFileVarDecl() || !seen.insert(variable).second) continue;
      if (variable->isLocalExternDecl() || p.names.renamed.contains(variable->getCanonicalDecl())) continue;
      const auto declared = p.in.index.declared.find(variable);
      if (declared == p.in.index.declared.end()) continue;
      // The variable is declared in the block itself, or by the construct.
      bool own = false;
      for (const token_range& r : used) own = own || r.holds(declared->second);
      if (own) continue;
      if (is_put_in(p.in, variable) &&
          (variable->getName() != "this" || p.in.unit.roles[declared->second] != token_role::keyword))
        continue;
      if (c.kind == construct_kind::loop && declared->second == c.variable) continue;
      bool known = false;
      for (const level& outer : scope.levels)
        for (const captured& one : outer.captures) known = known || one.variable == variable;
      if (known && !p.in.options.sequential) continue;
      const function_info& owner = owner_of(p.in, variable, scope);
      const bool by_value = scope.copies.contains(variable) || (owner.closure == scope.function->closure &&
                                                                keeps_its_value(p.in, variable, c, owner));
      result.push_back({variable, by_value});
      try {
        const std::vector<std::string> lengths = variable_lengths(variable->getType(), "x");
        (void)language::declare(
            variable->getType(), "",
            {p.in.ast, !p.in.options.sequential, &p.names.renamed, &lengths, &p.in.index.variable_names});
      } catch (const unprintable_type& problem) {
        result.pop_back();
        report(p.in, p.in.unit.tokens[t].getLocation(),
               "'" + variable->getNameAsString() + "' cannot be used in this block: " + problem.reason);
      }
    }
  }
  SUKIMA_ASSERT(have_own_names(result), "the members of a choice point have different names");
  return result;
}

bool have_own_names(const std::vector<captured>& captures) {
  std::set<StringRef> names;
  return std::ranges::all_of(
      captures, [&names](const captured& one) { return names.insert(one.variable->getName()).second; });
}

std::string capture_fields(const planner& p, const std::vector<captured>& captures) {
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
              (one.by_value ? declare_unqualified(p, type, name)
                            : declare(p, p.in.ast.getPointerType(type), name)) +
              ";";
    }
  }
  return text;
}

std::string fill_captures(const planner& p, const std::string& point, const std::vector<captured>& captures,
                          const context& scope) {
  std::string text;
  for (const captured& one : captures) {
    const QualType type = one.variable->getType();
    const bool lengths = type->isVariablyModifiedType();
    const std::string name = name_in(p.in, one.variable, scope);
    const std::string member = point + "->" + one.variable->getNameAsString();
    if (one.by_value && !lengths)
      text.append(" ").append(assign(p, type, member, name));
    else
      text.append(" ")
          .append(member)
          .append(" = ")
          .append(lengths ? "(void *)" : "")
          .append(one.by_value ? "" : "&")
          .append(name)
          .append(";");
    if (!lengths) continue;
    SUKIMA_ASSERT(!lengths_of(one, name).empty() || !one.by_value, "a copy of an array knows its lengths");
    std::size_t k = 0;
    for (const std::string& length : lengths_of(one, name))
      text.append(" ")
          .append(point)
          .append("->")
          .append(length_member(one.variable, k++))
          .append(" = ")
          .append(length)
          .append(";");
  }
  return text;
}

std::string bind_capture(const planner& p, const captured& one, const std::string& point, context& inside) {
  const std::string name = one.variable->getNameAsString();
  const std::string member = point + "->" + name;
  const QualType type = one.variable->getType();
  if (type->isVariablyModifiedType()) {
    std::vector<std::string> lengths = lengths_of(one, name);
    for (std::size_t k = 0; k < lengths.size(); ++k)
      lengths[k] = point + "->" + length_member(one.variable, k);
    const type_style style{p.in.ast, !p.in.options.sequential, &p.names.renamed, &lengths,
                           &p.in.index.variable_names};
    if (one.by_value) {
      inside.names.erase(one.variable);
      inside.copies.insert(one.variable);
      return " " + language::declare(type, name, style) + " = " + member + ";";
    }
    const std::string pointer = "sukima_at_" + name;
    inside.names[one.variable] = "(*" + pointer + ")";
    return " " + language::declare(p.in.ast.getPointerType(type).withConst(), pointer, style) + " = " +
           member + ";";
  }
  if (one.by_value) {
    inside.names.erase(one.variable);
    inside.copies.insert(one.variable);
    return " " + declare(p, type, name) + " = " + member + ";";
  }
  // The pointer has the variable's name, so that a debugger accepts `print *total`.
  inside.names[one.variable] = "(*" + name + ")";
  return " " + declare(p, p.in.ast.getPointerType(type).withConst(), name) + " = " + member + ";";
}

std::string local_prototypes(const planner& p, const std::vector<token_range>& used) {
  std::string text;
  std::set<const NamedDecl*> seen;
  for (const token_range& range : used)
    for (token_index t = range.begin; t < range.end; ++t) {
      const auto name = p.in.index.names.find(t);
      if (name == p.in.index.names.end() || p.in.unit.roles[t] == token_role::parsed_only) continue;
      const auto* value = dyn_cast<ValueDecl>(name->second);
      if (value == nullptr || !value->isLocalExternDecl() || !seen.insert(value).second) continue;
      const auto* function = dyn_cast<FunctionDecl>(value);
      if (function != nullptr && is_worker_type(function->getType())) continue;  // already declared
      const token_index place = p.in.unit.find(value->getLocation());
      if (place != no_token && range.holds(place)) continue;
      text += " extern " + declare(p, value->getType(), value->getNameAsString()) + ";";
    }
  return text;
}

std::string reach_captures(planner& p, const level& own, const context& outside,
                           const std::vector<token_range>& used, context& inside) {
  std::string text;
  // The choice points of one function are adjacent: the outer one ends where the inner one begins.
  std::vector<const level*> chain{&own};
  if (!p.in.options.sequential)
    for (std::size_t k = outside.levels.size(); k > 0; --k)
      if (!outside.levels[k - 1].choice_point.empty()) chain.push_back(&outside.levels[k - 1]);
  std::size_t deepest = 0;
  std::map<const VarDecl*, std::pair<std::size_t, bool>> found;
  for (const token_range& range : used)
    for (token_index t = range.begin; t < range.end; ++t)
      if (const VarDecl* variable = variable_at(p.in, t))
        for (std::size_t k = 0; k < chain.size() && !found.contains(variable); ++k)
          for (const captured& one : chain[k]->captures)
            if (one.variable == variable) {
              found[variable] = {k, one.by_value};
              deepest = std::max(deepest, k);
            }
  SUKIMA_ASSERT(deepest < chain.size(), "a captured variable is in one of the choice points around");
  std::string previous;
  for (std::size_t k = 0; k <= deepest && !(k == 0 && found.empty()); ++k) {
    const std::string type =
        "struct " + base_name(*chain[k]->outside) + "_" + std::to_string(chain[k]->c->number);
    const std::string name = "sukima_r" + std::to_string(chain[k]->c->number);
    text.append(" ").append(type).append(" *const ").append(name).append(" = (").append(type);
    text.append(k == 0 ? " *)sukima_r" : " *)(void *)" + previous + " - 1").append(";");
    previous = name;
  }
  for (const auto& [variable, place] : found)
    text += bind_capture(p, {variable, place.second},
                         "sukima_r" + std::to_string(chain[place.first]->c->number), inside);
  return text + local_prototypes(p, used);
}

void bind_this(const plan_input& in, token_range block, const std::string& expression, context& inside) {
  for (token_index t = block.begin; t < block.end; ++t)
    if (const VarDecl* variable = variable_at(in, t); variable != nullptr && is_put_in(in, variable) &&
                                                      variable->getName() == "this" &&
                                                      in.index.declared.at(variable) == block.begin)
      inside.names[variable] = expression;
}

}  // namespace sukima::language
