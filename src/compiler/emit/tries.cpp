// SPDX-License-Identifier: Apache-2.0
// try and catch: the body is a function of its own, called through the runtime, so that nothing returns
// twice.
#include "emit/emitter.hpp"
#include "emit/types.hpp"

namespace sukima::language {

using namespace clang;

/// The body as a function over a frame, which holds what it uses of the variables around it. \returns its
/// name
std::string emitter::body_function(const construct& c, const std::vector<captured>& captures,
                                   const context& where, body_exits& exits) {
  const std::string number = std::to_string(c.number);
  const std::string name = base_name(where) + "_" + number;
  const std::string frame = "sukima_f" + number;
  context body = where;
  body.levels.clear();
  body.exits = &exits;
  body.is_copy = true;  // it is printed behind the function
  if (!options_.sequential) body.top = "sukima_top";
  exits.frame = frame;
  bodies_[&c] = &exits;
  writer text(options_.line_directives);
  go_to(text, c.location, false);
  text.text("static int " + name + "_body(char *sukima_top, void *sukima_frame) { struct " + name +
            "_frame *const " + frame + " = (struct " + name +
            "_frame *)sukima_frame; (void)sukima_top; (void)" + frame + ";");
  for (const captured& one : captures) text.text(bind(one, frame, body));
  text.text(local_prototypes({c.first}));
  for (auto& [label, exit] : body.exits_here) exit = frame + "->" + exit_member(label);
  text.text(" ");
  print(text, c.first, body);
  text.text(" return 0; }\n");
  before_.text("static int " + name + "_body(char *sukima_top, void *sukima_frame);\n");
  behind_.append(text);
  return name + "_body";
}

void emitter::try_catch(writer& out, const construct& c, const context& where) {
  const std::string number = std::to_string(c.number);
  const std::string name = base_name(where) + "_" + number;
  const std::string frame = "sukima_frame" + number;
  const std::string code = "sukima_code" + number;
  context no_levels = where;
  no_levels.levels.clear();  // the frame holds all of it
  const std::vector<captured> captures = captures_of(c, {c.first}, no_levels);
  const QualType result = where.function->result;
  std::string members = fields(captures);
  if (!result->isVoidType()) members += " " + declare_unqualified(result, "sukima_result") + ";";
  std::string exit_stores;
  for (const auto& [label, exit] : where.exits_here) {
    members += std::string(options_.sequential ? " sukima_sequential_exit *" : " sukima_exit *") +
               exit_member(label) + ";";
    exit_stores += " " + frame + "." + exit_member(label) + " = " + exit + ";";
  }
  if (members.empty()) members = " char sukima_none;";
  before_.text("struct " + name + "_frame {" + members + " };\n");
  body_exits exits;
  const std::string body = body_function(c, captures, where, exits);
  out.token("{ const sukima_size sukima_tag" + number + " = (sukima_size)" + text_of(c.from, where) +
                "; struct " + name + "_frame " + frame + ";" + fill("(&" + frame + ")", captures, where) +
                exit_stores,
            true);
  if (options_.sequential) {
    out.text(" const int " + code + " = sukima_sequential_try(sukima_tag" + number + ", " + body + ", &" +
             frame + "); ");
  } else {
    const std::string record = "sukima_r" + number;
    out.text(" sukima_try_point *const " + record + " = (sukima_try_point *)(void *)" + where.top + "; " +
             record + "->sukima_head.sukima_kind_or_child = (sukima_word)&sukima_try_kind; " + record +
             "->sukima_tag = sukima_tag" + number + "; sukima_poll(&" + record + "->sukima_head)" +
             "; const int " + code + " = sukima_try(" + record + ", " + body + ", &" + frame + ", (char *)(" +
             record + " + 1)); ");
  }
  out.text("if (" + code + " == SUKIMA_THROWN) ");
  print(out, c.second, where);
  for (std::size_t k = 0; k < exits.jumps.size(); ++k) {
    const jump& j = *exits.jumps[k];
    out.text(" else if (" + code + " == " + std::to_string(k + 1) + ") ");
    const std::string value =
        j.kind == jump_kind::leave_function && !result->isVoidType() ? frame + ".sukima_result" : "";
    if (leaves_something(j, where) || j.kind != jump_kind::leave_function) {
      print_jump(out, j, where, value);
    } else {
      out.text("return" + (value.empty() ? "" : " " + value) + ";");
    }
  }
  out.text(" }");
  bodies_.erase(&c);
}

}  // namespace sukima::language
