// SPDX-License-Identifier: Apache-2.0
// The invariants of a unit, on which all stages after desugaring rely.
#include "source/unit.hpp"

namespace sukima::language {

using namespace clang;

const char* source_tokens::violated_invariant() const {
  if (tokens.empty() || tokens.back().isNot(tok::eof)) return "the last token of a source is its end";
  if (from_system.size() != tokens.size() || of_pragma.size() != tokens.size())
    return "the origin of each token of a source is known";
  if (!std::ranges::is_sorted(texts, {}, &side_text::before))
    return "directives and comments are in the order of the tokens that they precede";
  if (!texts.empty() && texts.back().before > tokens.size())
    return "each directive or comment precedes a token or the end of a source";
  for (const side_text& one : texts) {
    if (one.text.empty()) return "a directive or comment has a text";
    if (!one.directive && (one.changes_macro || !one.pragma.empty()))
      return "only a directive changes a macro or is a pragma";
  }
  if (file_is_system.size() != files.size()) return "each file that was read is the user's or the system's";
  return nullptr;
}

namespace {

bool is_inserted(token_role role) { return role == token_role::parsed_only || role == token_role::added; }

const char* violated_by_tokens(const unit& u) {
  const std::size_t count = u.tokens.size();
  if (u.roles.size() != count || u.origins.size() != count || u.partner.size() != count ||
      u.opened.size() != count)
    return "the facts about the tokens of a unit are parallel";
  std::vector<bool> seen(u.source.tokens.size());
  for (token_index t = 0; t < count; ++t) {
    if (is_inserted(u.roles[t]) != (u.origins[t] == no_token))
      return "a token is from the source unless desugaring inserted it";
    if (u.origins[t] != no_token) {
      if (u.origins[t] >= seen.size() || seen[u.origins[t]])
        return "each token of the source is at most once in the unit";
      seen[u.origins[t]] = true;
    }
    if (u.partner[t] != no_token &&
        (u.partner[t] >= count || u.partner[t] == t || u.partner[u.partner[t]] != t))
      return "two brackets are each other's partners";
    if (u.opened[t] != no_token && (u.opened[t] >= t || u.partner[u.opened[t]] < t))
      return "the bracket that is open before a token surrounds it";
  }
  if (std::ranges::find(seen, false) != seen.end()) return "each token of the source is in the unit";
  for (const auto& [location, t] : u.at)
    if (t >= count || is_inserted(u.roles[t]) || u.tokens[t].getLocation().getRawEncoding() != location)
      return "a location leads to the token there that was not inserted";
  return nullptr;
}

/// Returns whether ranges that are not empty follow each other within another one.
bool follow_each_other(std::initializer_list<token_range> parts, token_range whole) {
  token_index end = whole.begin;
  for (const token_range& one : parts) {
    if (one.begin > one.end) return false;
    if (one.empty()) continue;
    if (one.begin < end || one.end > whole.end) return false;
    end = one.end;
  }
  return true;
}

const char* violated_by_parts(const construct& c) {
  const bool hands_out = c.kind == construct_kind::do_two || c.kind == construct_kind::loop;
  if (hands_out != !c.put.empty() || hands_out != !c.get.empty() || hands_out != !c.task.empty())
    return "the constructs that hand out tasks, and no others, have a task, PUT and GET";
  const bool is_loop = c.kind == construct_kind::loop;
  if (is_loop != (c.variable != no_token) || is_loop != (c.lower != no_token) ||
      is_loop != (c.upper != no_token))
    return "a loop, and no other construct, has a variable and the names of its bounds";
  if (is_loop && (c.next.empty() != c.condition.empty() || c.next.empty() == c.to.empty()))
    return "a loop has either an upper bound or a condition and a next value";
  if ((c.kind == construct_kind::wind) != !c.before.empty() || c.before.empty() != c.after.empty())
    return "a dynamic_wind, and no other construct, has BEFORE and AFTER";
  if ((c.kind == construct_kind::throw_tag || c.kind == construct_kind::poll) != c.first.empty())
    return "each construct but throw and poll has a block";
  if ((c.kind == construct_kind::do_two || c.kind == construct_kind::try_catch) != !c.second.empty())
    return "do_two and try, and no other construct, have two blocks";
  const bool is_try = c.kind == construct_kind::try_catch;
  const bool has_order =
      is_try
          ? follow_each_other({c.first, c.from, c.second}, c.whole)
          : follow_each_other(
                {c.type, c.from, c.to, c.condition, c.next, c.before, c.first, c.after, c.second}, c.whole) &&
                follow_each_other({c.second.empty() ? c.first : c.second, c.put, c.get}, c.whole);
  if (!has_order) return "the parts of a construct follow each other within it";
  if (!follow_each_other({c.guard}, c.whole) || !follow_each_other({c.split}, c.whole))
    return "the expressions after 'handles' are within their construct";
  if (c.statements.empty()) return nullptr;
  if (c.kind != construct_kind::join) return "only a join has statements";
  token_index end = c.first.begin;
  for (const join_statement& one : c.statements) {
    if (one.tokens.begin < end || one.tokens.end < one.tokens.begin || one.tokens.end > c.first.end)
      return "the statements of a join follow each other in its block";
    if (!one.spawned && &one != &c.statements.back())
      return "only the last statement of a join is not spawned";
    end = one.tokens.end;
  }
  return nullptr;
}

const char* violated_by_constructs(const unit& u) {
  const construct* previous = nullptr;
  for (const construct& c : u.constructs) {
    if (c.number != (previous == nullptr ? 1 : previous->number + 1))
      return "the constructs of a unit are numbered from 1 without gaps";
    if (c.whole.empty() || c.whole.begin > c.whole.end || c.whole.end > u.tokens.size())
      return "a construct has tokens";
    if (previous != nullptr && previous->whole.begin >= c.whole.begin)
      return "constructs are in the order of their first tokens";
    if (c.around != nullptr && (c.around->number >= c.number || !c.around->whole.holds(c.whole)))
      return "constructs nest";
    if (c.around == nullptr && previous != nullptr && previous->whole.holds(c.whole))
      return "a construct within another one knows it";
    if (c.parent != nullptr && c.parent != c.around)
      return "the construct around another one in a function is the innermost one around it";
    if (const char* const violated = violated_by_parts(c); violated != nullptr) return violated;
    previous = &c;
  }
  return nullptr;
}

const char* violated_by_closure(const closure_declaration& c) {
  if (!c.whole.holds(c.name_token) || !c.whole.holds(c.parameters) || !c.whole.holds(c.rest) ||
      c.name_token >= c.parameters.begin || c.parameters.end > c.rest.begin)
    return "the name, the parameters and the rest of a closure's declarator follow each other within it";
  if (!c.body.empty() && (!c.whole.holds(c.body) || c.body.begin < c.rest.end || c.body.end != c.whole.end))
    return "the block of a closure ends its declaration";
  if (c.forward != nullptr && (!c.forward->body.empty() || c.forward->name != c.name))
    return "a closure is declared ahead without a block, under its own name";
  if (!c.body.empty() && (c.forward != nullptr ? c.forward->definition : c.definition) != &c)
    return "the first declaration of a closure leads to its definition";
  if (!std::ranges::is_sorted(c.returns) ||
      (!c.returns.empty() && !(c.body.holds(c.returns.front()) && c.body.holds(c.returns.back()))))
    return "the returns of a closure are in its block, in their order";
  for (const closure_jump& jump : c.jumps)
    if (!c.body.holds(jump.keyword) || jump.label <= jump.keyword || !c.body.holds(jump.label))
      return "a goto out of a closure and the name of its label are in the closure's block";
  return nullptr;
}

const char* violated_by_closures(const unit& u) {
  const closure_declaration* previous = nullptr;
  for (const closure_declaration& c : u.closures) {
    if (c.number != (previous == nullptr ? 1 : previous->number + 1))
      return "the closures of a unit are numbered from 1 without gaps";
    if (previous != nullptr &&
        (previous->whole.begin >= c.whole.begin || previous->name_token >= c.name_token))
      return "closures are in the order of their declarations";
    if (c.whole.end > u.tokens.size()) return "a closure consists of tokens of its unit";
    if (const char* const violated = violated_by_closure(c); violated != nullptr) return violated;
    previous = &c;
  }
  return nullptr;
}

const char* violated_by_declarations(const unit& u) {
  if (!std::ranges::is_sorted(u.worker_keywords) || !std::ranges::is_sorted(u.cluster_keywords))
    return "the words before worker functions are in their order";
  token_index end = 0;
  for (const task_declaration& task : u.tasks) {
    if (task.tokens.begin < end || task.tokens.empty()) return "the declarations of tasks follow each other";
    end = task.tokens.begin;
    for (const task_member& member : task.members) {
      if (!task.tokens.holds(member.tokens) || member.tokens.begin < end)
        return "the members of a task follow each other within it";
      end = member.tokens.end;
    }
    end = task.tokens.end;
  }
  end = 0;
  for (const task_execution& one : u.executions) {
    if (one.whole.begin < end || !one.whole.holds(one.block) || one.block.end != one.whole.end)
      return "the functions of task_exec follow each other, each with its block at its end";
    end = one.whole.end;
  }
  return nullptr;
}

}  // namespace

const char* unit::violated_invariant() const {
  for (const auto part :
       {violated_by_tokens, violated_by_constructs, violated_by_closures, violated_by_declarations})
    if (const char* const violated = part(*this); violated != nullptr) return violated;
  return nullptr;
}

}  // namespace sukima::language
