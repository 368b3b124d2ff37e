// SPDX-License-Identifier: Apache-2.0
// Printing the user's tokens as they were, but for names that are reached otherwise.
#include "emit/emitter.hpp"

namespace sukima::language {

using namespace clang;

void emitter::go_to(writer& out, SourceLocation place, bool column) const {
  const PresumedLoc presumed = sources_.getPresumedLoc(sources_.getExpansionLoc(place));
  if (presumed.isValid())
    out.go_to(presumed.getFilename(), presumed.getLine(), column ? presumed.getColumn() : 0);
}

std::string emitter::spelling(token_index t) const {
  const Token& token = unit_.tokens[t];
  if (token.isAnnotation()) return "";
  if (token.getIdentifierInfo() != nullptr) return token.getIdentifierInfo()->getName().str();
  if (!token.isLiteral())
    if (const char* punctuation = tok::getPunctuatorSpelling(token.getKind())) return punctuation;
  return compiler_.getPreprocessor().getSpelling(token);
}

void emitter::print_texts(writer& out, token_index before, const context& where) {
  const std::vector<side_text>& texts = unit_.source.texts;
  if (!where.closure_name.empty() && before != no_token) {
    // A closure's comments and pragmas go with its block, its macros stay where they were written.
    auto text = std::upper_bound(texts.begin(), texts.end(), closure_text_,
                                 [](token_index at, const side_text& one) { return at < one.before; });
    for (; text != texts.end() && text->before <= before; ++text) {
      if (text->changes_macro) continue;
      if (text->directive) {
        out.end_line();
        go_to(out, text->location, false);
        out.text(text->text + "\n");
      } else if (text->text.starts_with("/*")) {
        go_to(out, text->location);
        out.token(text->text + " ", true);
      }
    }
    closure_text_ = std::max(closure_text_, before);
    return;
  }
  if (where.is_copy) return;
  for (; next_text_ < texts.size() && texts[next_text_].before <= before; ++next_text_) {
    const side_text& text = texts[next_text_];
    if (text.directive) {
      out.end_line();
      const PresumedLoc presumed = sources_.getPresumedLoc(text.location);
      if (presumed.isValid()) out.go_to(presumed.getFilename(), presumed.getLine());
      out.text(text.text);
      out.end_line();
    } else {
      go_to(out, text.location);
      std::string comment = text.text;
      if (comment.starts_with("//")) {  // other text may follow in this line
        comment = comment.substr(2);
        if (comment.find("*/") != std::string::npos || comment.find('\n') != std::string::npos) continue;
        comment = "/*" + comment + " */";
      }
      out.token(comment, true);
      out.text(" ");
    }
  }
}

bool emitter::is_put_in(const VarDecl* variable) const {
  const auto found = index_.declared.find(variable);
  if (found == index_.declared.end()) return false;
  const Token& token = unit_.tokens[found->second];
  return unit_.roles[found->second] == token_role::keyword || token.isNot(tok::identifier) ||
         token.getIdentifierInfo() != variable->getIdentifier();
}

/// What stands in place of a token; its own spelling as a rule.
std::string emitter::replacement(token_index t, const context& where) const {
  const Token& token = unit_.tokens[t];
  if (token.is(tok::kw_register) && where.function != nullptr &&
      (where.function->is_worker || where.function->has_closures))
    return "";
  if (index_.dropped.contains(t)) return "";
  if (const auto name = index_.names.find(t); name != index_.names.end()) {
    const NamedDecl* declaration = name->second;
    if (const auto own = renamed_.find(declaration->getCanonicalDecl()); own != renamed_.end())
      return own->second;
    if (const auto* label = dyn_cast<LabelDecl>(declaration); label != nullptr && !label->isGnuLocal()) {
      const auto place = where.function->labels.find(label);
      if (place != where.function->labels.end() && where.copied.holds(place->second))
        return spelling(t) + where.suffix;
    }
    if (const auto* variable = dyn_cast<VarDecl>(declaration)) {
      if (const auto call = closure_names_called_.find(t); where.version == nullptr &&
                                                           call != closure_names_called_.end() &&
                                                           call->second != where.called_apart) {
        const std::string& code = closure_names_.at(index_.closure_variables.at(variable)->definition).name;
        return leaves_for_c(call->second->open, where)
                   ? "(sukima_leave_for_c(" + where.top + "), " + code + ")"
                   : code;
      }
      if (const auto own = where.names.find(variable); own != where.names.end()) return own->second;
      if (is_put_in(variable)) {
        if (variable->getName() == "this") return "(*sukima_this)";
        if (variable->getName() == "backtracking") return where.backtracking;
      }
      if (index_.worker_locals.contains(variable->getCanonicalDecl())) {
        const std::string own_name = variable->getNameAsString();
        const auto declared = index_.declared.find(variable);
        const bool is_declaration = declared != index_.declared.end() && declared->second == t;
        if (is_declaration || options_.sequential)
          return options_.sequential ? own_name : own_name + "__initial";
        return "(*(__typeof__(" + own_name + "__initial) *)sukima_worker_local(&" + own_name + "__object))";
      }
      if (variable->getTLSKind() != VarDecl::TLS_None && where.function != nullptr &&
          where.function->is_worker && !options_.sequential)
        return "(*" + thread_accessor(variable) + "())";
    } else if (const auto* function = dyn_cast<FunctionDecl>(declaration)) {
      if (is_worker_type(function->getType()) && !options_.sequential) {
        if (index_.plain_entries.contains(t)) return entry_name(function);
        for (token_index open = t + 1; open < unit_.tokens.size() && open < t + 3; ++open)
          if (const auto call = index_.calls.find(open);
              call != index_.calls.end() && call->second.first <= t)
            if (call->second.callee == function && !call->second.in_worker) return entry_name(function);
        return worker_name(function);
      }
      if (function->getName() == "__errno_location" && where.function != nullptr &&
          where.function->is_worker && !options_.sequential)
        return "sukima_errno";
    }
  }
  if (index_.function_names.contains(t) && where.function != nullptr && where.function->closure != nullptr)
    return "\"" + where.function->closure->name + "\"";
  if (index_.function_names.contains(t) && where.version != nullptr)
    return "\"" + where.function->declaration->getNameAsString() + "\"";
  if (index_.function_names.contains(t) && where.function != nullptr && where.function->is_worker &&
      (where.is_copy || where.function->execution != nullptr || where.function->declaration->isMain())) {
    const std::string user_name = where.function->execution != nullptr
                                      ? "task_exec " + where.function->execution->task
                                      : where.function->declaration->getNameAsString();
    return "\"" + user_name + "\"";
  }
  return spelling(t);
}

/// Whether printing this token needs more than its own text, so that a macro around it must be expanded.
bool emitter::differs(token_index t, const context& where) const {
  const token_role role = unit_.roles[t];
  if (role == token_role::parsed_only || role == token_role::added || role == token_role::keyword)
    return true;
  if (where.version != nullptr &&
      (where.version->substitutes.contains(t) || where.version->of->statements.contains(t)))
    return true;
  if (index_.calls.contains(t)) {
    const worker_call& call = index_.calls.at(t);
    if (!options_.sequential && (call.in_worker || call.callee == nullptr)) return true;
  }
  if (index_.declarators.contains(t) && !options_.sequential) return true;
  if (const auto j = index_.jumps.find(t); j != index_.jumps.end() && leaves_something(j->second, where))
    return true;
  if (pointer_calls_.contains(t) || closure_pointer_calls_.contains(t) || closure_at_.contains(t) ||
      calls_of_c_.contains(t) || workers_in_arguments_.contains(t) || index_.closure_jumps.contains(t) ||
      variadic_calls_.contains(t))
    return true;
  if (index_.closure_calls.contains(t) || behind_token_.contains(t)) return true;
  if (!where.moving ? moved_.contains(t) : tag_names_.contains(t)) return true;
  return !unit_.tokens[t].isAnnotation() && replacement(t, where) != spelling(t);
}

/// A token of a macro that must be expanded. Where it comes from a macro that the user wrote in an argument,
/// that one
/// need not be: a system header's may mean something else to the compiler behind.
token_index emitter::print_argument(writer& out, token_index t, token_range range, const context& where) {
  const auto inner_use = [&](token_index k) {
    SourceLocation place = unit_.tokens[k].getLocation();
    bool is_argument = false;
    while (place.isMacroID() && sources_.isMacroArgExpansion(place)) {
      place = sources_.getImmediateSpellingLoc(place);
      is_argument = true;
    }
    if (!is_argument || !place.isMacroID() || !sources_.isInSystemHeader(sources_.getSpellingLoc(place)))
      return CharSourceRange();
    // Not the macro that is being expanded itself, whose body may hand its own text on to another one.
    const CharSourceRange inner = sources_.getExpansionRange(place);
    const CharSourceRange outer = sources_.getExpansionRange(unit_.tokens[k].getLocation());
    return inner.getBegin() == outer.getBegin() ? CharSourceRange() : inner;
  };
  const CharSourceRange use = inner_use(t);
  token_index end = t;
  bool as_written = use.isValid();
  while (as_written && end < range.end && unit_.tokens[end].getLocation().isMacroID() &&
         inner_use(end).getBegin() == use.getBegin()) {
    if (differs(end, where) || construct_at_.contains(end)) as_written = false;
    ++end;
  }
  if (as_written && t > range.begin && inner_use(t - 1).getBegin() == use.getBegin()) as_written = false;
  if (!as_written) {
    print_token(out, t, where);
    return t + 1;
  }
  if (unit_.origins[t] != no_token) print_texts(out, unit_.origins[t], where);
  go_to(out, unit_.tokens[t].getLocation());
  std::string text = Lexer::getSourceText(use, sources_, compiler_.getLangOpts()).str();
  std::replace(text.begin(), text.end(), '\n', ' ');
  out.token(text, unit_.tokens[t].hasLeadingSpace());
  return end;
}

/// The tokens of one use of a macro: as the user wrote it, unless something in it must be edited.
token_index emitter::print_macro(writer& out, token_index t, token_range range, const context& where) {
  const CharSourceRange use = sources_.getExpansionRange(unit_.tokens[t].getLocation());
  token_index end = t;
  bool as_written = true;
  const auto belongs = [&](token_index k) {
    const SourceLocation place = unit_.tokens[k].getLocation();
    return place.isMacroID() && sources_.getExpansionRange(place).getBegin() == use.getBegin();
  };
  while (end < range.end && belongs(end)) {
    if (differs(end, where) || construct_at_.contains(end)) as_written = false;
    ++end;
  }
  if ((end < unit_.tokens.size() && belongs(end)) || (t > 0 && belongs(t - 1))) as_written = false;
  if (as_written && where.is_copy && where.function != nullptr) {
    // A copy stands behind the function: a macro that changes inside of it may mean something else there.
    const token_index first = unit_.origins[where.function->body.begin];
    const token_index last = unit_.origins[where.function->body.end - 1];
    for (const side_text& text : unit_.source.texts)
      if (text.changes_macro && first != no_token && last != no_token && text.before > first &&
          text.before <= last)
        as_written = false;
  }
  if (!as_written) return print_argument(out, t, range, where);
  print_texts(out, unit_.origins[t], where);
  go_to(out, unit_.tokens[t].getLocation());
  out.token(Lexer::getSourceText(use, sources_, compiler_.getLangOpts()), unit_.tokens[t].hasLeadingSpace());
  return end;
}

void emitter::print_token(writer& out, token_index t, const context& where) {
  const Token& token = unit_.tokens[t];
  if (token.isAnnotation() || token.is(tok::eof)) return;
  if (unit_.origins[t] != no_token) print_texts(out, unit_.origins[t], where);
  const std::string text = replacement(t, where);
  if (text.empty()) return;
  go_to(out, token.getLocation());
  if (where.moving)
    if (const auto tag = tag_names_.find(t); tag != tag_names_.end()) out.token(tag->second, true);
  const bool space = token.hasLeadingSpace() || token.isAtStartOfLine();
  if (const auto calls = closure_pointer_calls_.find(t);
      calls != closure_pointer_calls_.end() && where.version == nullptr)
    for (const closure_call* call : calls->second) {
      if (call == where.called_apart) continue;
      const bool is_worker = call->is_worker && call->in_worker && !options_.sequential;
      const std::string caller = closure_caller(*call);
      out.token((leaves_for_c(call->open, where) ? "(sukima_leave_for_c(" + where.top + "), " + caller + ")"
                                                 : caller) +
                    "(" + (is_worker ? where.top + ", " : "") + begin_check(*call),
                space);
    }
  if (const auto call = calls_of_c_.find(t); call != calls_of_c_.end() && leaves_for_c(call->second, where))
    out.token("(sukima_leave_for_c(" + where.top + "), ", space);
  if (index_.all_calls.contains(t) && leaves_for_c(t, where)) {
    const auto begun = calls_of_c_.find(unit_.find(index_.all_calls.at(t)->getBeginLoc()));
    if (begun != calls_of_c_.end() && begun->second == t) out.token(")", false);
  }
  if (const auto found = index_.closure_calls.find(t);
      found != index_.closure_calls.end() && where.version == nullptr) {
    const closure_call& call = found->second;
    const std::string comma = call.has_arguments ? ", " : "";
    if (is_pointer_call(call)) {
      out.token(
          (options_.check_closures && &call != where.called_apart ? "), __FILE__, __LINE__)" : "") + comma,
          false);
      return;
    }
    out.token("(" + (call.is_worker && !options_.sequential ? where.top + ", " : "") +
                  "sukima_closure_self((__UINTPTR_TYPE__)" + name_in(call.callee, where) + ")" + comma,
              false);
    return;
  }
  if (!options_.sequential) {
    if (const auto call = pointer_calls_.find(t); call != pointer_calls_.end())
      out.token(pointer_entry(*call->second) + "(", space);
    if (const auto call = index_.calls.find(t); call != index_.calls.end()) {
      if (call->second.in_worker) {
        out.token("(" + where.top + (call->second.has_arguments ? ", " : ""), false);
        return;
      }
      if (call->second.callee == nullptr) {
        out.token(call->second.has_arguments ? ", " : "", false);
        return;
      }
    }
    if (const auto declarator = index_.declarators.find(t); declarator != index_.declarators.end()) {
      out.token(std::string("(char *sukima_top") + (declarator->second.empty ? "" : ", "), false);
      return;
    }
    if (left_out_.contains(t)) return;
  }
  out.token(text, space);
}

void emitter::print(writer& out, token_range range, const context& where) {
  for (token_index t = range.begin; t < range.end;) {
    if (unit_.roles[t] == token_role::parsed_only || unit_.roles[t] == token_role::system) {
      ++t;
      continue;
    }
    if (where.version != nullptr)
      if (const token_index next = print_unwound(out, t, range, where); next != t) {
        t = next;
        continue;
      }
    if (const auto moved = moved_.find(t);
        moved != moved_.end() && !where.moving && moved->second.end <= range.end) {
      if (unit_.origins[t] != no_token) print_texts(out, unit_.origins[t], where);
      go_to(out, unit_.tokens[t].getLocation());
      out.token(moved->second.left, true);
      t = moved->second.end;
      continue;
    }
    const auto at = construct_at_.find(t);
    const construct* found = at == construct_at_.end() ? nullptr : at->second;
    if (found != nullptr && found->whole.end <= range.end) {
      if (unit_.origins[t] != no_token) print_texts(out, unit_.origins[t], where);
      print_construct(out, *found, where);
      t = found->whole.end;
      continue;
    }
    if (const auto closure = closure_at_.find(t);
        closure != closure_at_.end() && closure->second->whole.end <= range.end) {
      if (unit_.origins[t] != no_token) print_texts(out, unit_.origins[t], where);
      print_closure(out, *closure->second, where);
      t = closure->second->whole.end;
      continue;
    }
    if (unit_.roles[t] == token_role::keyword) {
      ++t;
      continue;
    }
    if (const auto placed = placed_.find(t); placed != placed_.end() && placed->second.end <= range.end) {
      if (unit_.origins[t] != no_token) print_texts(out, unit_.origins[t], where);
      print_placed(out, placed->second, where);
      t = placed->second.end;
      continue;
    }
    if (index_.closure_jumps.contains(t)) {
      print_closure_jump(out, t, where);
      while (!unit_.tokens[t].is(tok::semi)) ++t;
      ++t;
      continue;
    }
    if (const auto call = workers_in_arguments_.find(t);
        call != workers_in_arguments_.end() && call->second < range.end && !where.begun.contains(t)) {
      context begun = where;
      begun.begun.insert(t);
      const token_index end = unit_.partner[call->second] + 1;
      const bool has_value = !index_.calls.at(call->second).call->getType()->isVoidType();
      out.token(has_value ? "__extension__({ __auto_type sukima_v = " : "__extension__({ ", true);
      print(out, {t, end}, begun);
      out.text("; sukima_leave_for_c(" + where.top + ");" + (has_value ? " sukima_v; })" : " })"));
      t = end;
      continue;
    }
    if (const auto call = variadic_calls_.find(t);
        call != variadic_calls_.end() && call->second->open < range.end) {
      variadic_call(out, *call->second, where);
      t = unit_.partner[call->second->open] + 1;
      continue;
    }
    if (const auto j = index_.jumps.find(t); j != index_.jumps.end() && leaves_something(j->second, where)) {
      if (unit_.origins[t] != no_token) print_texts(out, unit_.origins[t], where);
      print_jump(out, j->second, where);
      t = j->second.end;
      continue;
    }
    if (unit_.tokens[t].getLocation().isMacroID() && unit_.roles[t] == token_role::user &&
        !unit_.tokens[t].isAnnotation()) {
      t = print_macro(out, t, range, where);
      continue;
    }
    print_token(out, t, where);
    if (const auto more = behind_token_.find(t); more != behind_token_.end()) out.text(more->second);
    ++t;
  }
}

std::string emitter::text_of(token_range range, const context& where) {
  writer one(false);
  context copy = where;
  copy.is_copy = true;
  print(one, range, copy);
  std::string text = one.str();
  std::replace(text.begin(), text.end(), '\n', ' ');
  const std::size_t first = text.find_first_not_of(' ');
  return first == std::string::npos ? "" : text.substr(first);
}

}  // namespace sukima::language
