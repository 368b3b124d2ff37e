// SPDX-License-Identifier: Apache-2.0
// Implements desugar(): a recursive descent over the tokens that copies plain C and rewrites constructs.
#pragma once

#include "desugar/closure_syntax.hpp"
#include "desugar/token_stream.hpp"

namespace sukima::language {

/// Long: one method for each rule of the grammar; they share the state of one parse.
class desugarer : private token_stream {
 public:
  desugarer(clang::CompilerInstance& compiler, unit& into)
      : token_stream(compiler, into), syntax_(into.source, compiler.getSourceManager()) {}

  /// \returns false after an error
  bool run();

 private:
  // Declarations (desugar.cpp)
  void step();
  /// Returns the closing bracket for the current token; unknown: the token is not an opening bracket.
  clang::tok::TokenKind closing_bracket() const;
  /// Performs one step; at an opening bracket it continues up to the closing one.
  void step_over();
  void copy_to(clang::tok::TokenKind closing);
  bool begins_declaration(const char* word) const;
  bool begins_task(const char* word) const;
  std::size_t after_attributes(std::size_t ahead) const;
  void copy_attributes();
  void task();
  void task_members(task_declaration& declaration);
  void task_member_tokens(std::set<std::string>& names, task_member& member);
  bool sized_member(const std::set<std::string>& names) const;
  void task_execution_block();
  void cluster_word();
  void worker_word();
  void worker_local();

  // Closures (closures.cpp)
  void closure();
  void closure_parameters();
  void closure_type_mark(clang::SourceLocation location, bool is_worker);
  void named_closure(const closure_context& around);
  void closure_result_type(closure_declaration& c);
  void closure_body(closure_declaration& c);
  void closure_return();
  void copy_label_declarations();
  bool closure_goto();
  bool closure_arguments();
  void parameter_variables(const closure_declaration& c);
  void parameter_variable(token_range parameter, clang::SourceLocation location);
  void put_copy(const clang::Token& token) { push(token, token_role::parsed_only); }
  token_index unit_token_of(std::size_t source) const;

  // Statements (statements.cpp)
  bool at_statement() const;
  bool begins_statement(const char* word) const;
  bool begins_throw() const;
  bool statement();
  void do_two();
  void wind();
  void try_catch();
  void throw_tag();
  void join();
  void join_one(construct& c, bool& plain_seen);
  void poll();
  token_range block(const std::string& role);
  /// Reads the expression in parentheses after `guard`, `split` or `catch`, as the initial value of `type
  /// NAME`.
  token_range parenthesis(const std::string& type, const std::string& variable, const std::string& keyword);
  void declare_this(const std::string& task, clang::SourceLocation location);
  construct& begin(construct_kind kind);
  void end(construct& c);

  // Loops, and handles (loops.cpp)
  void loop();
  bool at_successor_loop() const;
  token_range head_part(const construct& c, const char* type, const char* variable_name,
                        clang::tok::TokenKind closing, const char* missing, const char* comma);
  void loop_variable(construct& c, const clang::Token& variable, token_index origin);
  void put_loop_type(const construct& c, clang::SourceLocation location);
  void bounds(construct& c);
  void handles(construct& c, bool is_loop);
  void bound_block(construct& c, token_range& block, const std::string& role, bool is_put);

  closure_syntax syntax_;
  closure_declaration* closure_ = nullptr;  ///< the closure whose block is being read
  std::set<std::string> closure_labels_;  ///< labels in its block
  /// Closures declared so far, by the opening brace of their block and their name.
  std::map<std::pair<token_index, std::string>, closure_declaration*> declared_closures_;
  std::set<std::size_t> worker_closures_;  ///< positions of each `closure` that belongs to a `worker`
  construct* current_ = nullptr;  ///< the innermost open construct of the function or closure
  construct* innermost_ = nullptr;  ///< the same, also around the closure
  std::set<std::string> known_tasks_;
};

}  // namespace sukima::language
