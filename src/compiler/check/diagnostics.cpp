// SPDX-License-Identifier: Apache-2.0
#include "check/diagnostics.hpp"

#include <unistd.h>

#include <clang/Basic/DiagnosticIDs.h>
#include <clang/Basic/DiagnosticSema.h>

#include "index/semantic_index.hpp"

namespace sukima::language {
namespace {

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

/// Replaces the names that desugaring put in by what the user wrote.
std::string in_terms_of_the_language(std::string text) {
  replace_all(text, "struct sukima_task_", "task ");
  replace_all(text, "sukima_task_", "task ");
  replace_all(text, "'sukima_exec_", "'task_exec ");
  // 'long (int) __attribute__((preserve_most))' is the type of a worker function.
  const auto to_the_front = [&text](std::string_view attribute, const char* word) {
    for (std::size_t at = text.find(attribute); at != std::string::npos; at = text.find(attribute)) {
      text.erase(at, attribute.size());
      const std::size_t quote = text.rfind('\'', at == 0 ? 0 : at - 1);
      if (quote != std::string::npos) text.insert(quote + 1, word);
    }
  };
  to_the_front(" __attribute__((preserve_most))", "worker ");
  to_the_front(" __attribute__((preserve_all))", "closure ");
  to_the_front(" __attribute__((preserve_none))", "worker closure ");
  replace_all(text, "((*const))", "(*)");
  replace_all(text, "worker worker ", "worker ");
  replace_all(text, "'preserve_most' calling convention", "'worker' type");
  replace_all(text, "preserve_most", "worker");
  // Desugaring passes the value of a closure's `return` to a function.
  const std::string_view result = "'sukima_result_";
  if (const std::size_t at = text.find(result); at != std::string::npos) {
    const std::size_t alias = text.find("' (aka '", at);
    if (alias != std::string::npos) {
      text.erase(at + 1, alias - at + 7);
      text.erase(text.find(')', at), 1);
    }
    replace_all(text, "passing ", "returning ");
    replace_all(text, " to parameter of incompatible type ",
                " from a closure with the incompatible result type ");
    replace_all(text, " to parameter of type ", " from a closure with the result type ");
  }
  if (text == "function definition is not allowed here")
    text += "; to nest a function, write 'closure' between its name and its parameters";
  // Extensions that gcc has and Clang lacks.
  for (const std::string_view only_gcc :
       {"'variable length array in structure'", "GNU decimal type extension",
        "of flexible array member is not allowed", "unsuitable for global register variables"})
    if (text.find(only_gcc) != std::string::npos)
      text += "; Clang 19 parses .tc files: move code that only gcc accepts to a .c file";
  return text;
}

enum class conversion { invalid, of_a_closure, valid };

/// The conversion that Clang complains about: functions convert to pointers to closures, nothing else does.
conversion conversion_of(const clang::Diagnostic& info) {
  using namespace clang;
  if (info.getNumArgs() < 3 || info.getArgKind(0) != DiagnosticsEngine::ak_qualtype ||
      info.getArgKind(1) != DiagnosticsEngine::ak_qualtype)
    return conversion::invalid;
  QualType types[] = {QualType::getFromOpaquePtr(reinterpret_cast<void*>(info.getRawArg(0))),
                      QualType::getFromOpaquePtr(reinterpret_cast<void*>(info.getRawArg(1)))};
  const auto action = static_cast<Sema::AssignmentAction>(info.getArgSInt(2));
  const bool target_first = action == Sema::AA_Assigning || action == Sema::AA_Initializing;
  const QualType target = types[target_first ? 0 : 1];
  const QualType source = types[target_first ? 1 : 0];
  if (!is_closure_type(target) && is_closure_type(source)) return conversion::of_a_closure;
  if (!is_closure_type(target) || is_closure_type(source) || is_worker_type(target) != is_worker_type(source))
    return conversion::invalid;
  const auto function = [](QualType type) {
    if (const auto* pointer = type->getAs<PointerType>()) type = pointer->getPointeeType();
    return type->getAs<FunctionProtoType>();
  };
  const FunctionProtoType* to = function(target);
  const FunctionProtoType* from = function(source);
  if (to == nullptr || from == nullptr) return to != nullptr ? conversion::valid : conversion::invalid;
  if (to->getReturnType().getCanonicalType() != from->getReturnType().getCanonicalType() ||
      to->getNumParams() != from->getNumParams() || to->isVariadic() != from->isVariadic())
    return conversion::invalid;
  for (unsigned k = 0; k < to->getNumParams(); ++k)
    if (to->getParamType(k).getCanonicalType().getUnqualifiedType() !=
        from->getParamType(k).getCanonicalType().getUnqualifiedType())
      return conversion::invalid;
  return conversion::valid;
}

}  // namespace

diagnostic_printer::diagnostic_printer() : options_(new clang::DiagnosticOptions) {
  options_->ShowColors = isatty(STDERR_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr;
}

diagnostic_printer::~diagnostic_printer() = default;

void diagnostic_printer::BeginSourceFile(const clang::LangOptions& language, const clang::Preprocessor*) {
  language_ = &language;
  printer_ = std::make_unique<clang::TextDiagnostic>(llvm::errs(), language, options_.get());
}

void diagnostic_printer::EndSourceFile() { printer_.reset(); }

void diagnostic_printer::HandleDiagnostic(clang::DiagnosticsEngine::Level level,
                                          const clang::Diagnostic& info) {
  using clang::DiagnosticsEngine;
  const bool own = info.getID() >= clang::diag::DIAG_UPPER_LIMIT;
  conversion how = conversion::invalid;
  if (info.getID() == clang::diag::ext_typecheck_convert_incompatible_function_pointer) {
    how = conversion_of(info);
    if (how == conversion::valid) {
      last_was_dropped_ = true;
      return;
    }
    level = DiagnosticsEngine::Error;
  }
  if (level == DiagnosticsEngine::Note ? last_was_dropped_ : level < DiagnosticsEngine::Error && !own) {
    last_was_dropped_ = true;
    return;
  }
  last_was_dropped_ = false;
  DiagnosticConsumer::HandleDiagnostic(level, info);
  llvm::SmallString<128> text;
  info.FormatDiagnostic(text);
  std::string message = in_terms_of_the_language(text.str().str());
  if (how == conversion::of_a_closure) message += "; a closure does not convert to a plain function";
  if (printer_ == nullptr || !info.hasSourceManager() || info.getLocation().isInvalid()) {
    llvm::errs() << "sukima cc: " << (level >= DiagnosticsEngine::Error ? "error: " : "warning: ") << message
                 << "\n";
    return;
  }
  printer_->emitDiagnostic(clang::FullSourceLoc(info.getLocation(), info.getSourceManager()), level, message,
                           info.getRanges(), info.getFixItHints());
}

}  // namespace sukima::language
