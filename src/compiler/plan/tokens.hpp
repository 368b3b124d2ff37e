// SPDX-License-Identifier: Apache-2.0
// The map from token to edit, with all decisions about the user's tokens.
#pragma once

#include "plan/planner.hpp"

namespace sukima::language {

/// Plans a range of tokens: it translates constructs, replaces names, and keeps all other tokens.
void plan_tokens(planner& p, sheet& out, token_range range, const context& scope);

/// Returns an expression on one line, to insert into generated text.
std::string text_of(planner& p, token_range range, const context& scope);

/// Returns whether the token is edited, so that a macro around it must be expanded.
bool is_edited(const planner& p, token_index t, const context& scope);

/// Plans a single token: the words that replace it, and the text before and after it.
void plan_token(planner& p, token_run& run, token_index position, const context& scope);

/// Several tokens that a text replaces. For single tokens, see single_tokens.cpp.
struct substituted {
  token_index end;
  const std::string* text;
};
struct unwound_continue {
  const jump* j;
};
struct closure_exit {
  token_index keyword;
};
struct chosen_value {
  const generic_choice* of;
};
/// A call after which a function must run.
struct call_with_end {
  token_index open;
};
using whole_edit =
    std::variant<std::monostate, substituted, const unwind_statement*, unwound_continue, const moved_text*,
                 const construct*, const closure_declaration*, const placed_variable*, closure_exit,
                 chosen_value, call_with_end, const closure_call*, const jump*>;

/// The replacement of one token: text, with the name of a generated function before `after_caller` if there
/// is a call.
struct planned_word {
  std::string text;
  bool space;
  std::variant<std::monostate, const worker_call*, const closure_call*> caller = {};
  std::string after_caller = {};
};

/// Returns the words that replace a token; empty: the token is omitted; nothing: it is kept.
std::optional<std::vector<planned_word>> words_at(const planner& p, token_index t, const context& scope);

/// Returns the words with the names of the functions that they call. Those functions are generated on first
/// use.
std::vector<printed_word> resolved(planner& p, const std::vector<planned_word>& words);

}  // namespace sukima::language
