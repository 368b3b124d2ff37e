// SPDX-License-Identifier: Apache-2.0
// Functions that are unwound: their record, their fast and slow versions, and how plain C gets in.
#include "emit/emitter.hpp"
#include "emit/types.hpp"

namespace sukima::language {

using namespace clang;

namespace {

std::string record_of(const unwound& u) { return "struct sukima_frame_" + u.name; }

std::string closure_member(const closure_declaration& c) {
  return "sukima_closure_" + c.name + "_" + std::to_string(c.number);
}

/// The record that a pointer to one of its closures lies in.
std::string record_around(const unwound& creator, const closure_declaration& c, const std::string& self) {
  return "(" + record_of(creator) + " *)(void *)((char *)" + self + " - __builtin_offsetof(" +
         record_of(creator) + ", " + closure_member(c) + "))";
}

}  // namespace

/// Parameters of a version: the hidden ones, and the user's, with names or without.
std::string emitter::unwound_parameters(const unwound& u, bool hidden, bool named) const {
  std::string text;
  const auto add = [&text](const std::string& one) { text += (text.empty() ? "" : ", ") + one; };
  if (hidden) add(named ? "char *sukima_top" : "char *");
  if (u.closure != nullptr) add(named ? "void *sukima_self" : "void *");
  for (std::size_t k = 0; k < u.parameters.size(); ++k)
    add(named ? declare(u.parameters[k]->getType(), u.parameters[k]->getNameAsString())
              : declare_unqualified(u.parameter_types[k], ""));
  return text.empty() ? "void" : text;
}

/// The fast version's prototype, in front of the first function that calls it.
void emitter::declare_unwound(const unwound& u) {
  if (!declared_tasks_.insert("unwound " + u.name).second) return;
  before_.text("static " +
               declare_unqualified(unwound_type(u.result), "sukima_unwind_" + u.name + "(" +
                                                               unwound_parameters(u, true, false) + ")") +
               ";\n");
}

/// The record, when both versions have been printed.
void emitter::unwound_record(writer& out, const unwound& u, const unwind_version& version) {
  std::string members = " sukima_frame sukima_head;";
  if (u.closure != nullptr) members += " void *sukima_self;";
  for (const closure_declaration* c : u.closures)
    members += " sukima_frame_closure " + closure_member(*c) + ";";
  for (const VarDecl* variable : u.variables) {
    QualType type = variable->getType();
    if (type->isArrayType()) {
      Qualifiers qualifiers;
      const QualType plain = ast_.getUnqualifiedArrayType(type, qualifiers);
      if (!qualifiers.hasVolatile()) type = plain;
    }
    type.removeLocalConst();
    if (type.isConstQualified() && !type.isVolatileQualified()) type = type.getUnqualifiedType();
    try {
      members += " " + declare(type, u.members.at(variable)) + ";";
    } catch (const unprintable_type& problem) {
      report(variable->getLocation(), "'" + variable->getNameAsString() + "' cannot be stored in a record: " +
                                          problem.reason + "; compile with -fclosures=frame");
    }
  }
  for (const auto& [number, type] : version.kept)
    members += " " + declare_unqualified(type, "sukima_v" + std::to_string(number)) + ";";
  out.text(record_of(u) + " {" + members + " } __attribute__((aligned(16)));\n");
}

/// How the names of a version's block are reached.
void emitter::unwound_names(const unwound& u, bool slow, context& inside) const {
  for (const VarDecl* variable : u.variables)
    if (slow || u.in_record.contains(variable))
      inside.names[variable] = "sukima_r->" + u.members.at(variable);
  const auto name_closures = [&](const unwound& owner, const std::string& record, bool by_top = false) {
    for (const auto& [variable, closure] : index_.closure_variables) {
      const closure_declaration* c = closure->definition;
      if (std::find(owner.closures.begin(), owner.closures.end(), c) == owner.closures.end()) continue;
      const std::string address = by_top
                                      ? "(void *)(sukima_top + __builtin_offsetof(" + record_of(owner) +
                                            ", " + closure_member(*c) + "))"
                                      : "sukima_frame_pointer(&" + record + "->" + closure_member(*c) + ")";
      inside.names[variable] = "((" + declare_unqualified(variable->getType(), "") + ")" + address + ")";
    }
  };
  name_closures(u, "sukima_r", !slow);
  std::string record = "sukima_outer";
  unsigned depth = 1;
  for (const unwound* owner = u.creator; owner != nullptr; owner = owner->creator) {
    for (const VarDecl* variable : owner->variables)
      inside.names[variable] = record + "->" + owner->members.at(variable);
    name_closures(*owner, record);
    record = "sukima_outer" + std::to_string(++depth);
  }
}

/// Where the record ends, as the hidden parameter of what is called.
std::string emitter::end_of_record(const unwound& u, bool slow) const {
  return slow ? "sukima_marked((char *)(sukima_r + 1))" : "sukima_top + sizeof(" + record_of(u) + ")";
}

/// Declares a pointer to the record.
std::string emitter::own_record(const unwound& u, const std::string& top) const {
  return " " + record_of(u) + " *const sukima_r = (" + record_of(u) + " *)(void *)sukima_unmarked(" + top +
         ");";
}

/// The beginning of both versions: the records of the functions around a closure.
std::string emitter::unwound_outer(const unwound& u, bool slow) const {
  std::string text;
  std::string self = "sukima_self";
  std::string record = "sukima_outer";
  unsigned depth = 1;
  const unwound* inner = &u;
  for (const unwound* owner = u.creator; owner != nullptr; owner = owner->creator) {
    text += " " + record_of(*owner) + " *const " + record + " = " +
            record_around(*owner, *inner->closure, self) + "; (void)" + record + ";";
    self = record + "->sukima_self";
    record = "sukima_outer" + std::to_string(++depth);
    inner = owner;
  }
  if (u.calls_plain_c) text += " sukima_unwinding.sukima_top = " + end_of_record(u, slow) + ";";
  return text;
}

/// The fast version. What it is called with is in `version` then.
void emitter::fast_version(writer& out, unwind_version& version, const context& outside) {
  const unwound& u = *version.of;
  context inside = outside;
  inside.version = &version;
  unwound_names(u, false, inside);
  const bool noinline_wanted = u.closure == nullptr && u.function->declaration->hasAttr<NoInlineAttr>();
  go_to(out, u.closure != nullptr ? u.closure->location : u.function->declaration->getLocation(), false);
  out.text(std::string("static ") + (noinline_wanted ? "__attribute__((noinline)) " : "") +
           declare_unqualified(unwound_type(u.result),
                               "sukima_unwind_" + u.name + "(" + unwound_parameters(u, true, true) + ")") +
           " {" + (u.in_record.empty() ? "" : own_record(u, "sukima_top")) + " (void)sukima_top;");
  if (u.closure != nullptr) out.text(" (void)sukima_self;");
  out.text(unwound_outer(u, false));
  for (const VarDecl* p : u.parameters) {
    if (u.in_record.contains(p))
      out.text(" sukima_r->" + u.members.at(p) + " = " + p->getNameAsString() + ";");
    else if (p->hasAttr<UnusedAttr>())
      out.text(" (void)" + p->getNameAsString() + ";");
  }
  out.text(local_prototypes({u.function->whole}));
  out.text(" ");
  go_to(out, unit_.tokens[u.function->body.begin].getLocation());
  print(out, u.function->body, inside);
  const bool is_main = u.closure == nullptr && u.function->declaration->isMain();
  out.text(unwound_type(u.result)->isVoidType() ? " }\n"
           : u.result->isVoidType() || is_main  ? " return 0; }\n"
                                                : " }\n");
}

/// The slow version, if anything can unwind the fast one; and how that saves itself.
void emitter::slow_version(writer& out, const unwind_version& fast, const context& outside) {
  const unwound& u = *fast.of;
  if (fast.calls == 0) return;
  unwind_version version{&u, true};
  version.kept = fast.kept;
  context inside = outside;
  inside.version = &version;
  inside.is_copy = true;
  inside.closure_name.clear();
  unwound_names(u, true, inside);
  writer body(options_.line_directives);
  go_to(body, unit_.tokens[u.function->body.begin].getLocation());
  print(body, u.function->body, inside);
  body.text(" return 0; }\n");
  std::string start = "static int sukima_resume_" + u.name + "(sukima_frame *sukima_f) { " + record_of(u) +
                      " *const sukima_r = (" + record_of(u) + " *)(void *)sukima_f;";
  if (u.closure != nullptr) start += " void *const sukima_self = sukima_r->sukima_self; (void)sukima_self;";
  start += unwound_outer(u, true) + version.declarations + local_prototypes({u.function->whole}) +
           " switch (sukima_r->sukima_head.sukima_place) {";
  for (unsigned k = 1; k <= version.calls; ++k)
    start += " case " + std::to_string(k) + ": goto sukima_place_" + std::to_string(k) + ";";
  out.text("SUKIMA_SLOW_VERSION_BEGIN\n" + start + " default: break; }\n");
  out.append(body);
  out.text("SUKIMA_SLOW_VERSION_END\n");
  std::string save =
      "static int sukima_resume_" + u.name + "(sukima_frame *);\nstatic __attribute__((noinline, cold)) " +
      declare_unqualified(options_.land_closures ? ast_.VoidTy : unwound_type(u.result),
                          "sukima_save_" + u.name + "(" + record_of(u) + " *sukima_r, int sukima_place)") +
      " {";
  for (const closure_declaration* c : u.closures) {
    const std::string member = " sukima_r->" + closure_member(*c);
    const std::string name = plan_->find(c)->name;
    save += member + ".sukima_head.sukima_code = (void (*)(void))sukima_plain_" + name + ";" + member +
            ".sukima_inner = (void (*)(void))sukima_unwind_" + name + ";" + member +
            ".sukima_lands = " + (options_.land_closures ? "1;" : "0;");
  }
  save += " sukima_save_frame(&sukima_r->sukima_head, sukima_resume_" + u.name + ", sukima_place);" +
          (options_.land_closures ? "" : " return " + special_result(u.result) + ";") + " }\n";
  saves_.text(save);
}

/// A function of plain C that enters: the body of it.
std::string emitter::unwound_entry(const unwound& u) const {
  const bool lands = options_.land_closures;
  const bool is_void = u.result->isVoidType();
  const std::string level = lands ? "sukima_l.sukima_l" : "sukima_l";
  std::string arguments = lands ? "sukima_top" : "sukima_level_begin(&sukima_l)";
  if (u.closure != nullptr) arguments += ", sukima_self";
  for (const VarDecl* p : u.parameters) arguments += ", " + p->getNameAsString();
  const std::string call = "sukima_unwind_" + u.name + "(" + arguments + ")";
  const std::string run = "sukima_level_run(&" + level + ");";
  const std::string end = " sukima_level_end(&" + level + ");";
  const std::string value = is_void ? "" : declare_unqualified(u.result, "sukima_v") + " = ";
  const std::string at_base =
      is_void ? "" : "*(" + pointer_to(u.result) + ")(void *)" + level + ".sukima_base;";
  const std::string leave = end + (is_void ? "" : " return sukima_v;");
  if (lands)
    return " { sukima_landing_level sukima_l; char *const sukima_top = "
           "sukima_level_begin(&sukima_l.sukima_l); "
           "if (sukima_set_exit(sukima_l.sukima_context) == 0) { " +
           value + call + ";" + leave + (is_void ? " return;" : "") + " } " + run + " " + value + at_base +
           leave + " }\n";
  const std::string begin = " { sukima_level sukima_l; ";
  if (is_void) return begin + "if (" + call + ") " + run + leave + " }\n";
  return begin + value + call + "; if (" + special_test(u.result, "sukima_v") + ") { " + run +
         " sukima_v = " + at_base + " }" + leave + " }\n";
}

/// A function, in place of what is printed for plain C.
void emitter::unwound_function(const unwound& u) {
  const function_info& f = *u.function;
  context where;
  where.function = &f;
  before_ = records_ = saves_ = landings_ = behind_ = writer(options_.line_directives);
  print_texts(out_, unit_.origins[f.whole.begin], where);
  if (!options_.sequential) declare_workers(f.whole);
  move_declarations(f);
  writer body(options_.line_directives);
  try {
    declare_unwound(u);
    before_.text(text_of({f.whole.begin, f.body.begin}, where) + ";\n");
    // The heading as the user wrote it.
    print(body, {f.whole.begin, f.body.begin}, where);
    writer heading(options_.line_directives);
    heading.text("__attribute__((noinline, unused)) ");
    heading.append(body);
    body = writer(options_.line_directives);
    unwind_version fast{&u, false};
    fast_version(body, fast, where);
    body.text("SUKIMA_ENTRY_BEGIN\n");
    body.append(heading);
    body.text(unwound_entry(u) + "SUKIMA_ENTRY_END\n");
    slow_version(body, fast, where);
    unwound_record(records_, u, fast);
  } catch (const unprintable_type& problem) {
    report(f.declaration->getLocation(),
           "this function cannot be unwound: " + problem.reason + "; compile with -fclosures=frame");
  }
  for (const writer* part : {&before_, &records_, &saves_, &landings_, &body, &behind_}) out_.append(*part);
  before_ = writer(options_.line_directives);
  behind_ = writer(options_.line_directives);
}

/// The block of a closure, where its declaration stands in the creator's fast version.
void emitter::unwound_closure(writer& out, const closure_declaration& c, const context& where) {
  go_to(out, c.location);
  if (where.version->slow || c.body.empty()) return;
  const unwound& u = *plan_->find(&c);
  context inside;
  inside.function = u.function;
  inside.closure_name = u.name;
  inside.is_copy = true;
  try {
    const std::string plain = declare_unqualified(
        u.result, "sukima_plain_" + u.name + "(" + unwound_parameters(u, false, true) + ")");
    before_.text("static __attribute__((noinline, unused)) " + plain + ";\n");
    declare_unwound(u);
    writer text(options_.line_directives);
    unwind_version fast{&u, false};
    const token_index outer_text = std::exchange(closure_text_, unit_.origins[c.body.begin]);
    fast_version(text, fast, inside);
    closure_text_ = std::max(outer_text, unit_.origins[c.body.end - 1]);
    text.text("SUKIMA_ENTRY_BEGIN\nstatic " + plain + unwound_entry(u) + "SUKIMA_ENTRY_END\n");
    slow_version(text, fast, inside);
    unwound_record(records_, u, fast);
    behind_.append(text);
  } catch (const unprintable_type& problem) {
    report(c.location,
           "this closure cannot be unwound: " + problem.reason + "; compile with -fclosures=frame");
  }
  drop_texts(out, c, where);
}

}  // namespace sukima::language
