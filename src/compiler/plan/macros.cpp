// SPDX-License-Identifier: Apache-2.0
#include "plan/macros.hpp"

#include "plan/side_texts.hpp"
#include "plan/tokens.hpp"
#include "print/marks.hpp"

namespace sukima::language {

using namespace clang;

namespace {

/// Returns the first token of the source at or after a position of the unit; otherwise the number of tokens.
token_index source_token_from(const unit& u, token_index t) {
  while (t < u.tokens.size() && u.origins[t] == no_token) ++t;
  return t;
}

/// Returns the last token of the source before a position of the unit; otherwise no_token.
token_index source_token_before(const unit& u, token_index t) {
  while (t > 0)
    if (u.origins[--t] != no_token) return t;
  return no_token;
}

/// The uses of macros from which a token comes, outer ones first, by the locations of their names. Other
/// locations are between them.
class enclosing_uses {
 public:
  enclosing_uses(const SourceManager& sources, SourceLocation token) : sources_(sources) { add(token); }

  const std::vector<SourceLocation>& list() const { return list_; }
  bool contains(SourceLocation use) const {
    return std::find(list_.begin(), list_.end(), use) != list_.end();
  }

 private:
  void add(SourceLocation place) {
    if (!place.isMacroID() || !seen_.insert(place.getRawEncoding()).second) return;
    // For a token of an argument, this is the parameter in the body of the macro that received the argument.
    const SourceLocation in = sources_.getImmediateExpansionRange(place).getBegin();
    add(in);
    if (sources_.isMacroArgExpansion(place))
      add(sources_.getImmediateSpellingLoc(place));
    else if (!contains(in))
      list_.push_back(in);
  }

  const SourceManager& sources_;
  std::vector<SourceLocation> list_;
  std::set<unsigned> seen_;
};

/// Returns the token's location in the arguments of this use; invalid: the token is from the macro's body.
SourceLocation place_in_arguments(const SourceManager& sources, SourceLocation token, SourceLocation use) {
  while (token.isMacroID() && sources.isMacroArgExpansion(token)) {
    const SourceLocation parameter = sources.getImmediateExpansionRange(token).getBegin();
    token = sources.getImmediateSpellingLoc(token);
    if (parameter.isMacroID() && !sources.isMacroArgExpansion(parameter) &&
        sources.getImmediateExpansionRange(parameter).getBegin() == use)
      return token;
  }
  return {};
}

/// Returns the argument that contains a location, possibly through a macro in it.
std::optional<std::size_t> argument_at(const SourceManager& sources, const system_macro_use& use,
                                       SourceLocation place) {
  for (;; place = sources.getImmediateExpansionRange(place).getBegin()) {
    for (std::size_t k = 0; k < use.arguments.size(); ++k)
      if (std::find(use.arguments[k].begin(), use.arguments[k].end(), place) != use.arguments[k].end())
        return k;
    if (!place.isMacroID()) return std::nullopt;
  }
}

/// A use of a system header's macro that can be printed as a call.
struct macro_call {
  const system_macro_use* use;
  SourceLocation name;
  token_index end;
  std::vector<token_range> arguments;
};

/// Determines whether the tokens from `t` on are a whole use of a macro, and whether the C compiler can
/// expand the macro's body.
class macro_call_finder {
 public:
  macro_call_finder(const planner& p, token_range run, token_index t, const context& scope)
      : p_(p), sources_(p.in.sources), run_(run), t_(t), scope_(scope) {}

  /// Returns the outermost such use.
  std::optional<macro_call> find() const {
    const enclosing_uses uses(sources_, location(t_));
    for (const SourceLocation name : uses.list()) {
      const auto& known = p_.in.unit.source.system_macros;
      const auto found = known.find(name.getRawEncoding());
      if (found == known.end() || scope_.open_macros.contains(name.getRawEncoding())) continue;
      macro_call call{&found->second, name, t_, {}};
      if (fits(call)) return call;
    }
    return std::nullopt;
  }

 private:
  using tokens_of_argument = std::vector<std::pair<token_index, SourceLocation>>;

  SourceLocation location(token_index t) const { return p_.in.unit.tokens[t].getLocation(); }
  bool is_in(token_index t, SourceLocation use) const {
    return t < p_.in.unit.tokens.size() && enclosing_uses(sources_, location(t)).contains(use);
  }

  bool fits(macro_call& call) const {
    if (is_in(source_token_before(p_.in.unit, t_), call.name)) return false;
    std::vector<tokens_of_argument> arguments(call.use->arguments.size());
    for (; call.end < run_.end && is_in(call.end, call.name); ++call.end) {
      if (p_.in.unit.roles[call.end] != token_role::user) return false;
      const SourceLocation place = place_in_arguments(sources_, location(call.end), call.name);
      if (place.isValid()) {
        const auto argument = argument_at(sources_, *call.use, place);
        if (!argument) return false;
        arguments[*argument].emplace_back(call.end, place);
      } else if (!is_of_body(call.end, call.name) || is_edited(p_, call.end, scope_)) {
        return false;
      }
    }
    if (is_in(source_token_from(p_.in.unit, call.end), call.name)) return false;
    for (std::size_t k = 0; k < arguments.size(); ++k) {
      if (call.use->arguments[k].empty() != arguments[k].empty()) return false;
      const std::optional<token_range> one = once(arguments[k]);
      if (!one) return false;
      call.arguments.push_back(*one);
    }
    return true;
  }

  /// Returns whether the token is from the macro's body, and is not an argument of a macro that ends the body
  /// or an argument's text as a string.
  bool is_of_body(token_index t, SourceLocation use) const {
    SourceLocation place = location(t);
    while (place.isMacroID() && sources_.isMacroArgExpansion(place))
      place = sources_.getImmediateSpellingLoc(place);
    const bool is_made = sources_.isWrittenInScratchSpace(sources_.getSpellingLoc(place));
    return place.isMacroID() && enclosing_uses(sources_, place).contains(use) &&
           !(is_made && p_.in.unit.tokens[t].isLiteral());
  }

  /// Returns the first place where the body has an argument; nothing: the argument is not complete there.
  static std::optional<token_range> once(const tokens_of_argument& tokens) {
    if (tokens.empty()) return token_range{};
    std::set<SourceLocation> all, first;
    for (const auto& [t, place] : tokens) all.insert(place);
    token_range range{tokens.front().first, tokens.front().first};
    for (const auto& [t, place] : tokens) {
      if (t != range.end || !first.insert(place).second) break;
      ++range.end;
    }
    return first.size() == all.size() ? std::optional(range) : std::nullopt;
  }

  const planner& p_;
  const SourceManager& sources_;
  token_range run_;
  token_index t_;
  const context& scope_;
};

/// Replaces these tokens by text.
void replace_by(planner& p, token_run& run, token_range tokens, std::string text, const context& scope) {
  const Token& first = p.in.unit.tokens[tokens.begin];
  replaced whole{tokens.end, {}};
  if (p.in.unit.origins[tokens.begin] != no_token)
    side_texts(p, whole.by, p.in.unit.origins[tokens.begin], scope);
  whole.by.go_to(first.getLocation());
  whole.by.token(std::move(text), first.hasLeadingSpace() || first.isAtStartOfLine());
  SUKIMA_ASSERT(!run.edits.contains(tokens.begin), "each token has at most one edit");
  run.edits.emplace(tokens.begin, edit{{}, std::move(whole), {}});
}

/// Plans a token of a macro that must be expanded.
token_index plan_expanded(planner& p, token_run& run, token_index t, const context& scope) {
  const std::optional<macro_call> call = macro_call_finder(p, run.tokens, t, scope).find();
  if (!call) {
    plan_token(p, run, t, scope);
    return t + 1;
  }
  SUKIMA_ASSERT(!scope.open_macros.contains(call->name.getRawEncoding()),
                "a use of a macro is not within itself");
  SUKIMA_ASSERT(call->arguments.size() == call->use->arguments.size(),
                "each argument of a macro has its tokens");
  context inside = scope;
  inside.open_macros.insert(call->name.getRawEncoding());
  std::string text;
  for (const token_range& one : call->arguments)
    text += (text.empty() && &one == &call->arguments.front() ? "" : ", ") + text_of(p, one, inside);
  if (call->use->has_arguments) text = "(" + text + ")";
  replace_by(p, run, {t, call->end}, marked_call(call->use->name, text), scope);
  return call->end;
}

/// Returns whether a macro changes within the function, so that it may have another meaning at the place of a
/// copied block.
bool macros_change_in(const plan_input& in, const function_info& f) {
  const function_info* outermost = &f;
  while (outermost->outer != nullptr) outermost = outermost->outer;
  const token_index first = in.unit.origins[outermost->body.begin];
  const token_index last = in.unit.origins[outermost->body.end - 1];
  return first != no_token && last != no_token &&
         std::ranges::upper_bound(in.macro_changes, first) !=
             std::ranges::upper_bound(in.macro_changes, last);
}

/// Returns the user's text from one place up to the token at another, without comments; nothing: the text
/// contains directives.
std::optional<std::string> written_text(const plan_input& in, SourceLocation begin, SourceLocation last) {
  const LangOptions& language = in.compiler.getLangOpts();
  const auto [file, first] = in.sources.getDecomposedLoc(begin);
  const auto [last_file, end] =
      in.sources.getDecomposedLoc(Lexer::getLocForEndOfToken(last, 0, in.sources, language));
  if (file != last_file || end < first) return std::nullopt;
  const StringRef buffer = in.sources.getBufferData(file);
  Lexer lexer(in.sources.getLocForStartOfFile(file), language, buffer.begin(), buffer.begin() + first,
              buffer.end());
  lexer.SetCommentRetentionState(true);
  std::string text;
  const char* copied = buffer.begin() + first;
  Token token;
  while (lexer.LexFromRawLexer(token), lexer.getCurrentBufferOffset() <= end && token.isNot(tok::eof)) {
    if (token.is(tok::hash) && token.isAtStartOfLine() && !text.empty()) return std::nullopt;
    const char* const after = lexer.getBufferLocation();
    const char* const before = after - token.getLength();
    text.append(copied, before);
    if (token.is(tok::comment))
      text += " " + std::string(static_cast<std::size_t>(std::count(before, after, '\n')), '\n');
    else
      text.append(before, after);
    copied = after;
    if (lexer.getCurrentBufferOffset() == end) break;
  }
  if (std::ranges::any_of(text, is_mark)) return std::nullopt;  // the printer would take it for its own
  return text;
}

}  // namespace

token_index plan_macro(planner& p, run_plan& plan, token_index token, const context& scope) {
  const unit& u = p.in.unit;
  SUKIMA_ASSERT(u.tokens[token].getLocation().isMacroID(), "a token of a macro has a place in its expansion");
  const SourceLocation begin = p.in.sources.getExpansionLoc(u.tokens[token].getLocation());
  if (plan.expanded == begin) return plan_expanded(p, plan.run, token, scope);
  const auto belongs = [&](token_index k) {
    return u.tokens[k].getLocation().isMacroID() &&
           p.in.sources.getExpansionLoc(u.tokens[k].getLocation()) == begin;
  };
  SourceLocation last = begin;
  token_index end = token;
  bool as_written = !p.in.unit.source.counters.contains(begin.getRawEncoding());
  for (; end < plan.run.tokens.end && belongs(end); ++end) {
    if (is_edited(p, end, scope)) as_written = false;
    // If another macro's body ends with a macro's name, that macro takes its arguments from the text after
    // the use.
    const SourceLocation to = p.in.sources.getExpansionRange(u.tokens[end].getLocation()).getEnd();
    if (p.in.sources.isBeforeInTranslationUnit(last, to)) last = to;
  }
  // Desugaring may have inserted tokens between those of the macro.
  const token_index next = source_token_from(u, end);
  const token_index before = source_token_before(u, token);
  if ((next < u.tokens.size() && belongs(next)) || (before != no_token && belongs(before)))
    as_written = false;
  if (as_written && scope.is_copy && scope.function != nullptr && macros_change_in(p.in, *scope.function))
    as_written = false;
  std::optional<std::string> text;
  if (as_written) text = written_text(p.in, begin, last);
  if (!text) {
    plan.expanded = begin;
    return plan_expanded(p, plan.run, token, scope);
  }
  plan.written_macros.insert(begin.getRawEncoding());
  if (is_printed_once(scope)) p.names.written_macros.insert(begin.getRawEncoding());
  replace_by(p, plan.run, {token, end}, marked_as_written(*text), scope);
  return end;
}

}  // namespace sukima::language
