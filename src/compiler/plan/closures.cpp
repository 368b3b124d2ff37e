// SPDX-License-Identifier: Apache-2.0
#include "plan/closures.hpp"

#include "plan/captures.hpp"
#include "plan/names.hpp"
#include "plan/tokens.hpp"
#include "plan/types.hpp"
#include "plan/unwind.hpp"
#include "source/implicit_names.hpp"

namespace sukima::language {

using namespace clang;

namespace {

const closure_declaration& definition_of(const closure_declaration& c) {
  return c.body.empty() && c.definition != nullptr ? *c.definition : c;
}

token_index birth_of(const closure_declaration& c) {
  return c.forward != nullptr ? c.forward->whole.begin : c.whole.begin;
}

}  // namespace

bool is_final_at_birth(const plan_input& in, const VarDecl* variable, const closure_declaration& c,
                       const context& scope) {
  if (scope.copies.contains(variable)) return true;
  const QualType type = variable->getType();
  if (is_put_in(in, variable)) return variable->getName() != "this";
  if (!type->isScalarType() || type.isVolatileQualified() || type->isAtomicType() ||
      !variable->hasLocalStorage())
    return false;
  if (in.index.closure_variables.contains(variable)) return true;
  if (scope.names.contains(variable)) return false;
  const function_info& owner = owner_of(in, variable, scope);
  if (owner.closure != scope.function->closure) return false;
  const token_index declared = in.index.declared.at(variable);
  bool has_value = is_parameter(in, variable) || variable->hasInit();
  for (const construct* l : owner.constructs) has_value |= l->variable == declared;
  if (!has_value || owner.address_taken.contains(variable)) return false;
  const token_range block = in.unit.block_around(c.whole.begin);
  const token_index birth = std::max(birth_of(c), declared);
  bool comes_back = false;
  for (const auto& [label, t] : in.index.all_labels) comes_back |= block.holds(t);
  const token_range after_birth{comes_back ? block.begin : std::max(birth, block.begin), block.end};
  return !owner.changes_in_closure(variable) && !owner.changes_in(variable, after_birth) &&
         !changes_while_asleep(in, variable, block, owner);
}

namespace {

std::vector<captured> captures_of_closure(const planner& p, const closure_declaration& c,
                                          const context& scope) {
  std::vector<captured> result;
  std::set<const VarDecl*> seen;
  for (token_index t = c.whole.begin; t < c.whole.end; ++t) {
    const VarDecl* variable = variable_at(p.in, t);
    if (needs_local_type(p, t, {c.whole})) continue;
    if (variable == nullptr || variable->isFileVarDecl() || variable->isLocalExternDecl() ||
        p.names.renamed.contains(variable->getCanonicalDecl()))
      continue;
    const auto declared = p.in.index.declared.find(variable);
    if (declared == p.in.index.declared.end() || c.whole.holds(declared->second)) continue;
    if (const auto own = p.in.index.closure_variables.find(variable);
        own != p.in.index.closure_variables.end() && &definition_of(*own->second) == &c)
      continue;
    const auto members = p.function.in_frame.find(&c);
    if (members != p.function.in_frame.end() &&
        std::find(members->second.begin(), members->second.end(), variable) != members->second.end())
      continue;
    if (!seen.insert(variable).second) continue;
    try {
      const std::vector<std::string> lengths = variable_lengths(variable->getType(), "x");
      (void)language::declare(
          variable->getType(), "",
          {p.in.ast, !p.in.options.sequential, &p.names.renamed, &lengths, &p.in.index.variable_names});
      result.push_back({variable, is_final_at_birth(p.in, variable, c, scope)});
    } catch (const unprintable_type& problem) {
      report(p.in, p.in.unit.tokens[t].getLocation(),
             "'" + variable->getNameAsString() + "' cannot be used in a closure: " + problem.reason);
    }
  }
  SUKIMA_ASSERT(have_own_names(result), "the members of a closure's frame have different names");
  return result;
}

/// Returns whether the frame must hold the value of `backtracking`, which is a parameter at the closure's
/// declaration.
bool captures_backtracking(const planner& p, const closure_declaration& c, const context& scope) {
  if (scope.backtracking == "0" || scope.backtracking == "1") return false;
  for (token_index t = c.whole.begin; t < c.whole.end; ++t)
    if (const VarDecl* variable = variable_at(p.in, t); variable != nullptr && is_backtracking(variable))
      return true;
  return false;
}

/// Returns the text of the declaration with another declarator for the closure's name.
std::string closure_heading(planner& p, const closure_declaration& c, const std::string& name,
                            const std::string& first_parameters, const context& scope,
                            bool is_definition = false) {
  const token_range words{c.type, c.name_token - 3};
  std::string parameters = text_of(p, {c.parameters.begin + 1, c.parameters.end - 1}, scope);
  if (parameters == "void") parameters.clear();
  std::string all = first_parameters;
  if (!parameters.empty()) all += (all.empty() ? "" : ", ") + parameters;
  if (all.empty()) all = "void";
  std::string rest = text_of(p, c.rest, scope);
  // A definition has its attributes only in its prototype.
  if (is_definition && rest.starts_with("__attribute__")) rest.clear();
  return text_of(p, words, scope) + " " + name + "(" + all + ")" + (rest.empty() ? "" : " ") + rest;
}

/// Declares the frame and the closure's own variable, and stores the values that are known there.
void begin_closure(planner& p, sheet& out, const closure_declaration& c, const context& scope) {
  const closure_declaration& d = definition_of(c);
  const auto known = p.function.frame_numbers.find(&c);
  const std::string number =
      std::to_string(known != p.function.frame_numbers.end() ? known->second : ++p.names.closure_count);
  const std::string name = base_name(scope) + "_" + c.name + "_" + number;
  const std::vector<captured> captures = captures_of_closure(p, d, scope);
  SUKIMA_ASSERT(c.forward == nullptr, "the first declaration of a closure declares its frame");
  p.names.closures[&d] = {name, captures};
  std::string members;
  for (const VarDecl* variable : p.function.in_frame[&d])
    members += " " + declare(p, variable->getType(), variable->getNameAsString()) + ";";
  p.out.before_function.text("struct " + name + " { sukima_closure sukima_head;" + members +
                             capture_fields(p, captures) + exit_fields(p.in, d) +
                             (captures_backtracking(p, d, scope) ? " int sukima_backtracking;" : "") +
                             " };\n");
  const bool is_worker = c.is_worker && !p.in.options.sequential;
  const std::string heading = closure_heading(
      p, d, name, is_worker ? "char *sukima_top, void *sukima_self" : "void *sukima_self", scope);
  p.out.before_function.text("static " + heading + ";\n");
  const std::string frame = "sukima_c" + number;
  out.token((known != p.function.frame_numbers.end() ? "" : "struct " + name + " " + frame + "; ") + frame +
                ".sukima_head.sukima_code = (void (*)(void))" + name + ";",
            true);
  for (const captured& one : captures) {
    const std::string store = fill_captures(p, "(&" + frame + ")", {one}, scope);
    const token_index declared = p.in.index.declared.at(one.variable);
    const bool is_later = declared > c.whole.begin && declared < d.whole.begin;
    if (is_later)
      set_after_declaration(p, c.whole.begin, declared, store);
    else
      out.text(store);
  }
  if (captures_backtracking(p, d, scope))
    out.text(" " + frame + ".sukima_backtracking = " + scope.backtracking + ";");
  std::string pointer = "sukima_closure_pointer(&" + frame + ".sukima_head)";
  if (p.in.options.check_closures)
    pointer = "sukima_ticket_open(&" + block_tickets(p.in, c.whole.begin) + ", &" + frame +
              ".sukima_head, (void (*)(void))" + name + ", \"" + c.name + "\", __FILE__, __LINE__)";
  const std::string variable =
      closure_heading(p, d, "(*const " + c.name + ")", is_worker ? "char *sukima_top" : "", scope);
  out.text(" __extension__ " + variable + " = " + pointer + "; (void)" + c.name + ";");
  begin_exits(p, out, d, frame, scope);  // last: a jump to a setjmp loses later values
}

}  // namespace

void set_after_declaration(planner& p, token_index closure, token_index name, const std::string& text) {
  if (const closure_declaration* const c = p.in.unit.closure_named_at(name)) {
    p.function.after_closure[c][{closure, name}] = text;
    return;
  }
  for (token_index t = name; t < p.in.unit.tokens.size(); ++t) {
    if (p.in.unit.partner[t] != no_token && p.in.unit.partner[t] > t) t = p.in.unit.partner[t];
    if (p.in.unit.tokens[t].is(tok::semi) && p.in.unit.roles[t] == token_role::user) {
      p.function.after_variable[t][{closure, name}] = text;
      return;
    }
  }
}

std::string joined(const later_texts& texts) {
  std::string all;
  for (const auto& [of, text] : texts) all += text;
  return all;
}

void drop_side_texts(planner& p, sheet& out, const closure_declaration& c, const context& scope) {
  const std::vector<side_text>& texts = p.in.unit.source.texts;
  const token_index last = p.in.unit.origins[c.body.end - 1];
  if (scope.is_copy || last == no_token) return;
  for (; p.names.next_text < texts.size() && texts[p.names.next_text].before <= last; ++p.names.next_text) {
    if (!texts[p.names.next_text].changes_macro) continue;
    out.end_line();
    out.go_to(texts[p.names.next_text].location, false);
    out.text(texts[p.names.next_text].text + "\n");
  }
}

namespace {

/// Plans the block as a function over the frame.
void closure_function(planner& p, const closure_declaration& c, const context& scope) {
  const auto [name, captures] = p.names.closures.at(&c);
  const bool is_worker = c.is_worker && !p.in.options.sequential;
  context inside;
  inside.function = p.in.index.info_of(c);
  SUKIMA_ASSERT(inside.function != nullptr, "the block of each closure is indexed");
  inside.closure_name = name;
  inside.is_copy = true;
  const bool is_captured = captures_backtracking(p, c, scope);
  // No variable of ours points to the frame, because debuggers would list it.
  const bool has_ticket = p.in.options.check_closures;
  const std::string frame = has_ticket ? "sukima_c" : "((struct " + name + " *)sukima_self)";
  inside.backtracking = is_captured ? frame + "->sukima_backtracking" : scope.backtracking;
  if (is_worker) inside.top = "sukima_top";
  const std::string first = is_worker ? "char *sukima_top, void *sukima_self" : "void *sukima_self";
  sheet text;
  text.go_to(c.location, false);
  text.text("static " + closure_heading(p, c, name, first, scope, true) + " { (void)sukima_self; ");
  if (is_worker) text.text("(void)sukima_top; ");
  for (const LabelDecl* label : labels_outside(p.in, c))
    inside.exits_here[label] = frame + "->" + exit_member(p.in, label);
  const auto members = p.function.in_frame.find(&c);
  const bool has_members = members != p.function.in_frame.end() && !members->second.empty();
  if (has_ticket && (!captures.empty() || !inside.exits_here.empty() || has_members || is_captured))
    text.text("struct " + name + " *const sukima_c = (struct " + name +
              " *)sukima_ticket_record(sukima_self);");
  for (const captured& one : captures) text.text(bind_capture(p, one, frame, inside));
  if (has_members)
    for (const VarDecl* variable : members->second) {
      const std::string own = variable->getNameAsString();
      text.text(" " + declare(p, p.in.ast.getPointerType(variable->getType()).withConst(), own) + " = &" +
                frame + "->" + own + ";");
      inside.names[variable] = "(*" + own + ")";
    }
  text.text(local_prototypes(p, {c.whole}));
  for (token_index t = c.body.begin; t < c.body.end; ++t) {
    const VarDecl* variable = variable_at(p.in, t);
    const auto own = variable == nullptr ? p.in.index.closure_variables.end()
                                         : p.in.index.closure_variables.find(variable);
    if (own == p.in.index.closure_variables.end() || &definition_of(*own->second) != &c) continue;
    text.text(" __extension__ " +
              closure_heading(p, c, "(*const " + c.name + ")", is_worker ? "char *sukima_top" : "", scope) +
              " = " +
              (p.in.options.check_closures ? "sukima_ticket_pointer(sukima_self)"
                                           : "sukima_closure_pointer((sukima_closure *)sukima_self)") +
              "; (void)" + c.name + ";");
    break;
  }
  text.text(" ");
  text.go_to(p.in.unit.tokens[c.body.begin].getLocation());
  plan_tokens(p, text, c.body, inside);
  text.text(" }\n");
  p.out.after_function.append(text);
}

}  // namespace

void plan_closure(planner& p, sheet& out, const closure_declaration& c, const context& scope) {
  if (scope.version != nullptr) return plan_unwound_closure(p, out, c, scope);
  out.go_to(c.location);
  if (c.forward == nullptr) {
    begin_closure(p, out, c, scope);
    if (const auto more = p.function.after_closure.find(&c); more != p.function.after_closure.end())
      out.text(joined(more->second));
  }
  if (c.body.empty()) return;
  closure_function(p, c, scope);
  drop_side_texts(p, out, c, scope);
}

}  // namespace sukima::language
