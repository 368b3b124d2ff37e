// SPDX-License-Identifier: Apache-2.0
// One translation unit on its way through the front end: its tokens, what stands between them, and its
// constructs.
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

/// Who wrote a token, and who gets to see it.
enum class token_role : std::uint8_t {
  user,  ///< the user's: parsed, and printed
  parsed_only,  ///< put in for the parser only
  added,  ///< put in for the parser and for the output
  system,  ///< of a system header: parsed; the output includes that header instead
  keyword,  ///< the user's, of the language: neither parsed nor printed, but kept for its place
  printed_only,  ///< the user's: not parsed, because something else was put in for the parser
};

/// A directive or a comment of a user's file, repeated in the output in front of the token `before`.
struct side_text {
  token_index before;  ///< counts the tokens as they were read
  std::string text;
  clang::SourceLocation location;
  bool directive;  ///< stands on lines of its own
  bool changes_macro;  ///< a #define or #undef
};

enum class construct_kind : std::uint8_t { do_two, loop, wind, try_catch, throw_tag, join, poll };

/// One statement of a join.
struct join_statement {
  token_range tokens;  ///< without `spawn` and without the semicolon
  bool spawned;
  clang::SourceLocation location;
};

/// A statement of the language. The ranges of blocks include their braces.
struct construct {
  construct_kind kind;
  unsigned number;  ///< counts the unit's constructs, from 1
  token_range whole;  ///< all tokens, those put in included
  clang::SourceLocation location;  ///< of its keyword
  construct* parent = nullptr;  ///< the one around it in the same function
  std::string task;  ///< behind `handles`
  clang::SourceLocation task_location;
  token_range first;  ///< S1; BODY of a loop, of a dynamic_wind and of a try
  token_range second;  ///< S2; the catch block
  token_range before;  ///< BEFORE
  token_range after;  ///< AFTER
  token_range put, get;
  token_range guard, split;  ///< expressions, perhaps empty
  token_range from, to;  ///< of a loop; `from` is the tag of try and throw
  token_index variable = no_token;  ///< a loop's variable
  token_index lower = no_token, upper = no_token;  ///< i1 and i2, as put in at the start of PUT
  std::vector<join_statement> statements;
};

/// A goto out of a closure. The parser sees an address of its label: a jump would have to obey the scopes at
/// the place where the closure's block stands.
struct closure_jump {
  token_index keyword;
  token_index label;
};

/// A nested function, or its forward declaration. The parser sees a constant pointer, and the block as one of
/// the function around it.
struct closure_declaration {
  std::string name;
  unsigned number;  ///< counts the unit's closures, from 1
  clang::SourceLocation location;  ///< of its name
  bool is_worker = false;
  token_range whole;  ///< from the first word of the declaration to its `;` or `}`
  token_index name_token = no_token;
  token_range parameters;  ///< with the parentheses
  token_range rest;  ///< of the declarator, behind the parameters
  token_range body;  ///< with its braces; empty: a forward declaration
  closure_declaration* forward = nullptr;  ///< of a definition: its forward declaration
  closure_declaration* definition = nullptr;  ///< of a forward declaration
  std::vector<token_index> returns;  ///< the `return`s of its own block
  std::vector<closure_jump> jumps;
};

/// A member of a task, as it was declared.
struct task_member {
  token_range tokens;
  bool is_in;
  bool is_out;
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
  token_range whole;  ///< with the header that was put in
  token_range block;
};

/// What the preprocessor delivered.
struct source_tokens {
  std::vector<clang::Token> tokens;  ///< the last one is eof
  std::vector<bool> from_system;  ///< it stands in a system header
  std::vector<side_text> texts;  ///< in the order of the files
  std::vector<std::string> files;  ///< all files read, the main one first
  std::vector<bool> file_is_system;
};

/// The unit as it is parsed and printed.
struct unit {
  source_tokens source;
  std::vector<clang::Token> tokens;  ///< for the parser; those of the role `keyword` are left out there
  std::vector<token_role> roles;
  std::vector<token_index> origins;  ///< position in `source`, or no_token
  std::vector<token_index> partner;  ///< of a bracket: the other one
  std::deque<construct> constructs;
  std::deque<closure_declaration> closures;
  std::set<unsigned> closure_types;  ///< raw places of the parentheses behind `closure`
  std::vector<task_declaration> tasks;
  std::vector<task_execution> executions;
  std::vector<token_range> worker_locals;  ///< declarations behind `worker_local`
  std::vector<token_index> worker_keywords;  ///< where `worker` stood: the first token put in for it
  std::unordered_map<unsigned, token_index> at;  ///< the user's (and system's) token at a raw location

  /// The innermost bracket that is open in front of a token, or no_token.
  token_index bracket_around(token_index t) const {
    while (t-- > 0) {
      if (partner[t] == no_token) continue;
      if (partner[t] > t) return t;
      t = partner[t];
    }
    return no_token;
  }
  /// The innermost block around a token, with its braces; empty: none.
  token_range block_around(token_index t) const {
    do t = bracket_around(t);
    while (t != no_token && tokens[t].isNot(clang::tok::l_brace));
    return t == no_token ? token_range{} : token_range{t, partner[t] + 1};
  }

  /// The token at a location, or no_token.
  token_index find(clang::SourceLocation location) const {
    const auto found = at.find(location.getRawEncoding());
    return found == at.end() ? no_token : found->second;
  }
};

/// The name in C of a task's type.
inline std::string task_type_name(std::string_view task) { return "sukima_task_" + std::string(task); }

}  // namespace sukima::language
