// SPDX-License-Identifier: Apache-2.0
// do_two, dynamic_wind, throw and poll; and what all constructs share.
#include "emit/emitter.hpp"
#include "emit/types.hpp"

namespace sukima::language {

using namespace clang;

void emitter::print_construct(writer& out, const construct& c, const context& where) {
  go_to(out, c.location);
  switch (c.kind) {
    case construct_kind::do_two:
      return do_two(out, c, where);
    case construct_kind::loop:
      return loop(out, c, where);
    case construct_kind::wind:
      return wind(out, c, where);
    case construct_kind::join:
      return join(out, c, where);
    case construct_kind::try_catch:
      return try_catch(out, c, where);
    case construct_kind::throw_tag:
      return throw_tag(out, c, where);
    case construct_kind::poll:
      return poll(out, c, where);
  }
}

namespace {

std::string number_of(const construct& c) { return std::to_string(c.number); }

}  // namespace

/// Declares the record and fills it in: from here to the end of the live part it is the youngest.
level emitter::begin_record(writer& out, const construct& c, const std::vector<token_range>& outlined,
                            const char* head, const context& where) {
  level l;
  l.c = &c;
  l.record = "sukima_r" + number_of(c);
  l.captures = captures_of(c, outlined, where);
  l.outside = std::make_shared<const context>(where);
  const std::string name = base_name(where) + "_" + number_of(c);
  before_.text("struct " + name + " { " + head + " sukima_head;" + fields(l.captures) +
               " } __attribute__((aligned(16)));\n");
  if (options_.sequential) {
    out.token("struct " + name + " sukima_s" + number_of(c) + ", *const " + l.record + " = &sukima_s" +
                  number_of(c) + "; (void)" + l.record + ";" + fill(l.record, l.captures, where),
              true);
    return l;
  }
  const bool is_loop = std::string_view(head) == "sukima_loop";
  out.token("struct " + name + " *const " + l.record + " = (struct " + name + " *)(void *)" + where.top +
                "; " + l.record + (is_loop ? "->sukima_head.sukima_head" : "->sukima_head") +
                ".sukima_kind_or_child = (sukima_word)&" + name + "_kind;" +
                fill(l.record, l.captures, where),
            true);
  return l;
}

context emitter::inside(const level& l, const context& where) const {
  context result = where;
  if (!options_.sequential) result.top = "(char *)(" + l.record + " + 1)";
  result.levels.push_back(l);
  return result;
}

/// A function over the record with a block of the user's as its end.
void emitter::outline(const std::string& signature, const construct& c, const level& l, token_range block,
                      const context& where, const std::string& prologue, context inside) {
  before_.text("static " + signature + ";\n");
  writer text(options_.line_directives);
  go_to(text, c.location, false);
  text.text("static " + signature + " { (void)sukima_r;");
  inside.is_copy = true;
  inside.levels.clear();
  inside.top.clear();
  text.text(reach(l, where, {block}, inside));
  if (c.kind == construct_kind::loop && unit_.roles[block.begin] != token_role::keyword) {
    const VarDecl* variable = variable_at(c.variable);
    if (variable != nullptr && uses(block, variable))
      text.text(" const int " + variable->getNameAsString() + " = ((sukima_loop *)sukima_r)->sukima_i;");
  }
  text.text(prologue);
  if (unit_.tokens[block.begin].is(tok::l_brace)) {
    text.text(" ");
    print(text, block, inside);
  } else {  // an expression in parentheses
    text.text(" return ");
    print(text, block, inside);
    text.text(";");
  }
  text.text(" }\n");
  behind_.append(text);
}

std::string emitter::put_function(const construct& c, const level& l, const context& where) {
  const std::string name = base_name(where) + "_" + number_of(c) + "_put";
  std::string lower = "sukima_i1";
  std::string upper = "sukima_i2";
  if (c.kind == construct_kind::loop) {
    lower = spelling(c.lower);
    upper = spelling(c.upper);
  }
  context own = where;
  bind_this(c.put, "(*sukima_this)", own);
  const std::string type = "struct " + task_type_name(c.task);
  outline("void " + name + "(void *sukima_r, void *sukima_task, int " + lower + ", int " + upper + ")", c, l,
          c.put, where,
          " " + type + " *const sukima_this = (" + type + " *)sukima_task; (void)sukima_this; (void)" +
              lower + "; (void)" + upper + ";",
          own);
  return ", " + name + ", sukima_exec_" + c.task + ", " + type;
}

std::string emitter::hint_functions(const construct& c, const level& l, const context& where) {
  std::string text;
  const std::string name = base_name(where) + "_" + number_of(c);
  context own = where;
  own.backtracking = "1";
  if (!c.guard.empty()) {
    outline("double " + name + "_guard(void *sukima_r)", c, l, c.guard, where, "", own);
    text = ", sukima_guard, " + name + "_guard";
  } else {
    text = ", 0, 0";
  }
  if (!c.split.empty()) {
    outline("int " + name + "_split(void *sukima_r, int sukima_i, int sukima_end)", c, l, c.split, where,
            " (void)sukima_i; (void)sukima_end;", own);
    text += ", " + name + "_split";
  } else if (c.kind == construct_kind::loop) {
    text += ", 0";
  }
  return text;
}

std::string emitter::dead_blocks(const construct& c, const context& where) {
  const std::string task = "sukima_t" + number_of(c);
  context dead = where;
  dead.is_copy = true;
  dead.backtracking = "1";
  bind_this(c.put, "(*" + task + ")", dead);
  bind_this(c.get, "(*" + task + ")", dead);
  std::string text = " if (0) { struct " + task_type_name(c.task) + " *const " + task + " = 0; ";
  if (c.kind == construct_kind::loop)
    text += "const int " + spelling(c.variable) + " = sukima_i" + number_of(c) + "; (void)" +
            spelling(c.variable) + "; ";
  if (!c.guard.empty()) text += "(void)" + text_of(c.guard, dead) + "; ";
  if (!c.split.empty()) text += "(void)" + text_of(c.split, dead) + "; ";
  text += "{ ";
  if (c.kind == construct_kind::loop)
    for (const token_index bound : {c.lower, c.upper})
      text += "const int " + spelling(bound) + " = 0; (void)" + spelling(bound) + "; ";
  return text + text_of(c.put, dead) + " } " + text_of(c.get, dead) + " }";
}

void emitter::do_two(writer& out, const construct& c, const context& where) {
  if (options_.sequential) {
    out.token("{", true);
    print(out, c.first, where);
    print(out, c.second, where);
    out.text(dead_blocks(c, where) + " }");
    return;
  }
  need_task(c.task);
  out.token("{", true);
  std::vector<token_range> used{c.put};
  if (!c.guard.empty()) used.push_back(c.guard);
  const level l = begin_record(out, c, used, "sukima_choice_point", where);
  const std::string name = base_name(where) + "_" + number_of(c);
  const std::string kind = put_function(c, l, where) + hint_functions(c, l, where);
  before_.text("static const sukima_kind " + name + "_kind = SUKIMA_DO_TWO_KIND(struct " + name + kind +
               ");\n");
  out.text(" sukima_poll(&" + l.record + "->sukima_head); ");
  print(out, c.first, inside(l, where));
  const std::string task = "sukima_t" + number_of(c);
  const std::string type = "struct " + task_type_name(c.task);
  out.text(" " + type + " *" + task + "; if (sukima_untouched(&" + l.record + "->sukima_head) || !(" + task +
           " = (" + type + " *)sukima_join(&" + l.record + "->sukima_head))) {");
  // S2 reads from the record what did not change: one register less to keep across S1.
  context second = where;
  second.top = "(char *)" + l.record;
  for (const captured& one : l.captures) {
    if (!one.by_value || !uses(c.second, one.variable) || one.variable->getType()->isVariablyModifiedType())
      continue;
    out.text(bind(one, l.record, second));
  }
  out.text(" ");
  print(out, c.second, second);
  out.text(" } else { ");
  context get = where;
  bind_this(c.get, "(*" + task + ")", get);
  print(out, c.get, get);
  out.text(" sukima_free(" + task + "); } }");
}

void emitter::wind(writer& out, const construct& c, const context& where) {
  out.token("{", true);
  print(out, c.before, where);
  out.text(" {");
  if (options_.sequential) {
    const level l = begin_record(out, c, {c.after}, "sukima_sequential", where);
    const std::string name = base_name(where) + "_" + number_of(c);
    context own = where;
    outline("void " + name + "_after(void *sukima_r)", c, l, c.after, where, "", own);
    out.text(" sukima_sequential_enter(&" + l.record + "->sukima_head, " + name + "_after); ");
    print(out, c.first, inside(l, where));
    out.text(" sukima_sequential_leave(&" + l.record + "->sukima_head); } ");
    print(out, c.after, where);
    out.text(" }");
    return;
  }
  const level l = begin_record(out, c, {c.before, c.after}, "sukima_choice_point", where);
  const std::string name = base_name(where) + "_" + number_of(c);
  context own = where;
  own.backtracking = "backtracking";
  for (const bool is_before : {true, false})
    outline("void " + name + (is_before ? "_before" : "_after") + "(void *sukima_r, int backtracking)", c, l,
            is_before ? c.before : c.after, where, " (void)backtracking;", own);
  before_.text("static const sukima_kind " + name + "_kind = SUKIMA_WIND_KIND(struct " + name + ", " + name +
               "_before, " + name + "_after);\n");
  // No poll: the fiber only learns that there is a record.
  out.text(" sukima_poll(&" + l.record + "->sukima_head); ");
  print(out, c.first, inside(l, where));
  out.text(" } ");
  print(out, c.after, where);
  out.text(" }");
}

void emitter::throw_tag(writer& out, const construct& c, const context& where) {
  const std::string tag = text_of(c.from, where);
  if (options_.sequential)
    out.token("{ sukima_sequential_throw((sukima_size)(" + tag + "), __FILE__, __LINE__); }", true);
  else
    out.token("{ const sukima_size sukima_tag = (sukima_size)(" + tag + "); sukima_throw(" + where.top +
                  ", sukima_tag, __FILE__, __LINE__); }",
              true);
}

void emitter::poll(writer& out, const construct& c, const context& where) {
  if (options_.sequential) {
    out.token("{ }", true);
    return;
  }
  const std::string record = "sukima_r" + number_of(c);
  out.token("{ sukima_poll_point *const " + record + " = (sukima_poll_point *)(void *)" + where.top + "; " +
                record +
                "->sukima_head.sukima_kind_or_child = (sukima_word)&sukima_poll_kind; sukima_poll(&" +
                record + "->sukima_head); }",
            true);
}

}  // namespace sukima::language
