// SPDX-License-Identifier: Apache-2.0
// Nested functions: the block becomes a function over a record in the creator's frame, which holds what it
// uses of the variables around it: the value of what nobody changes any more, else the address.
#include "emit/emitter.hpp"
#include "emit/types.hpp"

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

/// The function or closure whose variable it is.
const function_info& emitter::owner_of(const VarDecl* variable, const context& where) const {
  const token_index t = index_.declared.at(variable);
  for (auto f = index_.closures.rbegin(); f != index_.closures.rend(); ++f)
    if (f->whole.holds(t)) return *f;
  for (const function_info& f : index_.functions)
    if (f.whole.holds(t)) return f;
  return *where.function;
}

bool emitter::is_parameter(const VarDecl* variable) const {
  if (isa<ParmVarDecl>(variable)) return true;
  const auto declared = index_.declared.find(variable);
  for (const closure_declaration& c : unit_.closures)
    if (declared != index_.declared.end() && c.parameters.holds(declared->second)) return true;
  return false;
}

/// Whether the variable has its last value when the closure comes to life, so that a copy will do.
bool emitter::is_final_at_birth(const VarDecl* variable, const closure_declaration& c,
                                const context& where) const {
  if (where.copies.contains(variable)) return true;
  const QualType type = variable->getType();
  if (is_put_in(variable)) return variable->getName() != "this";
  if (!type->isScalarType() || type.isVolatileQualified() || type->isAtomicType() ||
      !variable->hasLocalStorage())
    return false;
  if (index_.closure_variables.contains(variable)) return true;
  if (where.names.contains(variable)) return false;
  const function_info& owner = owner_of(variable, where);
  if (owner.closure != where.function->closure) return false;
  const token_index declared = index_.declared.at(variable);
  bool has_value = is_parameter(variable) || variable->hasInit();
  for (const construct* l : owner.constructs) has_value |= l->variable == declared;
  if (!has_value || owner.address_taken.contains(variable)) return false;
  const token_range block = unit_.block_around(c.whole.begin);
  const token_index birth = std::max(birth_of(c), declared);
  bool comes_back = false;
  for (const auto& [label, t] : index_.all_labels) comes_back |= block.holds(t);
  const auto [first, last] = owner.changes.equal_range(variable);
  for (auto change = first; change != last; ++change) {
    const token_index t = change->second;
    if (t == no_token) return false;
    if (block.holds(t) && (t >= birth || comes_back)) return false;
    // Blocks that run while the frame sleeps.
    for (const construct* around : owner.constructs)
      if (around->whole.holds(block))
        for (const token_range& r :
             {around->put, around->before, around->after, around->guard, around->split})
          if (r.holds(t)) return false;
  }
  return true;
}

std::vector<captured> emitter::captures_of_closure(const closure_declaration& c, const context& where) {
  std::vector<captured> result;
  std::set<const VarDecl*> seen;
  for (token_index t = c.whole.begin; t < c.whole.end; ++t) {
    const VarDecl* variable = variable_at(t);
    if (needs_what_stays(t, {c.whole})) continue;
    if (variable == nullptr || variable->isFileVarDecl() || variable->isLocalExternDecl() ||
        renamed_.contains(variable->getCanonicalDecl()))
      continue;
    const auto declared = index_.declared.find(variable);
    if (declared == index_.declared.end() || c.whole.holds(declared->second)) continue;
    if (const auto own = index_.closure_variables.find(variable);
        own != index_.closure_variables.end() && &definition_of(*own->second) == &c)
      continue;
    const auto members = in_record_.find(&c);
    if (members != in_record_.end() &&
        std::find(members->second.begin(), members->second.end(), variable) != members->second.end())
      continue;
    if (!seen.insert(variable).second) continue;
    try {
      const std::vector<std::string> lengths = variable_lengths(variable->getType(), "x");
      (void)language::declare(variable->getType(), "", {ast_, !options_.sequential, &renamed_, &lengths});
      result.push_back({variable, is_final_at_birth(variable, c, where)});
    } catch (const unprintable_type& problem) {
      report(unit_.tokens[t].getLocation(),
             "'" + variable->getNameAsString() + "' cannot be used in a closure: " + problem.reason);
    }
  }
  return result;
}

/// The words of the declaration, with another declarator for the closure's name.
std::string emitter::closure_heading(const closure_declaration& c, const std::string& name,
                                     const std::string& first_parameters, const context& where,
                                     bool is_definition) {
  const token_range words{c.whole.begin, c.name_token - 3};
  std::string parameters = text_of({c.parameters.begin + 1, c.parameters.end - 1}, where);
  if (parameters == "void") parameters.clear();
  std::string all = first_parameters;
  if (!parameters.empty()) all += (all.empty() ? "" : ", ") + parameters;
  if (all.empty()) all = "void";
  std::string rest = text_of(c.rest, where);
  // Attributes: a definition has them in its prototype only.
  if (is_definition && rest.starts_with("__attribute__")) rest.clear();
  return text_of(words, where) + " " + name + "(" + all + ")" + (rest.empty() ? "" : " ") + rest;
}

/// Declares the record and the closure's own variable, and fills in what there is already.
void emitter::begin_closure(writer& out, const closure_declaration& c, const context& where) {
  const closure_declaration& d = definition_of(c);
  const auto known = numbers_.find(&c);
  const std::string number = std::to_string(known != numbers_.end() ? known->second : ++closures_printed_);
  const std::string name = base_name(where) + "_" + c.name + "_" + number;
  const std::vector<captured> captures = captures_of_closure(d, where);
  closure_names_[&d] = {name, captures};
  std::string members;
  for (const VarDecl* variable : in_record_[&d])
    members += " " + declare(variable->getType(), variable->getNameAsString()) + ";";
  before_.text("struct " + name + " { sukima_closure sukima_head;" + members + fields(captures) +
               exit_fields(d) + " };\n");
  const bool is_worker = c.is_worker && !options_.sequential;
  const std::string heading = closure_heading(
      d, name, is_worker ? "char *sukima_top, void *sukima_self" : "void *sukima_self", where);
  before_.text("static " + heading + ";\n");
  const std::string record = "sukima_c" + number;
  out.token((known != numbers_.end() ? "" : "struct " + name + " " + record + "; ") + record +
                ".sukima_head.sukima_code = (void (*)(void))" + name + ";",
            true);
  for (const captured& one : captures) {
    const std::string store = fill("(&" + record + ")", {one}, where);
    const token_index declared = index_.declared.at(one.variable);
    const bool is_later = declared > c.whole.begin && declared < d.whole.begin;
    if (is_later)
      after_declaration(declared, store);
    else
      out.text(store);
  }
  begin_exits(out, d, record, where);
  std::string pointer = "sukima_closure_pointer(&" + record + ".sukima_head)";
  if (options_.check_closures)
    pointer = "sukima_ticket_open(&" + block_tickets(c.whole.begin) + ", &" + record +
              ".sukima_head, (void (*)(void))" + name + ", \"" + c.name + "\", __FILE__, __LINE__)";
  const std::string variable =
      closure_heading(d, "(*const " + c.name + ")", is_worker ? "char *sukima_top" : "", where);
  out.text(" __extension__ " + variable + " = " + pointer + "; (void)" + c.name + ";");
}

/// Text behind the declaration that a variable's name stands in.
void emitter::after_declaration(token_index name, const std::string& text) {
  for (const closure_declaration& c : unit_.closures)
    if (c.name_token == name) {
      behind_closure_[&c] += text;
      return;
    }
  for (token_index t = name; t < unit_.tokens.size(); ++t) {
    if (unit_.partner[t] != no_token && unit_.partner[t] > t) t = unit_.partner[t];
    if (unit_.tokens[t].is(tok::semi) && unit_.roles[t] == token_role::user) {
      behind_token_[t] += text;
      return;
    }
  }
}

void emitter::print_closure(writer& out, const closure_declaration& c, const context& where) {
  if (where.version != nullptr) return unwound_closure(out, c, where);
  go_to(out, c.location);
  if (c.forward == nullptr) {
    begin_closure(out, c, where);
    if (const auto more = behind_closure_.find(&c); more != behind_closure_.end()) out.text(more->second);
  }
  if (c.body.empty()) return;
  closure_function(c, where);
  drop_texts(out, c, where);
}

/// What was printed with a closure is not printed again behind it.
void emitter::drop_texts(writer& out, const closure_declaration& c, const context& where) {
  const std::vector<side_text>& texts = unit_.source.texts;
  const token_index last = unit_.origins[c.body.end - 1];
  if (where.is_copy || last == no_token) return;
  for (; next_text_ < texts.size() && texts[next_text_].before <= last; ++next_text_) {
    if (!texts[next_text_].changes_macro) continue;
    out.end_line();
    go_to(out, texts[next_text_].location, false);
    out.text(texts[next_text_].text + "\n");
  }
}

/// The block as a function over the record.
void emitter::closure_function(const closure_declaration& c, const context& where) {
  const auto [name, captures] = closure_names_.at(&c);
  const bool is_worker = c.is_worker && !options_.sequential;
  context inside;
  inside.function = index_.info_of(c);
  inside.closure_name = name;
  inside.is_copy = true;
  inside.backtracking = "0";
  if (is_worker) inside.top = "sukima_top";
  const std::string first = is_worker ? "char *sukima_top, void *sukima_self" : "void *sukima_self";
  writer text(options_.line_directives);
  go_to(text, c.location, false);
  text.text("static " + closure_heading(c, name, first, where, true) + " { (void)sukima_self; ");
  if (is_worker) text.text("(void)sukima_top; ");
  for (const LabelDecl* label : labels_outside(c))
    inside.exits_here[label] = "sukima_c->" + exit_member(label);
  const auto members = in_record_.find(&c);
  const bool has_members = members != in_record_.end() && !members->second.empty();
  if (!captures.empty() || !inside.exits_here.empty() || has_members)
    text.text("struct " + name + " *const sukima_c = (struct " + name + " *)" +
              (options_.check_closures ? "sukima_ticket_record(sukima_self);" : "sukima_self;"));
  for (const captured& one : captures) {
    const std::string variable = one.variable->getNameAsString();
    if (is_put_in(one.variable) && variable == "backtracking")
      inside.backtracking = "sukima_c->" + variable;
    else
      text.text(bind(one, "sukima_c", inside) + (one.by_value ? " (void)" + variable + ";" : ""));
  }
  if (has_members)
    for (const VarDecl* variable : members->second)
      inside.names[variable] = "sukima_c->" + variable->getNameAsString();
  text.text(local_prototypes({c.whole}));
  for (token_index t = c.body.begin; t < c.body.end; ++t) {
    const VarDecl* variable = variable_at(t);
    const auto own =
        variable == nullptr ? index_.closure_variables.end() : index_.closure_variables.find(variable);
    if (own == index_.closure_variables.end() || &definition_of(*own->second) != &c) continue;
    text.text(" __extension__ " +
              closure_heading(c, "(*const " + c.name + ")", is_worker ? "char *sukima_top" : "", where) +
              " = " +
              (options_.check_closures ? "sukima_ticket_pointer(sukima_self)"
                                       : "sukima_closure_pointer((sukima_closure *)sukima_self)") +
              "; (void)" + c.name + ";");
    break;
  }
  text.text(" ");
  go_to(text, unit_.tokens[c.body.begin].getLocation());
  const token_index outer_text = std::exchange(closure_text_, unit_.origins[c.body.begin]);
  print(text, c.body, inside);
  closure_text_ = std::max(outer_text, unit_.origins[c.body.end - 1]);
  text.text(" }\n");
  behind_.append(text);
}

/// Does the call go through a function that looks at the pointer first?
bool emitter::is_pointer_call(const closure_call& call) const {
  return call.callee == nullptr || (call.is_worker && !call.in_worker && !options_.sequential);
}

/// The variable that holds the tickets of the block around a closure.
std::string emitter::block_tickets(token_index closure) const {
  return "sukima_tickets_" + std::to_string(unit_.block_around(closure).begin);
}

/// Declares these variables at the start of their blocks, where no jump within the block goes past them.
void emitter::declare_tickets(const function_info& f) {
  if (!options_.check_closures) return;
  std::set<token_index> blocks;
  for (const closure_declaration& c : unit_.closures) {
    if (!f.body.holds(c.whole) || c.forward != nullptr) continue;
    const token_index block = unit_.block_around(c.whole.begin).begin;
    if (!blocks.insert(block).second) continue;
    const token_range labels = label_declarations(block + 1);
    behind_token_[labels.empty() ? block : labels.end - 1] +=
        " void *" + block_tickets(c.whole.begin) + " __attribute__((cleanup(sukima_tickets_close))) = 0;";
  }
}

/// Around the pointer of a call, if calls are checked; the end stands behind the pointer.
std::string emitter::begin_check(const closure_call& call) {
  if (!options_.check_closures) return "";
  try {
    const QualType type = call.call->getCallee()->getType().getUnqualifiedType();
    return "(" + declare(type, "") + ")sukima_ticket_check((__UINTPTR_TYPE__)(";
  } catch (const unprintable_type&) {
    return "";  // closure_caller reports it
  }
}

/// A function that calls what a pointer to closures leads to. \returns its name
std::string emitter::closure_caller(const closure_call& call) {
  const auto* function =
      call.call->getCallee()->getType()->castAs<PointerType>()->getPointeeType()->castAs<FunctionType>();
  const auto* proto = cast<FunctionProtoType>(function);
  const bool is_worker = call.is_worker && !options_.sequential;
  const bool enters = is_worker && !call.in_worker;
  try {
    const std::string type = declare(QualType(function, 0), "") + (enters ? " entered" : "");
    if (const auto known = closure_callers_.find(type); known != closure_callers_.end()) return known->second;
    const std::string name = "sukima_closure_call_" + std::to_string(closure_callers_.size() + 1);
    closure_callers_.emplace(type, name);
    const QualType result = proto->getReturnType();
    const bool has_result = !result->isVoidType();
    std::string types = is_worker ? "char *, void *" : "void *";
    std::string parameters = declare(ast_.getPointerType(QualType(function, 0)), "sukima_callee");
    std::string arguments;
    std::string members = " " + parameters + ";";
    std::string values = ".sukima_callee = sukima_callee";
    unsigned number = 0;
    for (const QualType parameter : proto->param_types()) {
      const std::string own = "sukima_" + std::to_string(++number);
      const std::string declared = declare_unqualified(parameter, own);
      types += ", " + declare_unqualified(parameter, "");
      parameters += ", " + declared;
      arguments += ", " + (enters ? "sukima_f->" + own : own);
      members += " " + declared + ";";
      values += ", ." + own + " = " + own;
    }
    const std::string callee = enters ? "sukima_f->sukima_callee" : "sukima_callee";
    const std::string top = is_worker ? "sukima_top, " : "";
    const std::string closure_call =
        "((" + declare_unqualified(result, "(*)(" + types + ")") + ")sukima_closure_code((__UINTPTR_TYPE__)" +
        callee + "))(" + top + "sukima_closure_self((__UINTPTR_TYPE__)" + callee + ")" + arguments + ")";
    std::string plain_arguments = (is_worker ? "sukima_top" : "") + arguments;
    if (plain_arguments.starts_with(", ")) plain_arguments.erase(0, 2);
    const std::string plain_call = callee + "(" + plain_arguments + ")";
    const auto choose = [&](const std::string& what) {
      return "if (sukima_is_closure((__UINTPTR_TYPE__)" + callee + ")) " + what + closure_call + "; else " +
             what + plain_call + ";";
    };
    const std::string words = "static __inline__ __attribute__((unused)) ";
    if (!enters) {
      if (is_worker) parameters = "char *sukima_top, " + parameters;
      before_.text(words + declare_unqualified(result, name + "(" + parameters + ")") + " { " +
                   choose(has_result ? "return " : "") + " }\n");
      return name;
    }
    if (has_result) members += " " + declare_unqualified(result, "sukima_result") + ";";
    before_.text("struct " + name + "_frame {" + members + " };\n");
    before_.text("static void " + name + "_run(char *sukima_top, void *sukima_frame) { struct " + name +
                 "_frame *const sukima_f = (struct " + name + "_frame *)sukima_frame; " +
                 choose(has_result ? "sukima_f->sukima_result = " : "") + " }\n");
    before_.text(words + declare_unqualified(result, name + "(" + parameters + ")") + " { struct " + name +
                 "_frame sukima_f = { " + values + " }; sukima_enter(" + name + "_run, &sukima_f);" +
                 (has_result ? " return sukima_f.sukima_result;" : "") + " }\n");
    return name;
  } catch (const unprintable_type& problem) {
    report(call.call->getExprLoc(), "this closure cannot be called through a pointer: " + problem.reason);
    return "";
  }
}

/// A call of a variadic closure through a pointer: its arguments cannot be handed on by a function.
void emitter::variadic_call(writer& out, const closure_call& call, const context& where) {
  const auto* proto =
      call.call->getCallee()->getType()->castAs<PointerType>()->getPointeeType()->castAs<FunctionProtoType>();
  const bool is_worker = call.is_worker && !options_.sequential;
  if (is_worker && !call.in_worker) {
    report(call.call->getExprLoc(), "a variadic worker closure can be called in worker functions only");
    return;
  }
  if (const auto others = closure_pointer_calls_.find(call.first);
      others != closure_pointer_calls_.end() && others->second.front()->open > call.open) {
    report(call.call->getExprLoc(),
           "the result of this variadic closure is called; store it in a variable in front");
    return;
  }
  try {
    std::string types = is_worker ? "char *, void *" : "void *";
    for (const QualType parameter : proto->param_types()) types += ", " + declare_unqualified(parameter, "");
    const std::string arguments = text_of({call.open + 1, unit_.partner[call.open]}, where);
    const std::string top = is_worker ? where.top + ", " : "";
    out.token("__extension__({ " + declare(ast_.getPointerType(QualType(proto, 0)), "sukima_p") + " = " +
                  begin_check(call) + text_of({call.first, call.open}, where) +
                  (options_.check_closures ? "), __FILE__, __LINE__)" : "") +
                  "; sukima_is_closure((__UINTPTR_TYPE__)sukima_p) ? ((" +
                  declare_unqualified(proto->getReturnType(), "(*)(" + types + ", ...)") +
                  ")sukima_closure_code((__UINTPTR_TYPE__)sukima_p))(" + top +
                  "sukima_closure_self((__UINTPTR_TYPE__)sukima_p), " + arguments + ") : sukima_p(" + top +
                  arguments + "); })",
              true);
  } catch (const unprintable_type& problem) {
    report(call.call->getExprLoc(), "this closure cannot be called through a pointer: " + problem.reason);
  }
}

}  // namespace sukima::language
