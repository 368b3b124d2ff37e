// SPDX-License-Identifier: Apache-2.0
// The class behind emit(): prints the user's tokens with edits, and each construct in its form.
//
// A construct's live part (S1, BODY) stays in the user's function; what the runtime calls (PUT, guard,
// split, the
// second copies of BEFORE and AFTER) becomes a function of its own, over the construct's record. What such a
// function
// uses of the user's variables is captured in the record when the construct is entered: the value, where
// nobody can
// change the variable before the construct ends; else its address.
#pragma once

#include "emit/emit.hpp"
#include "emit/unwind_plan.hpp"
#include "emit/writer.hpp"

namespace sukima::language {

struct context;

/// A variable in a record or frame.
struct captured {
  const clang::VarDecl* variable;
  bool by_value;
};

/// One construct that control is inside of, in the C function that is being printed.
struct level {
  const construct* c;
  std::string record;  ///< the variable that points to its record
  std::vector<captured> captures;  ///< what its record holds
  std::shared_ptr<const context> outside;  ///< for what is printed when it is left
};

/// The exits of a try's body, which is a function of its own: each is a number that the body returns.
struct body_exits {
  std::vector<const jump*> jumps;  ///< number - 1
  std::string frame;  ///< expression of its frame
};

/// How tokens are to be printed in some place.
struct context {
  const function_info* function = nullptr;
  std::string top;  ///< of the choice stack; empty: plain C
  std::map<const clang::VarDecl*, std::string> names;  ///< variables that are reached otherwise here
  std::vector<level> levels;  ///< outermost first
  std::string backtracking = "0";
  bool is_copy = false;  ///< printed elsewhere than the user wrote it
  body_exits* exits = nullptr;  ///< in a try's body
  std::set<const clang::VarDecl*> copies;  ///< variables that are constant copies here
  std::set<token_index> begun;  ///< calls of workers that are being printed with what follows them
  const closure_call* called_apart = nullptr;  ///< its callee is printed as a value
  std::map<const clang::LabelDecl*, std::string> exits_here;  ///< of labels outside of the closure: addresses
  std::string closure_name;  ///< in a closure: of its generated function
  bool moving = false;  ///< a declaration that is moved in front of its function
  token_range copied;  ///< an AFTER that the same function has several times
  std::string suffix;  ///< of the labels in it
  unwind_version* version = nullptr;  ///< of a function that is unwound
  token_index printed_now = no_token;  ///< a statement of it that is printed as it is
};

class emitter {
 public:
  emitter(clang::CompilerInstance& compiler, const unit& u, const semantic_index& index,
          const emit_options& options);
  std::string run();

 private:
  // Tokens (tokens.cpp)
  void print(writer& out, token_range range, const context& where);
  void print_token(writer& out, token_index t, const context& where);
  bool differs(token_index t, const context& where) const;
  token_index print_macro(writer& out, token_index t, token_range range, const context& where);
  token_index print_argument(writer& out, token_index t, token_range range, const context& where);
  std::string replacement(token_index t, const context& where) const;
  std::string spelling(token_index t) const;
  void go_to(writer& out, clang::SourceLocation place, bool column = true) const;
  void print_texts(writer& out, token_index before, const context& where);
  std::string text_of(token_range range, const context& where);  ///< an expression, on one line
  bool is_put_in(const clang::VarDecl* variable) const;

  // File scope (file_scope.cpp)
  void declare_workers(token_range whole);
  void function(const function_info& f);
  token_range label_declarations(token_index begin) const;
  void entry(const function_info& f);
  void worker_local(token_range range);
  std::string pointer_entry(const worker_call& call);
  /// The worker version has the user's name, for debuggers and __func__; the C entry has that of the symbol
  /// only.
  std::string worker_name(const clang::FunctionDecl* f) const;
  std::string entry_name(const clang::FunctionDecl* f) const;
  std::string base_name(const context& where) const;
  bool is_local(const clang::FunctionDecl* f) const;
  bool has_entry(const clang::FunctionDecl* f) const;
  clang::QualType entry_type(clang::QualType type) const;
  void need_task(const std::string& task);
  std::string thread_accessor(const clang::VarDecl* variable) const;

  // Captures (captures.cpp)
  std::vector<captured> captures_of(const construct& c, const std::vector<token_range>& used,
                                    const context& where);
  bool keeps_its_value(const clang::VarDecl* variable, const construct& c, const function_info& f) const;
  std::string fields(const std::vector<captured>& captures);
  std::string fill(const std::string& record, const std::vector<captured>& captures, const context& where);
  /// The beginning of an outlined function: gives `used` in `inside` its names, through the record of `c`.
  std::string reach(const level& own, const context& outside, const std::vector<token_range>& used,
                    context& inside);
  void bind_this(token_range block, const std::string& expression, context& inside) const;
  std::string name_in(const clang::VarDecl* variable, const context& where) const;
  bool uses(token_range range, const clang::VarDecl* variable) const;
  const clang::VarDecl* variable_at(token_index t) const;

  // Closures (closures.cpp)
  void drop_texts(writer& out, const closure_declaration& c, const context& where);
  void print_closure(writer& out, const closure_declaration& c, const context& where);
  void begin_closure(writer& out, const closure_declaration& c, const context& where);
  void closure_function(const closure_declaration& c, const context& where);
  std::string closure_heading(const closure_declaration& c, const std::string& name,
                              const std::string& first_parameters, const context& where,
                              bool is_definition = false);
  std::vector<captured> captures_of_closure(const closure_declaration& c, const context& where);
  bool is_final_at_birth(const clang::VarDecl* variable, const closure_declaration& c,
                         const context& where) const;
  bool is_parameter(const clang::VarDecl* variable) const;
  const function_info& owner_of(const clang::VarDecl* variable, const context& where) const;
  void after_declaration(token_index name, const std::string& text);
  bool is_pointer_call(const closure_call& call) const;
  std::string begin_check(const closure_call& call);
  std::string block_tickets(token_index closure) const;
  void declare_tickets(const function_info& f);

  // Variables that live in the record of a closure (closure_records.cpp)
  struct placed_variable {
    token_index end;  ///< of its declaration
    std::string member;
    token_range value;  ///< initial, or empty
  };
  const local_declaration* sole_declaration(const clang::VarDecl* variable, const function_info& f) const;
  bool lives_in_record(const clang::VarDecl* variable, const closure_declaration& c, const function_info& f,
                       const context& where) const;
  std::map<const clang::VarDecl*, std::string> place_in_records(const function_info& f, const context& where);
  void print_placed(writer& out, const placed_variable& one, const context& where);

  // goto out of closures (closure_exits.cpp)
  std::vector<const clang::LabelDecl*> labels_outside(const closure_declaration& c) const;
  bool waits_for(const clang::LabelDecl* label, const closure_declaration& c) const;
  std::string exit_fields(const closure_declaration& c) const;
  void begin_exits(writer& out, const closure_declaration& c, const std::string& record,
                   const context& where);
  std::string keep_variables(const closure_declaration& c, const context& where);
  void print_closure_jump(writer& out, token_index keyword, const context& where);
  bool leaves_for_c(token_index open, const context& where) const;
  void find_calls_of_c();
  bool may_call_closures(const clang::FunctionDecl* function);
  bool is_call_of_system(token_index open) const;
  bool hands_on_functions(const clang::CallExpr* call) const;
  std::string exit_member(const clang::LabelDecl* label) const;
  std::string closure_caller(const closure_call& call);
  void variadic_call(writer& out, const closure_call& call, const context& where);
  /// How a block of another function reaches a captured variable: declarations, or a name in `inside`.
  std::string bind(const captured& one, const std::string& record, context& inside) const;
  std::string local_prototypes(const std::vector<token_range>& used) const;
  bool needs_what_stays(token_index t, const std::vector<token_range>& used);

  // -fclosures=unwind: functions (unwind_functions.cpp)
  void unwound_function(const unwound& u);
  void unwound_closure(writer& out, const closure_declaration& c, const context& where);
  std::string unwound_parameters(const unwound& u, bool hidden, bool named) const;
  void declare_unwound(const unwound& u);
  void unwound_record(writer& out, const unwound& u, const unwind_version& version);
  void unwound_names(const unwound& u, bool slow, context& inside) const;
  std::string unwound_outer(const unwound& u, bool slow) const;
  std::string end_of_record(const unwound& u, bool slow) const;
  std::string own_record(const unwound& u, const std::string& top) const;
  void fast_version(writer& out, unwind_version& version, const context& outside);
  void slow_version(writer& out, const unwind_version& fast, const context& outside);
  std::string unwound_entry(const unwound& u) const;
  // … statements (unwind_statements.cpp)
  token_index print_unwound(writer& out, token_index t, token_range range, const context& where);
  void unwound_statement(writer& out, const unwind_statement& s, const context& where);
  void unwound_declaration(writer& out, const clang::DeclStmt* s, token_range whole, const context& where);
  void store_initial(writer& out, const clang::VarDecl* variable, const context& where);
  void unwound_for(writer& out, const clang::ForStmt* s, token_range whole, const context& where);
  void unwound_leave(writer& out, const unwind_statement& s, const context& where);
  void leave_loop_unless(writer& out, const clang::Expr* condition, const context& where);
  std::string next_label(token_range loop, const context& where) const;
  // … calls (unwind_calls.cpp)
  void hoist(writer& out, const clang::Expr* e, const context& where);
  void hoist_children(writer& out, const clang::Expr* e, const context& where);
  void pin(writer& out, const clang::Expr* e, const context& where);
  void hoist_comma(writer& out, const clang::BinaryOperator* e, bool pinned, const context& where);
  void hoist_logical(writer& out, const clang::BinaryOperator* e, const context& where);
  void hoist_choice(writer& out, const clang::ConditionalOperator* e, const context& where);
  void unwind_call(writer& out, const clang::CallExpr* call, const context& where);
  std::string unwind_caller(const clang::CallExpr& call);
  std::string stores_of(const context& where, token_index at, const std::string& record,
                        const std::string& from) const;
  std::string begin_landing(unsigned place, token_index at, const context& where);
  std::string special_value(clang::QualType type) const;
  std::string special_result(clang::QualType type) const;
  std::string special_test(clang::QualType type, const std::string& result) const;
  std::string pointer_to(clang::QualType type) const;
  clang::QualType unwound_type(clang::QualType type) const;
  std::string value_name(unsigned number, const context& where) const;
  std::string begin_value(unsigned number, clang::QualType type, const context& where);
  static void substitute(token_range range, const std::string& text, const context& where);

  // Types and static variables of a function that its blocks need outside of it (moves.cpp)
  void move_declarations(const function_info& f);
  bool can_move(token_range range) const;
  void move(const function_info& f, token_range range, std::string left, bool whole);

  // Constructs (constructs.cpp, loops.cpp, joins.cpp, tries.cpp)
  void print_construct(writer& out, const construct& c, const context& where);
  void do_two(writer& out, const construct& c, const context& where);
  void loop(writer& out, const construct& c, const context& where);
  bool polls_at_its_call(const construct& c) const;
  bool only_fills_its_task(token_range block) const;
  void wind(writer& out, const construct& c, const context& where);
  void join(writer& out, const construct& c, const context& where);
  void try_catch(writer& out, const construct& c, const context& where);
  void throw_tag(writer& out, const construct& c, const context& where);
  std::string body_function(const construct& c, const std::vector<captured>& captures, const context& where,
                            body_exits& exits);
  void poll(writer& out, const construct& c, const context& where);
  level begin_record(writer& out, const construct& c, const std::vector<token_range>& outlined,
                     const char* head, const context& where);
  context inside(const level& l, const context& where) const;
  std::string put_function(const construct& c, const level& l, const context& where);
  std::string hint_functions(const construct& c, const level& l, const context& where);
  void outline(const std::string& signature, const construct& c, const level& l, token_range block,
               const context& where, const std::string& prologue, context inside);

  // Exits (exits.cpp)
  /// \param computed  of a return: the value, where it has been computed already
  void print_jump(writer& out, const jump& j, const context& where, const std::string& computed = "");
  void leave(writer& out, const std::vector<level>& levels, std::size_t keep);
  std::size_t kept_levels(const jump& j, const context& where) const;
  bool leaves_something(const jump& j, const context& where) const;
  bool leaves_the_body(const jump& j, const context& where) const;

  void report(clang::SourceLocation place, const std::string& message);
  std::string declare(clang::QualType type, const std::string& name) const;
  std::string declare_unqualified(clang::QualType type, const std::string& name) const {
    return declare(type.getUnqualifiedType(), name);
  }
  /// Of the sequential form: what is left out, in code that never runs, so that its names count as used.
  std::string dead_blocks(const construct& c, const context& where);

  clang::CompilerInstance& compiler_;
  clang::ASTContext& ast_;
  clang::SourceManager& sources_;
  const unit& unit_;
  const semantic_index& index_;
  emit_options options_;
  std::unique_ptr<const unwind_plan> plan_;  ///< with -fclosures=unwind
  writer out_;
  writer before_;  ///< in front of the function that is being printed
  writer records_, saves_, landings_;  ///< between, where it is unwound
  writer behind_;  ///< behind it
  std::size_t next_text_ = 0;
  token_index closure_text_ = 0;  ///< up to where those of the closure that is being printed were
  std::unordered_map<token_index, const construct*> construct_at_;  ///< by its first token
  std::unordered_map<token_index, const worker_call*>
      pointer_calls_;  ///< of plain C, by the callee's first token
  struct printed_closure {
    std::string name;  ///< of its function and of its record's type
    std::vector<captured> captures;
  };
  std::unordered_map<token_index, const closure_declaration*> closure_at_;  ///< by its first token
  std::map<token_index, std::vector<const closure_call*>>
      closure_pointer_calls_;  ///< by the callee's first token, outer ones first
  std::map<token_index, const closure_call*> variadic_calls_;  ///< through pointers, as above
  std::unordered_map<token_index, const closure_call*> closure_names_called_;  ///< by the name's token
  std::map<const closure_declaration*, printed_closure> closure_names_;  ///< as they were printed last
  std::map<std::string, std::string> closure_callers_;  ///< by the type
  std::map<token_index, std::string> behind_token_;  ///< text put behind the declarations of variables
  std::unordered_map<token_index, token_index> calls_of_c_;  ///< parentheses by the callee's first token
  std::map<const clang::FunctionDecl*, bool> may_call_closures_;  ///< by the definition
  std::unordered_map<token_index, token_index> workers_in_arguments_;  ///< of those; in the same way
  std::map<const closure_declaration*, std::string> behind_closure_;  ///< and of closures
  unsigned closures_printed_ = 0;
  std::map<const closure_declaration*, std::vector<const clang::VarDecl*>> in_record_;
  std::map<const closure_declaration*, unsigned>
      numbers_;  ///< of closures whose records are declared already
  std::map<token_index, placed_variable> placed_;  ///< by the first token of its declaration
  std::set<token_index> left_out_;  ///< the `void` of (void)
  std::set<std::string> declared_tasks_;
  std::map<std::string, std::string> pointer_entries_;
  std::set<const construct*> continued_;  ///< loops whose label of the next iteration is used
  std::set<const construct*> broken_;  ///< loops whose label behind them is used
  std::map<const construct*, const body_exits*> bodies_;
  struct moved_text {
    token_index end;
    std::string left;  ///< what stays in its place
  };
  std::map<token_index, moved_text> moved_;  ///< by the first token
  std::map<const clang::Decl*, std::string> renamed_;  ///< canonical declarations
  std::map<token_index, std::string> tag_names_;  ///< of types without a name, by their brace
  unsigned moves_ = 0;
  unsigned copies_ = 0;
};

}  // namespace sukima::language
