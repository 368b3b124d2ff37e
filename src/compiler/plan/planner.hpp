// SPDX-License-Identifier: Apache-2.0
// The data that the stages of the planner share: known facts, names and declarations so far, and the context
// of the place that is being planned.
//
// The part of a construct that always runs here (S1, BODY) stays in the user's function. The parts that the
// runtime calls (PUT, guard, split, the second copies of BEFORE and AFTER) become functions of their own over
// the construct's choice point. When the construct is entered, the choice point captures the user's variables
// that such a function uses: by value if nothing can change the variable before the construct ends, otherwise
// by address. A closure's block becomes a function over the closure's frame in the same way.
// block becomes a function over the closure's frame in the same way.
#pragma once

#include "plan/plan.hpp"
#include "plan/unwind_plan.hpp"

namespace sukima::language {

struct context;

/// A variable that is captured in a choice point or frame.
struct captured {
  const clang::VarDecl* variable;
  bool by_value;
};

/// A construct around the current place, in the C function that is being planned.
struct level {
  const construct* c;
  std::string choice_point;  ///< name of the variable that points to it
  std::vector<captured> captures;  ///< the variables that it holds
  std::shared_ptr<const context> outside;  ///< for the text that is printed where the construct is left
};

/// The exits of the body of a `try`, which is a function of its own. The body returns the number of the exit
/// that it takes.
struct body_exits {
  std::vector<jump> jumps;  ///< by number - 1
  std::string frame;  ///< expression of the body's frame
};

/// The versions of a worker function that has a sequential clone (plan/clones.hpp).
enum class function_form : std::uint8_t {
  parallel_with_clones,  ///< each of its calls decides whether it runs as a clone
  clone,  ///< do_two and parallel loops without choice points
  parallel,  ///< the rest of a clone's work after another worker requested some
  polled_clone,  ///< a clone's block without the poll at its beginning, for callers that have just polled
};

/// The data that determine how tokens are printed in some place.
struct context {
  const function_info* function = nullptr;
  std::string top;  ///< top of the choice stack; empty: plain C
  std::map<const clang::VarDecl*, std::string> names;  ///< variables that have another name here
  std::vector<level> levels;  ///< outermost first
  std::string backtracking = "0";
  bool is_copy = false;  ///< printed elsewhere than the user wrote it
  bool on_one_line = false;  ///< becomes a part of generated text, which has no lines
  bool is_only_text = false;  ///< the only text that is printed for the user's tokens, although it is a copy
  std::set<unsigned> open_macros;  ///< raw locations of system macros whose arguments are being planned
  body_exits* exits = nullptr;  ///< in the body of a `try`
  std::set<const clang::VarDecl*> copies;  ///< variables that are constant copies here
  std::set<token_index> begun;  ///< calls of workers that are being planned together with the text after them
  const closure_call* called_apart = nullptr;  ///< the closure call whose callee is printed as a value
  token_index noted_apart =
      no_token;  ///< the parenthesis of a call of plain C whose callee is printed as a value
  /// For labels outside the closure: expressions of their addresses.
  std::map<const clang::LabelDecl*, std::string> exits_here;
  std::string closure_name;  ///< in a closure: name of its generated function
  bool moving = false;  ///< a declaration is moved before its function
  token_range copied;  ///< an AFTER that the same function contains several times
  std::string suffix;  ///< suffix of the labels in it
  function_form form = function_form::parallel_with_clones;
  bool has_polled = false;  ///< in an iteration of a clone's loop: its calls need not poll
  std::string form_suffix;  ///< suffix of the generated names for this form
  std::string heading_name;  ///< name of the form while its heading is planned
  unwind_version* version = nullptr;  ///< version of a function that is unwound
  token_index printed_now = no_token;  ///< a statement of it that is printed unchanged
};

/// The facts known before planning begins; they do not change.
struct plan_input {
  clang::CompilerInstance& compiler;
  clang::ASTContext& ast;
  clang::SourceManager& sources;
  const language::unit& unit;
  const semantic_index& index;
  plan_options options;
  std::unique_ptr<const unwind_plan> unwinding = {};  ///< with -fclosures=unwind

  // The keys are the first tokens of constructs, closures or callees.
  std::unordered_map<token_index, const construct*> construct_at = {};
  std::unordered_map<token_index, const closure_declaration*> closure_at = {};
  /// Calls of workers by plain C; outer ones first.
  std::unordered_map<token_index, std::vector<const worker_call*>> pointer_calls = {};
  std::map<token_index, std::vector<const closure_call*>> closure_pointer_calls = {};  ///< outer ones first
  std::map<token_index, const closure_call*> variadic_calls = {};  ///< calls of closures through pointers
  std::unordered_map<token_index, const closure_call*> closure_names_called = {};
  std::unordered_map<token_index, token_index> calls_of_c = {};  ///< by worker functions: their parentheses
  std::unordered_map<token_index, token_index> workers_in_arguments =
      {};  ///< of those calls: their parentheses
  std::set<token_index> left_out = {};  ///< the `void` of (void)
  /// Blocks that only generated functions have: PUT, guard, split, the body of `try`. They are given in
  /// tokens of the source, as (begin, end], in order, without blocks inside others.
  std::vector<token_range> outlined = {};
  /// The first declarations of worker functions, by their names.
  std::map<token_index, const clang::FunctionDecl*> worker_declarations = {};
  /// The tokens of the source before which #define, #undef or a pragma changes a macro, in order.
  std::vector<token_index> macro_changes = {};
  // Canonical declarations:
  std::set<const clang::FunctionDecl*> polling = {};  ///< functions that contain a construct that polls
  std::set<const clang::FunctionDecl*> cloned = {};  ///< functions with a clone
  std::set<const clang::FunctionDecl*> called_after_polls = {};  ///< functions with a polled_clone

  const char* violated_invariant() const;
};

/// The generated function of a closure.
struct planned_closure {
  std::string name;  ///< name of the function and of its frame's type
  std::vector<captured> captures;
};

/// The names and numbers given so far, and the declarations made so far in the unit.
struct unit_names {
  std::set<std::string> declared;
  std::map<std::string, std::string> pointer_entries;  ///< by type
  std::map<std::string, std::string> closure_callers;  ///< by type
  std::map<const clang::Decl*, std::string> renamed;  ///< canonical declarations
  std::map<const closure_declaration*, planned_closure> closures;  ///< in the form that was planned last
  unsigned closure_count = 0;
  unsigned moved_count = 0;
  unsigned copy_count = 0;
  std::size_t next_text = 0;  ///< index of the next comment or directive
  std::set<unsigned> written_macros;  ///< raw locations of the uses that are printed as the user wrote them
  std::set<std::size_t> placed_pragmas;  ///< indices of texts that have been printed within a line

  const char* violated_invariant() const;
};

/// A declaration that has been moved before its function.
struct moved_text {
  token_index end;
  std::string left;  ///< the text that remains in its place
};

/// The declaration of a variable that is in the frame of a closure.
struct placed_variable {
  token_index end;
  std::string member;
  token_range value;  ///< the initial value, or empty
};

/// The variables that closures store or keep when they are declared later. Each time a block is printed, as
/// for a clone, its entries replace the earlier ones.
using later_texts = std::map<std::pair<token_index, token_index>, std::string>;  // by closure and variable

/// The decisions about the function that is being planned.
struct function_plan {
  std::set<const construct*> continued;  ///< loops whose label of the next iteration is used
  std::set<const construct*> broken;  ///< loops whose label after the loop is used
  std::map<const construct*, const body_exits*> bodies;  ///< bodies of the `try`s around the current place
  std::map<token_index, std::string> after_token;  ///< text that follows a token
  /// Text that follows declarations of variables, by their last token, and of closures.
  std::map<token_index, later_texts> after_variable;
  std::map<const closure_declaration*, later_texts> after_closure;
  std::map<const closure_declaration*, std::vector<const clang::VarDecl*>> in_frame;
  std::map<const closure_declaration*, unsigned> frame_numbers;  ///< of frames that are declared already
  std::map<token_index, placed_variable> placed;  ///< by the first token of the declaration
  std::map<token_index, moved_text> moved;  ///< by the first token
  std::map<token_index, std::string> tag_names;  ///< names of types without a name, by their brace
};

/// The parts of the output.
struct sections {
  sheet unit;
  sheet before_function;  ///< printed before the function that is being planned
  sheet frames, saves, landings;  ///< printed between, if the function is unwound
  sheet after_function;
};

struct planner {
  const plan_input& in;
  unit_names names = {};
  function_plan function = {};
  sections out = {};
};

}  // namespace sukima::language
