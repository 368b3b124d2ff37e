// SPDX-License-Identifier: Apache-2.0
// Functions that are unwound: their frame, their fast and slow versions, and their entry from plain C.
#include "plan/unwind.hpp"

#include "plan/captures.hpp"
#include "plan/closures.hpp"
#include "plan/functions.hpp"
#include "plan/names.hpp"
#include "plan/side_texts.hpp"
#include "plan/tokens.hpp"
#include "plan/types.hpp"
#include "plan/worker_functions.hpp"

namespace sukima::language {

using namespace clang;

namespace {

std::string frame_type(const unwound& u) { return "struct sukima_frame_" + u.name; }

std::string closure_member(const closure_declaration& c) {
  return "sukima_closure_" + c.name + "_" + std::to_string(c.number);
}

/// Returns the frame that contains the closure to which a pointer points.
std::string frame_around(const unwound& creator, const closure_declaration& c, const std::string& self) {
  return "(" + frame_type(creator) + " *)(void *)((char *)" + self + " - __builtin_offsetof(" +
         frame_type(creator) + ", " + closure_member(c) + "))";
}

/// Returns the parameters of a version: the hidden ones and the user's, with names or without.
std::string unwound_parameters(const planner& p, const unwound& u, bool hidden, bool named) {
  std::string text;
  const auto add = [&text](const std::string& one) { text += (text.empty() ? "" : ", ") + one; };
  if (hidden) add(named ? "char *sukima_top" : "char *");
  if (u.closure != nullptr) add(named ? "void *sukima_self" : "void *");
  for (std::size_t k = 0; k < u.parameters.size(); ++k)
    add(named ? declare(p, u.parameters[k]->getType(), u.parameters[k]->getNameAsString())
              : declare_unqualified(p, u.parameter_types[k], ""));
  return text.empty() ? "void" : text;
}

}  // namespace

void declare_unwound(planner& p, const unwound& u) {
  if (!p.names.declared.insert("unwound " + u.name).second) return;
  p.out.before_function.text(
      "static " +
      declare_unqualified(p, unwound_type(p.in, u.result),
                          "sukima_unwind_" + u.name + "(" + unwound_parameters(p, u, true, false) + ")") +
      ";\n");
}

namespace {

/// Plans the frame after both versions have been printed.
void unwound_frame(planner& p, sheet& out, const unwound& u, const unwind_version& version) {
  std::string members = " sukima_frame sukima_head;";
  if (u.closure != nullptr) members += " void *sukima_self;";
  for (const closure_declaration* c : u.closures)
    members += " sukima_frame_closure " + closure_member(*c) + ";";
  for (const VarDecl* variable : u.variables) {
    QualType type = variable->getType();
    if (type->isArrayType()) {
      Qualifiers qualifiers;
      const QualType plain = p.in.ast.getUnqualifiedArrayType(type, qualifiers);
      if (!qualifiers.hasVolatile()) type = plain;
    }
    type.removeLocalConst();
    if (type.isConstQualified() && !type.isVolatileQualified()) type = type.getUnqualifiedType();
    try {
      members += " " + declare(p, type, u.members.at(variable)) + ";";
    } catch (const unprintable_type& problem) {
      report(p.in, variable->getLocation(),
             "'" + variable->getNameAsString() + "' cannot be stored in a frame: " + problem.reason +
                 "; compile with -fclosures=frame");
    }
  }
  for (const auto& [number, type] : version.kept)
    members += " " + declare_unqualified(p, type, "sukima_v" + std::to_string(number)) + ";";
  out.text(frame_type(u) + " {" + members + " } __attribute__((aligned(16)));\n");
}

/// Sets the expressions for the names of a version's block.
void unwound_names(const planner& p, const unwound& u, bool slow, context& inside) {
  for (const VarDecl* variable : u.variables)
    if (slow || u.in_frame.contains(variable)) inside.names[variable] = "sukima_r->" + u.members.at(variable);
  const auto name_closures = [&](const unwound& owner, const std::string& frame, bool by_top = false) {
    for (const auto& [variable, closure] : p.in.index.closure_variables) {
      const closure_declaration* c = closure->definition;
      if (std::find(owner.closures.begin(), owner.closures.end(), c) == owner.closures.end()) continue;
      const std::string address = by_top ? "(void *)(sukima_top + __builtin_offsetof(" + frame_type(owner) +
                                               ", " + closure_member(*c) + "))"
                                         : "sukima_frame_pointer(&" + frame + "->" + closure_member(*c) + ")";
      inside.names[variable] = "((" + declare_unqualified(p, variable->getType(), "") + ")" + address + ")";
    }
  };
  name_closures(u, "sukima_r", !slow);
  std::string frame = "sukima_outer";
  unsigned depth = 1;
  for (const unwound* owner = u.creator; owner != nullptr; owner = owner->creator) {
    for (const VarDecl* variable : owner->variables)
      inside.names[variable] = frame + "->" + owner->members.at(variable);
    name_closures(*owner, frame);
    frame = "sukima_outer" + std::to_string(++depth);
  }
}

}  // namespace

std::string end_of_frame(const unwound& u, bool slow) {
  return slow ? "sukima_marked((char *)(sukima_r + 1))" : "sukima_top + sizeof(" + frame_type(u) + ")";
}

std::string own_frame(const unwound& u, const std::string& top) {
  return " " + frame_type(u) + " *const sukima_r = (" + frame_type(u) + " *)(void *)sukima_unmarked(" + top +
         ");";
}

namespace {

/// Returns the beginning of both versions: pointers to the frames of the functions around a closure.
std::string unwound_outer(const unwound& u, bool slow) {
  std::string text;
  std::string self = "sukima_self";
  std::string frame = "sukima_outer";
  unsigned depth = 1;
  const unwound* inner = &u;
  for (const unwound* owner = u.creator; owner != nullptr; owner = owner->creator) {
    text += " " + frame_type(*owner) + " *const " + frame + " = " +
            frame_around(*owner, *inner->closure, self) + "; (void)" + frame + ";";
    self = frame + "->sukima_self";
    frame = "sukima_outer" + std::to_string(++depth);
    inner = owner;
  }
  if (!u.plain_calls.empty())
    text += " const void *const sukima_stack = sukima_stack_here(); sukima_unwinding.sukima_top = " +
            end_of_frame(u, slow) + ";";
  return text;
}

/// Returns whether this is C's main, which returns 0 at its end.
bool is_main(const unwound& u) { return u.closure == nullptr && u.function->declaration->isMain(); }

/// Plans the fast version. Afterwards `version` holds the calls that it makes.
void fast_version(planner& p, sheet& out, unwind_version& version, const context& outside) {
  const unwound& u = *version.of;
  context inside = outside;
  inside.version = &version;
  unwound_names(p, u, false, inside);
  const bool noinline_wanted = u.closure == nullptr && u.function->declaration->hasAttr<NoInlineAttr>();
  out.go_to(u.closure != nullptr ? u.closure->location : u.function->declaration->getLocation(), false);
  out.text(std::string("static ") + (noinline_wanted ? "__attribute__((noinline)) " : "") +
           declare_unqualified(p, unwound_type(p.in, u.result),
                               "sukima_unwind_" + u.name + "(" + unwound_parameters(p, u, true, true) + ")") +
           " {" + (u.in_frame.empty() ? "" : own_frame(u, "sukima_top")) + " (void)sukima_top;");
  if (u.closure != nullptr) out.text(" (void)sukima_self;");
  out.text(unwound_outer(u, false));
  for (const VarDecl* parameter : u.parameters) {
    if (u.in_frame.contains(parameter))
      out.text(" sukima_r->" + u.members.at(parameter) + " = " + parameter->getNameAsString() + ";");
    else if (parameter->hasAttr<UnusedAttr>())
      out.text(" (void)" + parameter->getNameAsString() + ";");
  }
  out.text(local_prototypes(p, {u.function->whole}));
  out.text(" ");
  out.go_to(p.in.unit.tokens[u.function->body.begin].getLocation());
  plan_tokens(p, out, u.function->body, inside);
  out.text(unwound_type(p.in, u.result)->isVoidType() ? " }\n"
           : u.result->isVoidType() || is_main(u)     ? " return 0; }\n"
                                                      : " }\n");
}

/// Plans the slow version, and the function that saves the frame of the fast version, if a call can unwind
/// the fast version.
void slow_version(planner& p, sheet& out, const unwind_version& fast, const context& outside) {
  const unwound& u = *fast.of;
  if (fast.calls == 0) return;
  unwind_version version{&u, true};
  version.kept = fast.kept;
  context inside = outside;
  inside.version = &version;
  inside.is_copy = true;
  inside.closure_name.clear();
  unwound_names(p, u, true, inside);
  sheet body;
  body.go_to(p.in.unit.tokens[u.function->body.begin].getLocation());
  plan_tokens(p, body, u.function->body, inside);
  SUKIMA_ASSERT(version.calls == fast.calls && version.values == fast.values,
                "both versions of a function have the same calls and values");
  body.text(std::string(is_main(u) ? " *(int *)(void *)sukima_r = 0;" : "") + " return 0; }\n");
  std::string start = "static int sukima_resume_" + u.name + "(sukima_frame *sukima_f) { " + frame_type(u) +
                      " *const sukima_r = (" + frame_type(u) + " *)(void *)sukima_f;";
  if (u.closure != nullptr) start += " void *const sukima_self = sukima_r->sukima_self; (void)sukima_self;";
  start += unwound_outer(u, true) + version.declarations + local_prototypes(p, {u.function->whole}) +
           " switch (sukima_r->sukima_head.sukima_place) {";
  for (unsigned k = 1; k <= version.calls; ++k)
    start += " case " + std::to_string(k) + ": goto sukima_place_" + std::to_string(k) + ";";
  out.text("SUKIMA_SLOW_VERSION_BEGIN\n" + start + " default: break; }\n");
  out.append(body);
  out.text("SUKIMA_SLOW_VERSION_END\n");
  std::string save =
      "static int sukima_resume_" + u.name + "(sukima_frame *);\nstatic __attribute__((noinline, cold)) " +
      declare_unqualified(p, p.in.options.land_closures ? p.in.ast.VoidTy : unwound_type(p.in, u.result),
                          "sukima_save_" + u.name + "(" + frame_type(u) + " *sukima_r, int sukima_place)") +
      " {";
  for (const closure_declaration* c : u.closures) {
    const std::string member = " sukima_r->" + closure_member(*c);
    const std::string name = p.in.unwinding->find(c)->name;
    save += member + ".sukima_head.sukima_code = (void (*)(void))sukima_plain_" + name + ";" + member +
            ".sukima_inner = (void (*)(void))sukima_unwind_" + name + ";" + member +
            ".sukima_lands = " + (p.in.options.land_closures ? "1;" : "0;");
  }
  save += " sukima_save_frame(&sukima_r->sukima_head, sukima_resume_" + u.name + ", sukima_place);" +
          (p.in.options.land_closures ? "" : " return " + special_result(p, u.result) + ";") + " }\n";
  p.out.saves.text(save);
}

/// The level itself is on the C stack. Its address there shows whether a jump has left it.
constexpr const char* entry_words = "__attribute__((noinline, unused, no_sanitize_address)) ";

/// Returns the body of a plain C function that enters an unwound function.
std::string unwound_entry(const planner& p, const unwound& u) {
  const bool lands = p.in.options.land_closures;
  const bool is_void = u.result->isVoidType();
  const std::string level = lands ? "sukima_l.sukima_l" : "sukima_l";
  std::string arguments = lands ? "sukima_top" : "sukima_level_begin(&sukima_l)";
  if (u.closure != nullptr) arguments += ", sukima_self";
  for (const VarDecl* parameter : u.parameters) arguments += ", " + parameter->getNameAsString();
  const std::string call = "sukima_unwind_" + u.name + "(" + arguments + ")";
  const std::string run = "sukima_level_run(&" + level + ");";
  const std::string end = " sukima_level_end(&" + level + ");";
  const std::string value = is_void ? "" : declare_unqualified(p, u.result, "sukima_v") + " = ";
  const std::string at_base =
      is_void ? "" : "*(" + pointer_to(p, u.result) + ")(void *)" + level + ".sukima_base;";
  const std::string leave = end + (is_void ? "" : " return sukima_v;");
  if (lands)
    return " { sukima_landing_level sukima_l; char *const sukima_top = "
           "sukima_level_begin(&sukima_l.sukima_l); "
           "if (sukima_set_exit(sukima_l.sukima_context) == 0) { " +
           value + call + ";" + leave + (is_void ? " return;" : "") + " } " + run + " " + value + at_base +
           leave + " }\n";
  const std::string begin = " { sukima_level sukima_l; ";
  if (is_void) return begin + "if (" + call + ") " + run + leave + " }\n";
  return begin + value + call + "; if (" + special_test(p, u.result, "sukima_v") + ") { " + run +
         " sukima_v = " + at_base + " }" + leave + " }\n";
}

}  // namespace

void plan_unwound_function(planner& p, const unwound& u) {
  const function_info& f = *u.function;
  context scope;
  scope.function = &f;
  p.out.before_function = p.out.frames = p.out.saves = p.out.landings = p.out.after_function = sheet();
  side_texts(p, p.out.unit, p.in.unit.origins[f.whole.begin], scope);
  if (!p.in.options.sequential) declare_workers(p, f.whole);
  move_declarations(p, f);
  sheet body;
  try {
    declare_unwound(p, u);
    p.out.before_function.text(text_of(p, {f.whole.begin, f.body.begin}, scope) + ";\n");
    // Prints the heading as the user wrote it.
    plan_tokens(p, body, {f.whole.begin, f.body.begin}, scope);
    sheet heading;
    heading.text(entry_words);
    heading.append(body);
    body = sheet();
    unwind_version fast{&u, false};
    fast_version(p, body, fast, scope);
    body.text("SUKIMA_ENTRY_BEGIN\n");
    body.append(heading);
    body.text(unwound_entry(p, u) + "SUKIMA_ENTRY_END\n");
    slow_version(p, body, fast, scope);
    unwound_frame(p, p.out.frames, u, fast);
  } catch (const unprintable_type& problem) {
    report(p.in, f.declaration->getLocation(),
           "this function cannot be unwound: " + problem.reason + "; compile with -fclosures=frame");
  }
  for (const sheet* part :
       {&p.out.before_function, &p.out.frames, &p.out.saves, &p.out.landings, &body, &p.out.after_function})
    p.out.unit.append(*part);
  p.out.before_function = sheet();
  p.out.after_function = sheet();
}

void plan_unwound_closure(planner& p, sheet& out, const closure_declaration& c, const context& scope) {
  out.go_to(c.location);
  if (scope.version->slow || c.body.empty()) return;
  const unwound& u = *p.in.unwinding->find(&c);
  context inside;
  inside.function = u.function;
  inside.closure_name = u.name;
  inside.is_copy = true;
  try {
    const std::string plain = declare_unqualified(
        p, u.result, "sukima_plain_" + u.name + "(" + unwound_parameters(p, u, false, true) + ")");
    p.out.before_function.text(std::string("static ") + entry_words + plain + ";\n");
    declare_unwound(p, u);
    sheet text;
    unwind_version fast{&u, false};
    fast_version(p, text, fast, inside);
    text.text("SUKIMA_ENTRY_BEGIN\nstatic " + plain + unwound_entry(p, u) + "SUKIMA_ENTRY_END\n");
    slow_version(p, text, fast, inside);
    unwound_frame(p, p.out.frames, u, fast);
    p.out.after_function.append(text);
  } catch (const unprintable_type& problem) {
    report(p.in, c.location,
           "this closure cannot be unwound: " + problem.reason + "; compile with -fclosures=frame");
  }
  drop_side_texts(p, out, c, scope);
}

}  // namespace sukima::language
