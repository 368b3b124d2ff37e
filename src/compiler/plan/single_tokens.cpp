// SPDX-License-Identifier: Apache-2.0
// The text that replaces a single token: names that become expressions, calls, parameter lists.
#include "plan/clones.hpp"
#include "plan/closures.hpp"
#include "plan/input.hpp"
#include "plan/names.hpp"
#include "plan/tokens.hpp"
#include "plan/worker_functions.hpp"
#include "source/implicit_names.hpp"

namespace sukima::language {

using namespace clang;

namespace {

/// Returns the name of a worker-local variable: that of the initial value at the declaration, otherwise an
/// expression for this worker's object.
std::string worker_local_name(const plan_input& in, const VarDecl* variable, token_index t) {
  std::string name = variable->getNameAsString();
  if (in.options.sequential) return name;
  const auto declared = in.index.declared.find(variable);
  if (declared != in.index.declared.end() && declared->second == t) return name + "__initial";
  return "(*(__typeof__(" + name + "__initial) *)sukima_worker_local(&" + name + "__object))";
}

/// Returns a call of plain C, preceded by a note of the end of the choice points.
std::string noted(const std::string& callee, const context& scope) {
  return "(sukima_leave_for_c(" + scope.top + "), " + callee + ")";
}

/// The text around a callee whose expression calls a worker. The note follows that call.
constexpr const char* callee_begins = "__auto_type sukima_callee = (";
std::string callee_ends(const context& scope) {
  return "); sukima_leave_for_c(" + scope.top + "); sukima_callee; })";
}

/// Returns the replacement of a variable's name; nothing: it is kept.
std::optional<std::string> variable_word(const planner& p, const VarDecl* variable, token_index token,
                                         const context& scope) {
  const plan_input& in = p.in;
  if (const auto call = in.closure_names_called.find(token); scope.version == nullptr &&
                                                             call != in.closure_names_called.end() &&
                                                             call->second != scope.called_apart) {
    const std::string& code = p.names.closures.at(in.index.closure_variables.at(variable)->definition).name;
    return leaves_for_c(in, call->second->open, scope) ? noted(code, scope) : code;
  }
  if (const auto own = scope.names.find(variable); own != scope.names.end()) return own->second;
  if (is_put_in(in, variable) && variable->getName() == "this") return "(*sukima_this)";
  if (is_backtracking(variable)) return scope.backtracking;
  if (in.index.worker_locals.contains(variable->getCanonicalDecl()))
    return worker_local_name(in, variable, token);
  const auto declared = in.index.declared.find(variable);
  const bool is_declaration =
      declared != in.index.declared.end() && declared->second == token;  // `extern` in a block
  if (!is_declaration && is_looked_up_by_thread(in, variable, scope))
    return "(*" + thread_accessor(variable->getNameAsString()) + "())";
  return std::nullopt;
}

/// Returns whether a function may have another result on another thread, although C compilers need not call
/// it again, as pthread_self: it has the attribute `const` and no parameters. The functions behind the macros
/// of <ctype.h> return the address of the thread's pointer to its table, which goes with the thread.
bool depends_on_thread(const FunctionDecl* function) {
  return function->getNumParams() == 0 && function->getBuiltinID() == 0 &&
         function->getMostRecentDecl()->hasAttr<ConstAttr>();
}

/// Returns an expression for a function that C compilers do not recognise, so that they keep no result of it.
std::string unknown_function(const FunctionDecl* function) {
  const std::string name = function->getNameAsString();
  return "(*__extension__({ __typeof__(" + name + ") *sukima_q = " + name +
         "; __asm__ volatile(\"\" : \"+r\"(sukima_q)); sukima_q; }))";
}

/// Returns the replacement of a function's name; nothing: it is kept.
std::optional<std::string> function_word(const plan_input& in, const FunctionDecl* function,
                                         token_index token, const context& scope) {
  if (is_worker_type(function->getType()) && !in.options.sequential) {
    if (in.index.plain_entries.contains(token)) return entry_name(function);
    if (!scope.heading_name.empty()) return scope.heading_name;
    for (token_index open = token + 1; open < in.unit.tokens.size() && open < token + 3; ++open)
      if (const auto call = in.index.calls.find(open);
          call != in.index.calls.end() && call->second.first <= token && call->second.callee == function)
        return call->second.in_worker ? form_name(in, function, scope) : entry_name(function);
    return worker_name(function);
  }
  // Plain functions need this, too, because they may be inlined into worker functions. C compilers keep the
  // result of such a function, and a worker function may continue on another thread.
  if (scope.function == nullptr || in.options.sequential || in.index.workers.empty()) return std::nullopt;
  if (function->getName() == "__errno_location") return "sukima_errno";
  const auto call = in.index.all_calls.find(token + 1);
  const bool is_called = call != in.index.all_calls.end() && call->second->getDirectCallee() == function;
  if (is_called && scope.version == nullptr && depends_on_thread(function)) return unknown_function(function);
  return std::nullopt;
}

/// Returns a string for __func__ if the generated function's name differs from the user's; nothing: it is
/// kept.
std::optional<std::string> function_name_word(const plan_input& in, const context& scope) {
  if (scope.function == nullptr) return std::nullopt;
  const function_info& f = *scope.function;
  if (f.closure != nullptr) return "\"" + f.closure->name + "\"";
  if (scope.version != nullptr) return "\"" + f.declaration->getNameAsString() + "\"";
  const bool has_name = f.execution == nullptr && !f.declaration->isMain() &&
                        !in.cloned.contains(f.declaration->getCanonicalDecl());
  if (!f.is_worker || (!scope.is_copy && has_name)) return std::nullopt;
  return "\"" +
         (f.execution != nullptr ? "task_exec " + f.execution->task : f.declaration->getNameAsString()) +
         "\"";
}

/// Returns whether a parenthesis follows __builtin_FUNCTION, which a string replaces.
bool is_behind_function_name(const plan_input& in, token_index token, const context& scope) {
  const bool is_open = in.unit.tokens[token].is(tok::l_paren);
  const token_index name = token - (is_open ? 1 : 2);
  return (is_open || in.unit.tokens[token].is(tok::r_paren)) && token > 1 &&
         in.index.function_names.contains(name) && spelling(in, name) == "__builtin_FUNCTION" &&
         function_name_word(in, scope).has_value();
}

/// Returns whether a `register` belongs to a variable that the program binds to a register.
bool names_a_register(const plan_input& in, token_index t) {
  while (t < in.unit.tokens.size() && in.unit.tokens[t].isNot(tok::semi) &&
         in.unit.tokens[t].isNot(tok::kw_asm))
    ++t;
  return t < in.unit.tokens.size() && in.unit.tokens[t].is(tok::kw_asm);
}

/// Returns the replacement of a token, independent of its neighbours; nothing: it is kept.
std::optional<std::string> name_at(const planner& p, token_index token, const context& scope) {
  const plan_input& in = p.in;
  if (in.unit.tokens[token].is(tok::kw_register) && scope.function != nullptr &&
      (scope.function->is_worker || scope.function->has_closures) && !names_a_register(in, token))
    return "";
  if (in.index.dropped.contains(token)) return "";
  if (const auto name = in.index.names.find(token); name != in.index.names.end()) {
    const NamedDecl* declaration = name->second;
    if (const auto own = p.names.renamed.find(declaration->getCanonicalDecl());
        own != p.names.renamed.end()) {
      const auto* const moved = dyn_cast<VarDecl>(declaration);
      const bool is_looked_up = moved != nullptr && !scope.moving && is_looked_up_by_thread(in, moved, scope);
      return is_looked_up ? "(*" + thread_accessor(own->second) + "())" : own->second;
    }
    if (const auto* label = dyn_cast<LabelDecl>(declaration))
      if (const std::string suffix = label_suffix(label, scope); !suffix.empty())
        return spelling(in, token) + suffix;
    std::optional<std::string> own;
    if (const auto* variable = dyn_cast<VarDecl>(declaration))
      own = variable_word(p, variable, token, scope);
    else if (const auto* function = dyn_cast<FunctionDecl>(declaration))
      own = function_word(in, function, token, scope);
    if (own) return own;
  }
  return in.index.function_names.contains(token) ? function_name_word(in, scope) : std::nullopt;
}

/// Returns the words before a token that begins or ends something: a type without a name, or calls.
std::vector<planned_word> words_in_front(const planner& p, token_index token, const context& scope) {
  const plan_input& in = p.in;
  const bool space = in.unit.tokens[token].hasLeadingSpace() || in.unit.tokens[token].isAtStartOfLine();
  std::vector<planned_word> words;
  if (scope.moving)
    if (const auto tag = p.function.tag_names.find(token); tag != p.function.tag_names.end())
      words.push_back({tag->second, true});
  const auto noted_call = in.calls_of_c.find(token);
  bool is_noted = noted_call != in.calls_of_c.end() && noted_call->second != scope.noted_apart &&
                  leaves_for_c(in, noted_call->second, scope);
  const auto note = [&] {
    const std::string text = "sukima_leave_for_c(" + scope.top + ")";
    words.push_back({calls_a_worker(in, {token, noted_call->second})
                         ? "__extension__({ " + text + "; " + callee_begins
                         : "(" + text + ", ",
                     space});
    is_noted = false;
  };
  if (const auto calls = in.closure_pointer_calls.find(token);
      calls != in.closure_pointer_calls.end() && scope.version == nullptr)
    for (const closure_call* call : calls->second) {  // outer ones first
      if (call == scope.called_apart) continue;
      if (is_noted && noted_call->second > call->open) note();
      const bool is_worker = call->is_worker && call->in_worker && !in.options.sequential;
      const bool leaves = leaves_for_c(in, call->open, scope);
      const bool again = leaves && calls_a_worker(in, {call->first, call->open});
      words.push_back({leaves ? "(sukima_leave_for_c(" + scope.top + "), " : "", space, call,
                       (leaves ? ")(" : "(") + (is_worker ? scope.top + ", " : "") + begin_check(p, *call) +
                           (again ? std::string("__extension__({ ") + callee_begins : "")});
    }
  if (is_noted) note();
  if (in.index.all_calls.contains(token) && leaves_for_c(in, token, scope)) {
    const auto begun = in.calls_of_c.find(in.unit.find(in.index.all_calls.at(token)->getBeginLoc()));
    if (begun != in.calls_of_c.end() && begun->second == token)
      words.push_back({calls_a_worker(in, {begun->first, token}) ? callee_ends(scope) : ")", false});
  }
  if (const auto calls = in.pointer_calls.find(token); calls != in.pointer_calls.end())
    for (const worker_call* call : calls->second) words.push_back({"", space, call, "("});
  return words;
}

/// Returns the replacement of a parenthesis that opens arguments or parameters, with the hidden ones;
/// nothing: it is kept.
std::optional<std::string> parenthesis_word(const planner& p, token_index token, const context& scope) {
  const plan_input& in = p.in;
  if (is_behind_function_name(in, token, scope)) return "";
  if (const auto found = in.index.closure_calls.find(token);
      found != in.index.closure_calls.end() && scope.version == nullptr) {
    const closure_call& call = found->second;
    const std::string comma = call.has_arguments ? ", " : "";
    if (is_pointer_call(in, call)) {
      if (&call == scope.called_apart) return comma;
      const bool again = leaves_for_c(in, token, scope) && calls_a_worker(in, {call.first, token});
      return (again ? callee_ends(scope) : "") + (in.options.check_closures ? "), __FILE__, __LINE__)" : "") +
             comma;
    }
    return "(" + (call.is_worker && !in.options.sequential ? scope.top + ", " : "") +
           "sukima_closure_self((__UINTPTR_TYPE__)" + name_in(in, call.callee, scope) + ")" + comma;
  }
  if (in.options.sequential) return std::nullopt;
  if (const auto call = in.index.calls.find(token); call != in.index.calls.end()) {
    std::string comma = call->second.has_arguments ? ", " : "";
    if (call->second.in_worker) return "(" + scope.top + comma;
    if (call->second.callee == nullptr) return comma;
  }
  if (const auto declarator = in.index.declarators.find(token); declarator != in.index.declarators.end())
    return std::string("(char *sukima_top") + (declarator->second.empty ? "" : ", ");
  if (in.left_out.contains(token)) return "";
  return std::nullopt;
}

}  // namespace

std::optional<std::vector<planned_word>> words_at(const planner& p, token_index t, const context& scope) {
  const Token& token = p.in.unit.tokens[t];
  if (token.isAnnotation() || token.is(tok::eof)) return std::nullopt;
  const std::string spelled = spelling(p.in, t);
  const std::string name = name_at(p, t, scope).value_or(spelled);
  if (name.empty()) return std::vector<planned_word>();
  std::vector<planned_word> words = words_in_front(p, t, scope);
  if (const std::optional<std::string> own = parenthesis_word(p, t, scope))
    words.push_back({*own, false});
  else if (name != spelled || !words.empty())
    words.push_back({name, token.hasLeadingSpace() || token.isAtStartOfLine()});
  else
    return std::nullopt;
  return words;
}

std::vector<printed_word> resolved(planner& p, const std::vector<planned_word>& words) {
  std::vector<printed_word> result;
  for (const planned_word& one : words) {
    std::string text = one.text;
    if (const auto* const* call = std::get_if<const worker_call*>(&one.caller))
      text += pointer_entry(p, **call);
    else if (const auto* const* closure = std::get_if<const closure_call*>(&one.caller))
      text += closure_caller(p, **closure);
    result.push_back({text + one.after_caller, one.space});
  }
  return result;
}

}  // namespace sukima::language
