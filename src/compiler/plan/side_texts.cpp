// SPDX-License-Identifier: Apache-2.0
#include "plan/side_texts.hpp"

namespace sukima::language {

using namespace clang;

namespace {

/// Returns whether a pragma that a macro produces is part of that macro's text, which is printed as the user
/// wrote it.
bool is_in(const plan_input& in, const std::set<unsigned>& written_macros, const side_text& text) {
  return text.location.isMacroID() &&
         written_macros.contains(in.sources.getExpansionLoc(text.location).getRawEncoding());
}

/// Returns whether a pragma belongs to a block that is printed elsewhere. The function around the block must
/// not contain the pragma.
bool is_printed_elsewhere(const planner& p, const side_text& text) {
  if (text.pragma.empty()) return false;
  const auto holds = [&text](const token_range& r) { return r.begin < text.before && text.before <= r.end; };
  const std::vector<token_range>& blocks = p.in.outlined;
  const auto behind = std::upper_bound(blocks.begin(), blocks.end(), text.before,
                                       [](token_index at, const token_range& r) { return at <= r.begin; });
  if (behind != blocks.begin() && holds(*std::prev(behind))) return true;
  return std::any_of(p.function.moved.begin(), p.function.moved.end(), [&](const auto& one) {
    return holds({p.in.unit.origins[one.first], p.in.unit.origins[one.second.end - 1]});
  });
}

/// Returns `// ...` as a comment that other text in its line may follow; empty: that is impossible.
std::string closed_comment(const std::string& comment) {
  if (!comment.starts_with("//")) return comment;
  const std::string text = comment.substr(2);
  if (text.find("*/") != std::string::npos || text.find('\n') != std::string::npos) return "";
  return "/*" + text + " */";
}

}  // namespace

bool is_printed_once(const context& scope) {
  return !scope.is_copy || scope.is_only_text || !scope.closure_name.empty();
}

void side_texts(planner& p, sheet& out, token_index before, const context& scope) {
  if (scope.is_copy) return;
  const std::vector<side_text>& texts = p.in.unit.source.texts;
  for (; p.names.next_text < texts.size() && texts[p.names.next_text].before <= before; ++p.names.next_text) {
    const side_text& text = texts[p.names.next_text];
    if (p.names.placed_pragmas.contains(p.names.next_text) || is_in(p.in, p.names.written_macros, text) ||
        is_printed_elsewhere(p, text))
      continue;
    if (text.directive) {
      out.end_line();
      out.go_to(text.location, false);
      out.text(text.text);
      out.end_line();
      continue;
    }
    out.go_to(text.location);
    const std::string comment = closed_comment(text.text);
    if (comment.empty()) continue;
    out.token(comment, true);
    out.text(" ");
  }
}

namespace {

/// Returns the user's token before a token of a run. Text before the opening brace of the run belongs to a
/// block.
token_index token_before(const plan_input& in, token_range run, token_index t) {
  const bool begins_block = t == run.begin && in.unit.tokens[t].is(tok::l_brace);
  const token_index first = begins_block ? 0 : run.begin;
  while (t-- > first)
    if (in.unit.origins[t] != no_token && in.unit.roles[t] != token_role::pragma) return t;
  return no_token;
}

/// Returns the pragmas between two tokens of a copy, and the comments of a closure.
sheet texts_between(planner& p, token_index after, token_index until,
                    const std::set<unsigned>& written_macros, const context& scope) {
  sheet result;
  const unit& u = p.in.unit;
  const std::vector<side_text>& texts = u.source.texts;
  auto text = std::upper_bound(texts.begin(), texts.end(), u.origins[after],
                               [](token_index at, const side_text& one) { return at < one.before; });
  for (; text != texts.end() && text->before <= u.origins[until]; ++text) {
    const bool is_comment = !text->directive && text->text.starts_with("/*");
    if (is_comment && !scope.closure_name.empty() && !scope.on_one_line) {
      result.go_to(text->location);
      result.token(text->text + " ", true);
    }
    if (text->pragma.empty() || is_in(p.in, written_macros, *text)) continue;
    result.token(text->pragma + " ", true);
    if (is_printed_once(scope)) p.names.placed_pragmas.insert(static_cast<std::size_t>(text - texts.begin()));
  }
  return result;
}

/// Returns whether pragmas are printed. The slow version of a function has none, because its loops have
/// another form.
bool has_texts(const context& scope) { return scope.version == nullptr || !scope.version->slow; }

}  // namespace

sheet texts_of_copy(planner& p, const run_plan& plan, token_index t, const context& scope) {
  if (!scope.is_copy || !has_texts(scope)) return {};
  if (p.in.unit.origins[t] == no_token || p.in.unit.roles[t] == token_role::pragma) return {};
  const token_index previous = token_before(p.in, plan.run.tokens, t);
  SUKIMA_ASSERT(previous == no_token || previous < t, "texts are between a token and an earlier one");
  return previous == no_token ? sheet() : texts_between(p, previous, t, plan.written_macros, scope);
}

void texts_of_statement(planner& p, sheet& out, token_index t, const context& scope) {
  if (!scope.is_copy) return side_texts(p, out, p.in.unit.origins[t], scope);
  const token_index previous = token_before(p.in, {0, t}, t);
  if (previous == no_token || !has_texts(scope)) return;
  if (sheet texts = texts_between(p, previous, t, {}, scope); !texts.steps().empty())
    out.append(std::move(texts));
}

}  // namespace sukima::language
