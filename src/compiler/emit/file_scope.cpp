// SPDX-License-Identifier: Apache-2.0
// What stands at file scope: worker functions with their C entries, worker_local objects, and all that is
// plain C.
#include "emit/emitter.hpp"
#include "emit/types.hpp"

namespace sukima::language {

using namespace clang;

emitter::emitter(CompilerInstance& compiler, const unit& u, const semantic_index& index,
                 const emit_options& options)
    : compiler_(compiler),
      ast_(compiler.getASTContext()),
      sources_(compiler.getSourceManager()),
      unit_(u),
      index_(index),
      options_(options),
      out_(options.line_directives),
      before_(options.line_directives),
      records_(options.line_directives),
      saves_(options.line_directives),
      landings_(options.line_directives),
      behind_(options.line_directives) {
  for (const construct& c : u.constructs) construct_at_.emplace(c.whole.begin, &c);
  for (const closure_declaration& c : u.closures) closure_at_.emplace(c.whole.begin, &c);
  for (const auto& [open, call] : index.closure_calls) {
    if (!is_pointer_call(call)) {
      closure_names_called_.emplace(call.first, &call);
      continue;
    }
    const auto* type = call.call->getCallee()->getType()->castAs<PointerType>();
    if (type->getPointeeType()->castAs<FunctionProtoType>()->isVariadic()) {
      variadic_calls_.emplace(call.first, &call);
      continue;
    }
    auto& calls = closure_pointer_calls_[call.first];
    calls.push_back(&call);
    std::sort(calls.begin(), calls.end(),
              [](const closure_call* a, const closure_call* b) { return a->open > b->open; });
  }
  find_calls_of_c();
  if (options.unwind_closures) plan_ = std::make_unique<const unwind_plan>(ast_, u, index);
  if (options.sequential) return;
  for (const auto& [open, call] : index.calls)
    if (!call.in_worker && call.callee == nullptr) pointer_calls_.emplace(call.first, &call);
  for (const auto& [open, declarator] : index.declarators)
    if (declarator.void_token != no_token) left_out_.insert(declarator.void_token);
}

void emitter::report(SourceLocation place, const std::string& message) {
  DiagnosticsEngine& diagnostics = ast_.getDiagnostics();
  diagnostics.Report(place, diagnostics.getCustomDiagID(DiagnosticsEngine::Error, "%0")) << message;
}

std::string emitter::declare(QualType type, const std::string& name) const {
  return language::declare(type, name, {ast_, !options_.sequential, &renamed_, nullptr});
}

std::string emitter::worker_name(const FunctionDecl* f) const {
  return f->getNameAsString() + (f->isMain() ? "__worker" : "");
}

std::string emitter::entry_name(const FunctionDecl* f) const {
  return f->getNameAsString() + (f->isMain() ? "" : "__entry");
}

std::string emitter::base_name(const context& where) const {
  if (!where.closure_name.empty()) return where.closure_name;
  return "sukima_" + (where.function->execution != nullptr ? "exec_" + where.function->execution->task
                                                           : where.function->declaration->getNameAsString());
}

/// Whether this unit has a copy of its own: static, or an inline definition while the one for others is
/// elsewhere.
bool emitter::is_local(const FunctionDecl* f) const {
  if (f->getCanonicalDecl()->getStorageClass() == SC_Static) return true;
  const FunctionDecl* definition = f->getDefinition();
  return definition != nullptr && f->isInlineSpecified() &&
         !definition->isInlineDefinitionExternallyVisible();
}

/// Not where plain C of this unit does not call a static function, which would be a warning.
bool emitter::has_entry(const FunctionDecl* f) const {
  return f->getCanonicalDecl()->getStorageClass() != SC_Static ||
         index_.entered.contains(f->getCanonicalDecl());
}

std::string emitter::thread_accessor(const VarDecl* variable) const {
  return "sukima_thread_" + variable->getNameAsString();
}

void emitter::need_task(const std::string& task) {
  if (!declared_tasks_.insert(task).second) return;
  before_.text("void sukima_exec_" + task + "(char *sukima_top, void *sukima_task);\n");
}

/// A pointer to arrays of variable length has no such type outside of its function.
QualType emitter::entry_type(QualType type) const {
  return type->isVariablyModifiedType() ? ast_.VoidPtrTy : type;
}

/// The prototypes of the worker functions that are declared first in these tokens.
void emitter::declare_workers(token_range whole) {
  for (const FunctionDecl* f : index_.workers) {
    const token_index t = unit_.find(f->getLocation());
    if (t == no_token || !whole.holds(t)) continue;
    const bool is_static = is_local(f);
    const bool is_inline = std::any_of(f->redecls_begin(), f->redecls_end(),
                                       [](const FunctionDecl* one) { return one->isInlineSpecified(); });
    // Nobody has to use an inline definition, not even after it became static.
    const std::string words = std::string(is_static ? "static " : "") + (is_inline ? "__inline__ " : "") +
                              (is_static && is_inline ? "__attribute__((unused)) " : "");
    const std::string entry_words = is_static ? words : "";
    const std::string name = f->getNameAsString();
    try {
      const auto* type = f->getType()->castAs<FunctionType>();
      const bool only_declared = is_static && f->getDefinition() == nullptr;
      const auto* proto = cast<FunctionProtoType>(type);
      const auto& list = proto->param_types();
      if (std::any_of(list.begin(), list.end(), [](QualType one) { return one->isVariablyModifiedType(); })) {
        // With the user's own words: gcc warns where the lengths are written otherwise.
        const SourceLocation rparen =
            f->getTypeSourceInfo()->getTypeLoc().getAsAdjusted<FunctionTypeLoc>().getRParenLoc();
        context plain;
        writer text(options_.line_directives);
        print(text, {whole.begin, unit_.find(rparen) + 1}, plain);
        before_.append(text);
        before_.text(" __asm__(\"" + name + ".worker\");\n");
      } else {
        before_.text(words + declare(QualType(type, 0), worker_name(f)) + " __asm__(\"" + name +
                     ".worker\");\n");
      }
      if (proto->isVariadic() || only_declared) continue;
      if (!has_entry(f)) continue;
      std::vector<QualType> parameters;
      for (const QualType one : proto->param_types()) parameters.push_back(entry_type(one));
      const QualType plain = ast_.getFunctionType(proto->getReturnType(), parameters,
                                                  proto->getExtProtoInfo().withExceptionSpec({}));
      const auto* without = ast_.adjustFunctionType(plain->castAs<FunctionType>(), FunctionType::ExtInfo());
      before_.text(entry_words + declare(QualType(without, 0), entry_name(f)) + " __asm__(\"" + name +
                   "\");\n");
    } catch (const unprintable_type& problem) {
      report(f->getLocation(),
             "a type of the worker function '" + name + "' cannot be used: " + problem.reason);
    }
  }
}

/// The C entry of a worker function: its arguments travel in a struct to where the worker version is called.
void emitter::entry(const function_info& f) {
  const FunctionDecl* function = f.declaration;
  const bool is_static = is_local(function);
  if (function->isVariadic() || !has_entry(function)) return;
  const std::string name = function->getNameAsString();
  const std::string frame = "sukima_0_" + name + "_frame";
  const QualType result = function->getReturnType();
  const bool has_result = !result->isVoidType();
  std::string members;
  std::string arguments;
  std::string values;
  std::string list;
  unsigned number = 0;
  for (const ParmVarDecl* parameter : function->parameters()) {
    ++number;
    const std::string own = "sukima_" + std::to_string(number);
    const std::string declared = declare_unqualified(entry_type(parameter->getType()), own);
    members += " " + declared + ";";
    arguments += ", sukima_f->" + own;
    values += (values.empty() ? "." : ", .") + own + " = " + own;
    list += (list.empty() ? "" : ", ") + declared;
  }
  if (has_result) members += " " + declare_unqualified(result, "sukima_result") + ";";
  if (members.empty()) members = " char sukima_none;";
  const std::string words = is_static ? function->isInlined() ? "static __inline__ " : "static " : "";
  const std::string heading =
      declare_unqualified(result, entry_name(function) + "(" + (list.empty() ? "void" : list) + ")");
  behind_.text("struct " + frame + " {" + members + " };\n");
  behind_.text("static void sukima_0_" + name + "_run(char *sukima_top, void *sukima_frame) { struct " +
               frame + " *const sukima_f = (struct " + frame + " *)sukima_frame; (void)sukima_f; " +
               (has_result ? "sukima_f->sukima_result = " : "") + worker_name(function) + "(sukima_top" +
               arguments + "); }\n");
  behind_.text(
      words + heading + " { struct " + frame + " sukima_f" +
      (values.empty() ? "; __builtin_memset(&sukima_f, 0, sizeof sukima_f)" : " = { " + values + " }") +
      "; sukima_enter(sukima_0_" + name + "_run, &sukima_f);" +
      (has_result ? " return sukima_f.sukima_result;" : "") + " }\n");
}

/// The name of a function that calls a worker function through a pointer from plain C.
std::string emitter::pointer_entry(const worker_call& call) {
  const auto* function =
      call.call->getCallee()->getType()->castAs<PointerType>()->getPointeeType()->castAs<FunctionType>();
  const auto* proto = dyn_cast<FunctionProtoType>(function);
  try {
    const std::string type = declare(QualType(function, 0), "");
    if (const auto known = pointer_entries_.find(type); known != pointer_entries_.end()) return known->second;
    const std::string name = "sukima_call_" + std::to_string(pointer_entries_.size() + 1);
    pointer_entries_.emplace(type, name);
    if (proto == nullptr || proto->isVariadic()) {
      report(call.call->getExprLoc(), "a variadic worker function can be called in worker functions only");
      return name;
    }
    std::string members = " " + declare(ast_.getPointerType(QualType(function, 0)), "sukima_callee") + ";";
    std::string list = declare(ast_.getPointerType(QualType(function, 0)), "sukima_callee");
    std::string arguments;
    std::string values = ".sukima_callee = sukima_callee";
    unsigned number = 0;
    for (const QualType parameter : proto->param_types()) {
      const std::string own = "sukima_" + std::to_string(++number);
      const std::string declared = declare_unqualified(entry_type(parameter), own);
      members += " " + declared + ";";
      list += ", " + declared;
      arguments += ", sukima_f->" + own;
      values += ", ." + own + " = " + own;
    }
    const bool has_result = !proto->getReturnType()->isVoidType();
    if (has_result) members += " " + declare_unqualified(proto->getReturnType(), "sukima_result") + ";";
    before_.text("struct " + name + "_frame {" + members + " };\n");
    before_.text("static void " + name + "_run(char *sukima_top, void *sukima_frame) { struct " + name +
                 "_frame *const sukima_f = (struct " + name + "_frame *)sukima_frame; " +
                 (has_result ? "sukima_f->sukima_result = " : "") + "sukima_f->sukima_callee(sukima_top" +
                 arguments + "); }\n");
    before_.text("static __inline__ " + declare_unqualified(proto->getReturnType(), name + "(" + list + ")") +
                 " { struct " + name + "_frame sukima_f = { " + values + " }; sukima_enter(" + name +
                 "_run, &sukima_f);" + (has_result ? " return sukima_f.sukima_result;" : "") + " }\n");
    return name;
  } catch (const unprintable_type& problem) {
    report(call.call->getExprLoc(), "this worker function cannot be called from plain C: " + problem.reason);
    return "";
  }
}

/// `worker_local T x = INIT;` is a constant image of x, and an object that the runtime finds the worker's by.
void emitter::worker_local(token_range range) {
  context where;
  print(out_, range, where);
  std::string objects;
  for (const auto& [variable, t] : index_.declared) {
    if (!range.holds(t) || !variable->isFileVarDecl()) continue;
    const std::string name = variable->getNameAsString();
    const bool is_static = variable->getStorageClass() == SC_Static;
    if (variable->isThisDeclarationADefinition(ast_) == VarDecl::DeclarationOnly)
      objects += " extern sukima_worker_object " + name + "__object;";
    else
      objects += std::string(is_static ? " static" : "") + " sukima_worker_object " + name +
                 "__object = { sizeof " + name + "__initial, __alignof__(__typeof__(" + name +
                 "__initial)), &" + name + "__initial, 0 };";
  }
  out_.text(objects + "\n");
}

/// The declarations of labels at the start of a block, in front of which nothing may stand.
token_range emitter::label_declarations(token_index begin) const {
  token_index end = begin;
  for (token_index t = begin; t < unit_.tokens.size(); ++t) {
    if (unit_.roles[t] != token_role::user) continue;
    if (unit_.tokens[t].isNot(tok::kw___label__)) break;
    while (unit_.tokens[t].isNot(tok::semi)) ++t;
    end = t + 1;
  }
  return {begin, end};
}

void emitter::function(const function_info& f) {
  context where;
  where.function = &f;
  before_ = writer(options_.line_directives);
  behind_ = writer(options_.line_directives);
  continued_.clear();
  broken_.clear();
  behind_token_.clear();
  behind_closure_.clear();
  declare_tickets(f);
  writer body(options_.line_directives);
  const bool parallel = f.is_worker && !options_.sequential;
  if (parallel) where.top = "sukima_top";
  print_texts(out_, unit_.origins[f.execution != nullptr ? f.execution->whole.begin : f.whole.begin], where);
  if (!options_.sequential) declare_workers(f.whole);
  move_declarations(f);
  // A thread's variable is looked up by a call each time: the fiber may be on another thread than before.
  for (token_index t = f.body.begin; (parallel || (f.has_closures && !options_.sequential)) && t < f.body.end;
       ++t) {
    const VarDecl* variable = variable_at(t);
    if (variable == nullptr || variable->getTLSKind() == VarDecl::TLS_None) continue;
    if (f.has_closures && !index_.function_at(t)->is_worker) continue;
    const std::string name = variable->getNameAsString();
    if (variable->isStaticLocal())
      report(unit_.tokens[t].getLocation(),
             "the thread-local variable '" + name +
                 "' is declared in a worker function; declare it at file scope");
    else if (declared_tasks_.insert("thread " + name).second)
      before_.text("static __attribute__((noinline)) __typeof__(" + name + ") *" + thread_accessor(variable) +
                   "(void) { __asm__ volatile(\"\" ::: \"memory\"); return &" + name + "; }\n");
  }
  const token_range own = label_declarations(f.body.begin + 1);
  const std::map<const VarDecl*, std::string> in_records = place_in_records(f, where);
  if (f.execution != nullptr) {
    need_task(f.execution->task);
    go_to(body, f.execution->location);
    const std::string type = "struct " + task_type_name(f.execution->task);
    body.text("void sukima_exec_" + f.execution->task + "(char *sukima_top, void *sukima_task) ");
    go_to(body, unit_.tokens[f.body.begin].getLocation());
    body.text("{");
    if (const auto more = behind_token_.find(f.body.begin); more != behind_token_.end())
      body.text(more->second);
    print(body, own, where);
    body.text(" " + type + " *const sukima_this = (" + type +
              " *)sukima_task; (void)sukima_top; (void)sukima_this;");
  } else {
    print(body, {f.whole.begin, f.body.begin}, where);
    where.names = in_records;
    go_to(body, unit_.tokens[f.body.begin].getLocation());
    body.token("{", true);
    if (const auto more = behind_token_.find(f.body.begin); more != behind_token_.end())
      body.text(more->second);
    print(body, own, where);
    if (parallel) body.text(" (void)sukima_top;");
  }
  const bool is_main = parallel && f.execution == nullptr && f.declaration->isMain();
  print(body, {own.end, is_main ? f.body.end - 1 : f.body.end}, where);
  if (is_main) {  // C's main returns 0 at its end; the worker version has another name
    body.text(" return 0; ");
    print(body, {f.body.end - 1, f.body.end}, where);
  }
  if (parallel && f.execution == nullptr) {
    go_to(behind_, f.declaration->getLocation(), false);
    try {
      entry(f);
    } catch (const unprintable_type& problem) {
      report(f.declaration->getLocation(),
             "a type of this worker function cannot be used: " + problem.reason);
    }
  }
  // Variables that a jump back may leave with another value are in memory: gcc does not see that.
  const bool waits = std::any_of(index_.closure_jumps.begin(), index_.closure_jumps.end(),
                                 [&f](const auto& j) { return f.body.holds(j.first); });
  if (waits)
    out_.text(
        "\n#ifndef __clang__\n#pragma GCC diagnostic push\n#pragma GCC diagnostic ignored \"-Wclobbered\"\n"
        "#endif\n");
  out_.append(before_);
  // gcc takes a function that recurses until something is thrown for one that recurses for ever.
  const bool throws = waits || std::any_of(f.constructs.begin(), f.constructs.end(), [](const construct* c) {
                        return c->kind == construct_kind::throw_tag;
                      });
  if (throws)
    out_.text("#pragma GCC diagnostic push\n#pragma GCC diagnostic ignored \"-Winfinite-recursion\"\n");
  out_.append(body);
  out_.append(behind_);
  if (throws) out_.text("#pragma GCC diagnostic pop\n");
  if (waits) out_.text("\n#ifndef __clang__\n#pragma GCC diagnostic pop\n#endif\n");
  before_ = writer(options_.line_directives);
  behind_ = writer(options_.line_directives);
}

std::string emitter::run() {
  out_.text(options_.sequential ? "#include <sukima/tascell/sequential.h>\n"
                                : "#include <sukima/tascell/tascell.h>\n");
  if (!unit_.closures.empty() || !unit_.closure_types.empty() || !calls_of_c_.empty())
    out_.text(plan_ ? "#include <sukima/tascell/unwind.h>\n" : "#include <sukima/tascell/closure.h>\n");
  std::size_t next_function = 0;
  std::size_t next_local = 0;
  const token_index end = static_cast<token_index>(unit_.tokens.size());
  std::set<token_index>
      declarations;  // first tokens of external declarations with a worker function's first mention
  context plain;
  for (token_index t = 0; t < end;) {
    while (next_function < index_.functions.size() && index_.functions[next_function].whole.begin < t)
      ++next_function;
    if (next_function < index_.functions.size() && index_.functions[next_function].whole.begin == t) {
      const function_info& f = index_.functions[next_function];
      const unwound* const own = plan_ ? plan_->find(&f) : nullptr;
      own != nullptr ? unwound_function(*own) : function(f);
      t = f.whole.end;
      continue;
    }
    if (next_local < unit_.worker_locals.size() && unit_.worker_locals[next_local].begin == t &&
        !options_.sequential) {
      const token_range range = unit_.worker_locals[next_local++];
      worker_local(range);
      t = range.end;
      continue;
    }
    // Up to the end of this declaration, as it is.
    token_range one{t, t};
    while (one.end < end) {
      const token_index k = one.end;
      if (unit_.partner[k] != no_token && unit_.partner[k] > k) one.end = unit_.partner[k];
      ++one.end;
      if (unit_.tokens[k].isAnnotation() ||
          (unit_.tokens[k].is(tok::semi) && unit_.roles[k] != token_role::keyword) ||
          unit_.roles[k] == token_role::system)
        break;
      if (next_function < index_.functions.size() && one.end == index_.functions[next_function].whole.begin)
        break;
    }
    if (unit_.roles[t] != token_role::system) {
      if (unit_.origins[t] != no_token) print_texts(out_, unit_.origins[t], plain);
      before_ = writer(options_.line_directives);
      if (!options_.sequential) declare_workers(one);
      writer text(options_.line_directives);
      print(text, one, plain);
      out_.append(before_);
      out_.append(text);
    }
    t = one.end;
  }
  print_texts(out_, no_token, plain);
  out_.end_line();
  return out_.str();
}

std::string emit(CompilerInstance& compiler, const unit& u, const semantic_index& index,
                 const emit_options& options) {
  return emitter(compiler, u, index, options).run();
}

}  // namespace sukima::language
