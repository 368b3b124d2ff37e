// SPDX-License-Identifier: Apache-2.0
// Implements desugar(): a recursive descent over the tokens that copies plain C and rewrites constructs.
#pragma once

#include "source/unit.hpp"

namespace sukima::language {

class desugarer {
 public:
  desugarer(clang::CompilerInstance& compiler, unit& into)
      : compiler_(compiler), preprocessor_(compiler.getPreprocessor()), unit_(into), in_(into.source) {}

  /// \returns false after an error
  bool run();

 private:
  /// Thrown where the rest of the file makes no sense any more.
  struct stop {};

  // Reading
  const clang::Token& token(std::size_t ahead = 0) const;
  const clang::Token* previous() const;
  bool is(clang::tok::TokenKind kind, std::size_t ahead = 0) const { return token(ahead).is(kind); }
  /// A word of the language that may have a meaning here: not from a system header, not a member's name.
  bool is_word(const char* word, std::size_t ahead = 0) const;
  bool is_name(std::size_t ahead = 0) const { return is(clang::tok::identifier, ahead); }
  std::string name(std::size_t ahead = 0) const;
  bool at_statement() const;
  bool is_users(std::size_t position) const;
  [[noreturn]] void fail(clang::SourceLocation location, const std::string& message);
  void report(clang::SourceLocation location, const std::string& message);
  void expect(clang::tok::TokenKind kind, const std::string& message);

  // Writing
  token_index here() const { return static_cast<token_index>(unit_.tokens.size()); }
  void push(const clang::Token& token, token_role role, token_index origin = no_token);
  /// The current token, for the parser and the output.
  void copy();
  /// The current token is the language's own: not for the parser.
  void skip();
  void put(clang::tok::TokenKind kind, clang::SourceLocation location,
           token_role role = token_role::parsed_only);
  /// A word: a keyword of C or a name.
  void put(const std::string& word, clang::SourceLocation location,
           token_role role = token_role::parsed_only);

  // Declarations (desugar.cpp)
  void step();
  /// The bracket that closes the one at the current token; unknown: that opens none.
  clang::tok::TokenKind closing_bracket() const;
  /// One step, and if it copied an opening bracket everything up to the closing one.
  void step_over();
  void copy_to(clang::tok::TokenKind closing);
  void task();
  void task_members(task_declaration& declaration);
  token_range task_member_tokens(std::set<std::string>& names);
  bool sized_member(const std::set<std::string>& names) const;
  void task_execution_block();
  void worker_word();
  void worker_local();

  // Closures (closures.cpp)
  void closure();
  /// `closure` or `lightweight` behind a declarator, in front of the parameters?
  bool at_closure(std::size_t position) const;
  /// A word whose parentheses are no declarator's.
  static bool takes_parenthesis(const clang::Token& token);
  bool is_closure_word(std::size_t position) const;
  std::size_t opening_of(std::size_t bracket) const;
  std::size_t closing_of(std::size_t bracket) const;
  struct surroundings {
    std::size_t begin;  ///< of the declaration
    bool is_typedef;
    bool is_parameter;
    bool shares;  ///< other declarators stand in front
  };
  surroundings surroundings_of(std::size_t name) const;
  bool is_worker_closure(std::size_t worker);
  void closure_parameters();
  void closure_type_mark(clang::SourceLocation location);
  void named_closure(const surroundings& around);
  void closure_result_type(closure_declaration& c);
  void closure_body(closure_declaration& c);
  void closure_return();
  void copy_label_declarations();
  bool closure_goto();
  bool closure_arguments();
  std::set<std::string> labels_between(std::size_t begin, std::size_t end) const;
  void parameter_variables(const closure_declaration& c);
  void parameter_variable(token_range parameter, clang::SourceLocation location);
  void put_copy(const clang::Token& token) { push(token, token_role::parsed_only); }
  token_index unit_token_of(std::size_t source) const;

  // Statements (statements.cpp)
  bool statement();
  void do_two();
  void loop();
  void wind();
  void try_catch();
  void throw_tag();
  void join();
  void join_one(construct& c, bool& plain_seen);
  void poll();
  void handles(construct& c, bool is_loop);
  void bound_block(construct& c, token_range& block, const std::string& what, bool is_put);
  token_range block(const std::string& what);
  /// The expression in parentheses behind `guard`, `split`, `catch`: as the initial value of `type NAME`.
  token_range parenthesis(const std::string& type, const std::string& variable, const std::string& what);
  void declare_this(const std::string& task, clang::SourceLocation location);
  construct& begin(construct_kind kind);
  void end(construct& c);

  clang::CompilerInstance& compiler_;
  clang::Preprocessor& preprocessor_;
  unit& unit_;
  source_tokens& in_;
  std::size_t at_ = 0;
  int depth_ = 0;  ///< of braces
  closure_declaration* closure_ = nullptr;  ///< whose block is being read
  std::set<std::string> closure_labels_;  ///< of that block
  std::vector<std::map<std::string, closure_declaration*>> forward_;  ///< forward-declared closures, by block
  std::set<std::size_t> worker_closures_;  ///< words `closure` that a `worker` belongs to
  construct* current_ = nullptr;
  std::set<std::string> known_tasks_;
  bool failed_ = false;
};

}  // namespace sukima::language
