// SPDX-License-Identifier: Apache-2.0
// The data that all stages share: a translation unit as tokens, the directives and comments between them, and
// its constructs. Desugaring fills it; later stages only read it.
#pragma once

#include "source/clang.hpp"

namespace sukima::language {

using token_index = std::uint32_t;
inline constexpr token_index no_token = ~token_index{0};

/// Tokens [begin, end) of a unit.
struct token_range {
  token_index begin = 0;
  token_index end = 0;
  bool empty() const { return begin == end; }
  bool holds(token_index t) const { return begin <= t && t < end; }
  bool holds(const token_range& r) const { return begin <= r.begin && r.end <= end; }
};

/// The origin of a token, and whether the parser and the printer see it.
enum class token_role : std::uint8_t {
  user,  ///< the user's: parsed and printed
  parsed_only,  ///< inserted: parsed, not printed
  added,  ///< inserted: parsed and printed
  system,  ///< from a system header: parsed; the output has an #include instead
  keyword,  ///< the user's, a keyword of the language: neither parsed nor printed; kept for its location
  printed_only,  ///< the user's: printed; the parser sees inserted tokens in its place
  pragma,  ///< a token of a user's pragma for the parser; the output has the pragma's text
};

/// A directive or comment of a user's file, or a `_Pragma`. The output repeats it before the token `before`.
struct side_text {
  token_index before;  ///< index into source_tokens::tokens
  std::string text;
  clang::SourceLocation location;  ///< for a `_Pragma` from a macro: in its expansion
  bool directive;  ///< a directive needs a line of its own; a comment does not
  bool changes_macro;  ///< a #define or #undef, or a pragma that saves or restores a macro
  std::string pragma = {};  ///< for any other pragma: the same as `_Pragma`, which may be within a line
  bool is_of_statement = false;  ///< a pragma that applies to the following statement
};

/// A use of a system header's macro in the user's text, including uses within another macro's arguments or
/// body.
struct system_macro_use {
  std::string name;
  bool has_arguments;
  std::vector<std::vector<clang::SourceLocation>> arguments;  ///< tokens before expansion
};

enum class construct_kind : std::uint8_t { do_two, loop, wind, try_catch, throw_tag, join, poll };

/// One statement of a join.
struct join_statement {
  token_range tokens;  ///< without `spawn` and the semicolon
  bool spawned;
  clang::SourceLocation location;
};

/// A statement of the language. Ranges of blocks include the braces. Ranges that a kind does not have are
/// empty.
struct construct {
  construct_kind kind;
  unsigned number;  ///< counts the unit's constructs, from 1
  token_range whole;  ///< all its tokens, including inserted ones
  clang::SourceLocation location;  ///< location of its keyword
  construct* parent = nullptr;  ///< the innermost construct around it in the same function
  construct* around = nullptr;  ///< the same, also around a closure that it is in
  std::string task;  ///< the name after `handles`
  clang::SourceLocation task_location;
  token_range first;  ///< S1; BODY of a loop, of a dynamic_wind and of a try
  token_range second;  ///< S2; the catch block
  token_range before;  ///< BEFORE
  token_range after;  ///< AFTER
  token_range put, get;
  token_range guard, split;  ///< expressions; empty if not given
  token_range from, to;  ///< bounds of a loop; `from` is also the tag of try and throw
  token_index variable = no_token;  ///< a loop's variable
  token_range condition, next;  ///< expressions of a loop by successor; empty: it runs over a range
  token_range type;  ///< type of a loop's variable; empty: int
  token_index lower = no_token, upper = no_token;  ///< i1 and i2 after `handles`
  std::vector<join_statement> statements;
};

/// A goto out of a closure. The parser sees the address of its label instead, because for a goto it would
/// check the scopes around the closure's block.
struct closure_jump {
  token_index keyword;
  token_index label;
};

/// A nested function, or its forward declaration. The parser sees a constant pointer, followed by the block
/// as a block of the enclosing function.
struct closure_declaration {
  std::string name;
  unsigned number;  ///< counts the unit's closures, from 1
  clang::SourceLocation location;  ///< location of its name
  bool is_worker = false;
  token_range whole;  ///< from the first word of the declaration to its `;` or `}`
  token_index type = no_token;  ///< the first word after attributes in brackets
  token_index name_token = no_token;
  token_range parameters;  ///< including the parentheses
  token_range rest;  ///< rest of the declarator after the parameters
  token_range body;  ///< including its braces; empty: a forward declaration
  closure_declaration* forward = nullptr;  ///< for a definition: its forward declaration
  closure_declaration* definition = nullptr;  ///< for a forward declaration
  std::vector<token_index> returns;  ///< the `return`s of its own block, not of closures in it
  std::vector<closure_jump> jumps;
};

/// Returns the function that the parser sees called where a closure returns a value.
inline std::string result_function_of(const closure_declaration& c) {
  return "sukima_return_" + std::to_string(c.number);
}

/// One declaration of members in a task.
struct task_member {
  token_range tokens;
  bool is_in;
  bool is_out;
  std::map<token_index, std::string> lengths;  ///< for `v[n]`: the name v, and n
};

struct task_declaration {
  std::string name;
  clang::SourceLocation location;
  token_range tokens;
  std::vector<task_member> members;
};

struct task_execution {
  std::string task;
  clang::SourceLocation location;
  token_range whole;  ///< including the inserted function header
  token_range block;
};

/// The output of the preprocessor.
struct source_tokens {
  std::vector<clang::Token> tokens;  ///< the last one is eof
  std::vector<bool> from_system;  ///< parallel to tokens
  std::vector<bool> of_pragma;  ///< parallel to tokens: inserted by a pragma
  std::vector<side_text> texts;  ///< in the order in which they were read
  std::vector<std::string> files;  ///< all files read, the main one first, and missing ones
  std::vector<bool> file_is_system;
  std::set<std::string> bare_files;  ///< files that Clang calls ./FILE and gcc FILE
  std::unordered_map<unsigned, system_macro_use> system_macros;  ///< by the raw location of the name
  std::set<unsigned> counters;  ///< raw locations of the uses, in a file, of macros that count (__COUNTER__)

  const char* violated_invariant() const;  ///< of a whole source
};

/// The unit after desugaring. `tokens`, `roles`, `origins`, `partner` and `opened` are parallel. Constructs
/// and closures are in the order of their first tokens, so outer ones come before inner ones.
struct unit {
 private:
  static constexpr auto first_token = [](const auto& one) { return one.whole.begin; };
  static auto in_block(const auto& all, token_range block) {
    const auto first = std::ranges::lower_bound(all, block.begin, {}, first_token);
    return std::ranges::subrange(first,
                                 std::ranges::lower_bound(first, all.end(), block.end, {}, first_token));
  }

 public:
  source_tokens source;
  std::vector<clang::Token> tokens;  ///< the parser skips those with the roles `keyword` and `printed_only`
  std::vector<token_role> roles;
  std::vector<token_index> origins;  ///< index into source.tokens, or no_token
  std::vector<token_index> partner;  ///< for a bracket: the matching one; otherwise no_token
  std::vector<token_index> opened;  ///< the innermost bracket that is open before a token, or no_token
  std::deque<construct> constructs;
  std::deque<closure_declaration> closures;
  std::set<unsigned> closure_types;  ///< raw locations of the parentheses after `closure`
  std::vector<task_declaration> tasks;
  std::vector<task_execution> executions;
  std::vector<token_range> worker_locals;  ///< the declarations after `worker_local`
  std::vector<token_index> worker_keywords;  ///< the first token inserted for each `worker`
  std::vector<token_index> cluster_keywords;  ///< each `cluster` before a `worker`
  std::unordered_map<unsigned, token_index> at;  ///< tokens that were not inserted, by raw location

  /// Returns the innermost block around a token, including its braces; empty if there is none.
  token_range block_around(token_index t) const {
    do t = opened[t];
    while (t != no_token && tokens[t].isNot(clang::tok::l_brace));
    return t == no_token ? token_range{} : token_range{t, partner[t] + 1};
  }

  /// Returns the constructs in a block. Logarithmic.
  auto constructs_in(token_range block) const { return in_block(constructs, block); }
  /// Returns the closures in a block, with forward declarations. Logarithmic.
  auto closures_in(token_range block) const { return in_block(closures, block); }
  /// Returns the closure whose name a declaration has at a token, or null. Logarithmic.
  const closure_declaration* closure_named_at(token_index t) const {
    const auto found = std::ranges::lower_bound(closures, t, {}, &closure_declaration::name_token);
    return found != closures.end() && found->name_token == t ? &*found : nullptr;
  }
  /// Returns whether a token is among the parameters of a closure's declaration. Logarithmic.
  bool is_in_parameters_of_closure(token_index t) const {
    const auto next = std::ranges::upper_bound(closures, t, {}, &closure_declaration::name_token);
    return next != closures.begin() && std::prev(next)->parameters.holds(t);
  }
  /// Returns the innermost construct that contains a token, or null. Logarithmic, but for the depth of
  /// constructs.
  const construct* construct_around(token_index t) const {
    const auto next = std::ranges::upper_bound(constructs, t, {}, first_token);
    const construct* c = next == constructs.begin() ? nullptr : &*std::prev(next);
    while (c != nullptr && !c->whole.holds(t)) c = c->around;
    return c;
  }

  /// Returns the token at a location that was not inserted, or no_token.
  token_index find(clang::SourceLocation location) const {
    const auto found = at.find(location.getRawEncoding());
    return found == at.end() ? no_token : found->second;
  }

  const char* violated_invariant() const;  ///< after desugaring without an error
};

/// Returns the C name of a task's type.
inline std::string task_type_name(std::string_view task) { return "sukima_task_" + std::string(task); }

}  // namespace sukima::language
