// SPDX-License-Identifier: Apache-2.0
// return, break, continue and goto out of constructs: level by level, the innermost first.
#include "emit/emitter.hpp"
#include "emit/types.hpp"

namespace sukima::language {

using namespace clang;

/// How many of the place's levels, from the outermost on, the jump stays inside of.
std::size_t emitter::kept_levels(const jump& j, const context& where) const {
  if (j.kind == jump_kind::leave_function) return 0;
  std::size_t kept = 0;
  for (const level& l : where.levels) {
    const bool stays = j.own_loop == l.c
                           ? j.kind == jump_kind::next_iteration
                           : j.target != no_token && l.c->whole.holds(j.target) && l.c != j.own_loop;
    if (!stays) break;
    ++kept;
    if (j.own_loop == l.c) break;
  }
  return kept;
}

/// Does it leave the try's body that is being printed as a function of its own?
bool emitter::leaves_the_body(const jump& j, const context& where) const {
  if (where.exits == nullptr || kept_levels(j, where) != 0) return false;
  const auto body = bodies_.begin();
  for (const auto& [c, exits] : bodies_)
    if (exits == where.exits)
      return j.target == no_token || !c->first.holds(j.target) || j.kind == jump_kind::leave_function;
  return body != bodies_.end();
}

bool emitter::leaves_something(const jump& j, const context& where) const {
  if (where.function == nullptr || !where.function->is_worker) return false;
  if (j.own_loop != nullptr) return true;
  return kept_levels(j, where) < where.levels.size() || leaves_the_body(j, where);
}

void emitter::leave(writer& out, const std::vector<level>& levels, std::size_t keep) {
  for (std::size_t k = levels.size(); k > keep; --k) {
    const level& l = levels[k - 1];
    switch (l.c->kind) {
      case construct_kind::do_two:
        if (!options_.sequential)
          out.text(" if (sukima_was_split(&" + l.record + "->sukima_head)) sukima_abandon(&" + l.record +
                   "->sukima_head);");
        break;
      case construct_kind::loop:
        if (!options_.sequential)
          out.text(" if (sukima_was_split(&" + l.record + "->sukima_head.sukima_head)) sukima_abandon(&" +
                   l.record + "->sukima_head.sukima_head);");
        break;
      case construct_kind::join:
        if (!options_.sequential)
          out.text(" " + base_name(*l.outside) + "_" + std::to_string(l.c->number) + "_end(" + l.record +
                   ");");
        break;
      case construct_kind::wind: {
        if (options_.sequential) out.text(" sukima_sequential_leave(&" + l.record + "->sukima_head);");
        context after = *l.outside;
        after.is_copy = true;
        after.copied = l.c->after;
        after.suffix = "_sukima" + std::to_string(++copies_);
        out.text(" ");
        print(out, l.c->after, after);
        break;
      }
      default:
        break;
    }
  }
}

void emitter::print_jump(writer& out, const jump& j, const context& where, const std::string& computed) {
  go_to(out, unit_.tokens[j.keyword].getLocation());
  const std::size_t keep = kept_levels(j, where);
  const bool out_of_body = leaves_the_body(j, where);
  out.token("{", true);
  std::string last;
  if (j.kind == jump_kind::leave_function) {
    const token_range value{j.keyword + 1, j.end - 1};
    const QualType type = where.function->result;
    const std::string text = computed.empty() ? text_of(value, where) : computed;
    if (!text.empty() && !type->isVoidType()) {
      if (out_of_body) {
        out.text(" " + where.exits->frame + "->sukima_result = " + text + ";");
      } else {
        out.text(" " + declare_unqualified(type, "sukima_value") + " = " + text + ";");
        last = " return sukima_value;";
      }
    } else {
      if (!text.empty()) out.text(" " + text + ";");
      last = " return;";
    }
  } else if (j.own_loop != nullptr) {
    const bool again = j.kind == jump_kind::next_iteration;
    last = std::string(" goto sukima_") + (again ? "continue" : "break") +
           std::to_string(j.own_loop->number) + ";";
    if (!out_of_body) (again ? continued_ : broken_).insert(j.own_loop);
  } else if (j.kind == jump_kind::go_to) {
    last = " goto " + j.label->getNameAsString() + ";";
  } else {
    last = j.kind == jump_kind::leave_block ? " break;" : " continue;";
  }
  if (out_of_body) {
    const auto known =
        std::find_if(where.exits->jumps.begin(), where.exits->jumps.end(), [&](const jump* other) {
          return other->kind == j.kind && other->target == j.target && other->label == j.label;
        });
    last = " return " + std::to_string(known - where.exits->jumps.begin() + 1) + ";";
    if (known == where.exits->jumps.end()) where.exits->jumps.push_back(&j);
  }
  leave(out, where.levels, keep);
  out.text(last + " }");
}

}  // namespace sukima::language
