// SPDX-License-Identifier: Apache-2.0
#include "plan/worker_functions.hpp"

#include "plan/c_text.hpp"
#include "plan/clones.hpp"
#include "plan/cluster.hpp"
#include "plan/entering.hpp"
#include "plan/names.hpp"
#include "plan/tokens.hpp"
#include "plan/types.hpp"

namespace sukima::language {

using namespace clang;

namespace {

/// The function through which plain C calls a worker function. It is printed on one line, the function's own,
/// so that a debugger does not find it at the lines of the user's text below.
constexpr std::string_view entry_function = R"(
    struct sukima_0_$name$_frame {$members$ };
    static void sukima_0_$name$_run(char *sukima_top, void *sukima_frame) {
      struct sukima_0_$name$_frame *const sukima_f = (struct sukima_0_$name$_frame *)sukima_frame;
      (void)sukima_f;
      $call$
    }
    $words$$heading$ {
      struct sukima_0_$name$_frame sukima_f$values$;
      $enter$;$return$
    }

)";

/// Returns the type in an entry. A pointer to arrays of variable length has no such type outside its
/// function.
QualType entry_type(const plan_input& in, QualType type) {
  return type->isVariablyModifiedType() ? in.ast.VoidPtrTy : type;
}

/// Returns whether the worker version needs its own symbol name. A debugger takes the name of an external
/// function from its symbol. A local function keeps the user's name, so that `break f` finds it in addition
/// to the C entry, whose symbol is f.
bool has_symbol_apart(const plan_input& in, const FunctionDecl* f) {
  return in.options.debuggable && !is_local(f) && f->getDefinition() != nullptr && !f->isMain() &&
         std::ranges::all_of(f->redecls(), [](const FunctionDecl* one) {
           return !one->isInlineSpecified() && std::ranges::all_of(one->attrs(), [](const Attr* a) {
             return a->isImplicit() || isa<UnusedAttr>(a);
           });
         });
}

}  // namespace

std::string weak_words(const FunctionDecl* f) {
  const bool is_weak =
      std::ranges::any_of(f->redecls(), [](const FunctionDecl* one) { return one->hasAttr<WeakAttr>(); });
  return is_weak ? " __attribute__((weak))" : "";
}

void declare_workers(planner& p, token_range whole) {
  const auto first = p.in.worker_declarations.lower_bound(whole.begin);
  for (const auto& [t, f] : std::ranges::subrange(first, p.in.worker_declarations.lower_bound(whole.end))) {
    const bool is_static = is_local(f);
    const bool is_inline = std::any_of(f->redecls_begin(), f->redecls_end(),
                                       [](const FunctionDecl* one) { return one->isInlineSpecified(); });
    // An inline definition may remain unused, even after it became static.
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
        // Prints the user's own text, because gcc warns if the lengths are written in another way.
        const SourceLocation rparen =
            f->getTypeSourceInfo()->getTypeLoc().getAsAdjusted<FunctionTypeLoc>().getRParenLoc();
        context plain;
        sheet text;
        plan_tokens(p, text, {whole.begin, p.in.unit.find(rparen) + 1}, plain);
        p.out.before_function.append(text);
        p.out.before_function.text(" __asm__(\"" + name + ".worker\");\n" + form_prototypes(p.in, f, ""));
      } else {
        const bool is_apart = has_symbol_apart(p.in, f);
        p.out.before_function.text(
            (is_apart ? "static " : words) + declare(p, QualType(type, 0), worker_name(f)) + " __asm__(\"" +
            name + (is_apart ? ".body" : ".worker") + "\");\n" + form_prototypes(p.in, f, words));
        if (is_apart)
          p.out.before_function.text("extern __typeof(" + worker_name(f) + ") sukima_symbol_" + name +
                                     " __asm__(\"" + name + ".worker\") __attribute__((alias(\"" + name +
                                     ".body\")));\n");
      }
      if (proto->isVariadic() || only_declared) continue;
      if (!has_entry(p.in, f)) continue;
      std::vector<QualType> parameters;
      for (const QualType one : proto->param_types()) parameters.push_back(entry_type(p.in, one));
      const QualType plain = p.in.ast.getFunctionType(proto->getReturnType(), parameters,
                                                      proto->getExtProtoInfo().withExceptionSpec({}));
      const auto* without =
          p.in.ast.adjustFunctionType(plain->castAs<FunctionType>(), FunctionType::ExtInfo());
      p.out.before_function.text(entry_words + declare(p, QualType(without, 0), entry_name(f)) +
                                 " __asm__(\"" + name + "\")" + weak_words(f) + ";\n");
    } catch (const unprintable_type& problem) {
      report(p.in, f->getLocation(),
             "a type of the worker function '" + name + "' cannot be used: " + problem.reason);
    }
  }
}

void plan_entry(planner& p, const function_info& f) {
  const FunctionDecl* function = f.declaration;
  const bool is_static = is_local(function);
  if (function->isVariadic() || !has_entry(p.in, function)) return;
  const std::string name = function->getNameAsString();
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
    const std::string declared = declare_unqualified(p, entry_type(p.in, parameter->getType()), own);
    members += " " + declared + ";";
    arguments += ", sukima_f->" + own;
    values += (values.empty() ? "." : ", .") + own + " = " + own;
    list += (list.empty() ? "" : ", ") + declared;
  }
  if (has_result) members += " " + declare_unqualified(p, result, "sukima_result") + ";";
  if (members.empty()) members = " char sukima_none;";
  const std::string words = is_static ? function->isInlined() ? "static __inline__ " : "static " : "";
  const std::string heading =
      declare_unqualified(p, result, entry_name(function) + "(" + (list.empty() ? "void" : list) + ")");
  const std::string call = worker_name(function) + "(sukima_top" + arguments + ")";
  const std::string enter =
      enter_call(p, function, "sukima_0_" + name + "_run", "sukima_f", has_result ? "sukima_result" : "");
  p.out.after_function.text(c_text(
      entry_function, {{"name", name},
                       {"members", members},
                       {"call", has_result ? assign(p, result, "sukima_f->sukima_result", call) : call + ";"},
                       {"words", words},
                       {"heading", heading},
                       {"values", values.empty() ? "; __builtin_memset(&sukima_f, 0, sizeof sukima_f)"
                                                 : " = { " + values + " }"},
                       {"enter", enter},
                       {"return", has_result ? " return sukima_f.sukima_result;" : ""}}));
}

std::string pointer_entry(planner& p, const worker_call& call) {
  const auto* function =
      call.call->getCallee()->getType()->castAs<PointerType>()->getPointeeType()->castAs<FunctionType>();
  const auto* proto = dyn_cast<FunctionProtoType>(function);
  try {
    const std::string type = declare(p, QualType(function, 0), "");
    if (const auto known = p.names.pointer_entries.find(type); known != p.names.pointer_entries.end())
      return known->second;
    // No `_` before the number, because names for a function `call` have one.
    const std::string name = "sukima_call" + std::to_string(p.names.pointer_entries.size() + 1);
    p.names.pointer_entries.emplace(type, name);
    if (proto == nullptr || proto->isVariadic()) {
      report(p.in, call.call->getExprLoc(),
             "a variadic worker function can be called in worker functions only");
      return name;
    }
    std::string members =
        " " + declare(p, p.in.ast.getPointerType(QualType(function, 0)), "sukima_callee") + ";";
    std::string list = declare(p, p.in.ast.getPointerType(QualType(function, 0)), "sukima_callee");
    std::string arguments;
    std::string values = ".sukima_callee = sukima_callee";
    unsigned number = 0;
    for (const QualType parameter : proto->param_types()) {
      const std::string own = "sukima_" + std::to_string(++number);
      const std::string declared = declare_unqualified(p, entry_type(p.in, parameter), own);
      members += " " + declared + ";";
      list += ", " + declared;
      arguments += ", sukima_f->" + own;
      values += ", ." + own + " = " + own;
    }
    const QualType result = proto->getReturnType();
    const std::string value = "sukima_f->sukima_callee(sukima_top" + arguments + ")";
    print_entering(
        p, {.name = name,
            .words = "static __inline__ ",
            .parameters = list,
            .members = members,
            .values = values,
            .call = result->isVoidType() ? value + ";" : assign(p, result, "sukima_f->sukima_result", value),
            .result = result});
    return name;
  } catch (const unprintable_type& problem) {
    report(p.in, call.call->getExprLoc(),
           "this worker function cannot be called from plain C: " + problem.reason);
    return "";
  }
}

namespace {

/// Returns the object of a worker_local variable, with its initial value if this declaration defines it.
std::string worker_object(const plan_input& in, const VarDecl& variable) {
  const std::string name = variable.getNameAsString();
  const std::string object = "sukima_worker_object " + name + "__object";
  const VarDecl::DefinitionKind kind = variable.isThisDeclarationADefinition(in.ast);
  if (kind == VarDecl::DeclarationOnly) return " extern " + object + ";";
  const std::string words = variable.getStorageClass() == SC_Static ? " static " : " ";
  // Of several declarations without an initial value, C takes the last as the definition.
  VarDecl& one = const_cast<VarDecl&>(variable);
  if (kind == VarDecl::TentativeDefinition && one.getActingDefinition() != &one) return words + object + ";";
  std::string size = "sizeof " + name + "__initial";
  if (variable.hasInit() && variable.hasFlexibleArrayInit(in.ast))
    size += " + " + std::to_string(variable.getFlexibleArrayInitChars(in.ast).getQuantity());
  return words + object + " = { " + size + ", __alignof__(" + name + "__initial), &" + name +
         "__initial, 0 };";
}

}  // namespace

void plan_worker_local(planner& p, token_range range) {
  context scope;
  plan_tokens(p, p.out.unit, range, scope);
  std::string objects;
  for (const auto& [variable, t] : p.in.index.declared)
    if (range.holds(t) && variable->isFileVarDecl()) objects += worker_object(p.in, *variable);
  p.out.unit.text(objects + "\n");
}

}  // namespace sukima::language
