// SPDX-License-Identifier: Apache-2.0
#include "plan/side_texts.hpp"

namespace sukima::language {

using namespace clang;

namespace {

/// A pragma that comes out of a macro is in the macro's text where that is printed as the user wrote it.
bool is_in(const plan_input& in, const std::set<unsigned>& written_macros, const side_text& text) {
  return text.location.isMacroID() &&
         written_macros.contains(in.sources.getExpansionLoc(text.location).getRawEncoding());
}

/// A closure's comments and pragmas go with its block; its macros stay where they were written.
void closure_texts(planner& p, sheet& out, token_index before, const context& where) {
  const std::vector<side_text>& texts = p.in.unit.source.texts;
  auto text = std::upper_bound(texts.begin(), texts.end(), p.names.closure_text,
                               [](token_index at, const side_text& one) { return at < one.before; });
  for (; text != texts.end() && text->before <= before; ++text) {
    if (text->changes_macro || is_in(p.in, p.names.written_macros, *text)) continue;
    if (text->directive) {
      if (where.on_one_line) continue;
      out.end_line();
      out.go_to(text->location, false);
      out.text(text->text + "\n");
    } else if (text->text.starts_with("/*")) {
      out.go_to(text->location);
      out.token(text->text + " ", true);
    }
  }
  p.names.closure_text = std::max(p.names.closure_text, before);
}

/// `// ...` as a comment that other text may follow in its line; empty: it cannot be written so.
std::string closed_comment(const std::string& comment) {
  if (!comment.starts_with("//")) return comment;
  const std::string text = comment.substr(2);
  if (text.find("*/") != std::string::npos || text.find('\n') != std::string::npos) return "";
  return "/*" + text + " */";
}

}  // namespace

bool is_printed_once(const context& where) {
  return !where.is_copy || where.is_only_text || !where.closure_name.empty();
}

void side_texts(planner& p, sheet& out, token_index before, const context& where) {
  if (!where.closure_name.empty() && before != no_token) return closure_texts(p, out, before, where);
  if (where.is_copy) return;
  const std::vector<side_text>& texts = p.in.unit.source.texts;
  for (; p.names.next_text < texts.size() && texts[p.names.next_text].before <= before; ++p.names.next_text) {
    const side_text& text = texts[p.names.next_text];
    if (p.names.placed_pragmas.contains(p.names.next_text) || is_in(p.in, p.names.written_macros, text))
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

sheet pragmas_of_copy(planner& p, const run_plan& plan, token_index t, const context& where) {
  sheet result;
  if (!where.is_copy || (!where.closure_name.empty() && !where.on_one_line)) return result;
  // Nothing is to be said about a slow version, and its loops have another form.
  if (where.version != nullptr && where.version->slow) return result;
  const unit& u = p.in.unit;
  const auto is_between = [&](token_index k) {
    return u.origins[k] == no_token || u.roles[k] == token_role::pragma;
  };
  if (is_between(t)) return result;
  token_index previous = t;
  do {
    if (previous == plan.run.tokens.begin) return result;
    --previous;
  } while (is_between(previous));
  const std::vector<side_text>& texts = u.source.texts;
  auto text = std::upper_bound(texts.begin(), texts.end(), u.origins[previous],
                               [](token_index at, const side_text& one) { return at < one.before; });
  for (; text != texts.end() && text->before <= u.origins[t]; ++text) {
    if (text->pragma.empty() || is_in(p.in, plan.written_macros, *text)) continue;
    result.token(text->pragma + " ", true);
    if (is_printed_once(where)) p.names.placed_pragmas.insert(static_cast<std::size_t>(text - texts.begin()));
  }
  return result;
}

}  // namespace sukima::language
