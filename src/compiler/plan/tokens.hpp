// SPDX-License-Identifier: Apache-2.0
// The map from token to edit: the one place that decides what happens to a token of the user's.
#pragma once

#include "plan/planner.hpp"

namespace sukima::language {

/// Plans a range of tokens: constructs in it are translated, names replaced, everything else is kept.
void plan_tokens(planner& p, sheet& out, token_range range, const context& where);

/// An expression on one line, for generated text that it becomes a part of.
std::string text_of(planner& p, token_range range, const context& where);

/// Whether anything happens to this token, so that a macro around it must be expanded.
bool is_edited(const planner& p, token_index t, const context& where);

/// A single token: the words that take its place, and what goes before and after it.
void plan_token(planner& p, token_run& run, token_index t, const context& where);

/// Several tokens from one on that something else takes the place of (words.cpp has those of single tokens).
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
/// A call after which something is to be done.
struct call_with_end {
  token_index open;
};
using whole_edit =
    std::variant<std::monostate, substituted, const unwind_statement*, unwound_continue, const moved_text*,
                 const construct*, const closure_declaration*, const placed_variable*, closure_exit,
                 chosen_value, call_with_end, const closure_call*, const jump*>;

/// What is printed in place of one token: a word around the name of a generated function, if there is a call.
struct planned_word {
  std::string text;
  bool space;
  std::variant<std::monostate, const worker_call*, const closure_call*> caller = {};
  std::string after_caller = {};
};

/// The words in place of a token; empty: it is left out; nothing: it is kept.
std::optional<std::vector<planned_word>> words_at(const planner& p, token_index t, const context& where);

/// The words with the names of the functions that they call, which are generated on first use.
std::vector<word> resolved(planner& p, const std::vector<planned_word>& words);

}  // namespace sukima::language
