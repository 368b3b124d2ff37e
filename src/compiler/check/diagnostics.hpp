// SPDX-License-Identifier: Apache-2.0
// Prints messages in Clang's style, in the terms of the language.
#pragma once

#include "source/clang.hpp"

namespace sukima::language {

/// Prints errors, the language's own warnings and their notes to stderr. Clang's warnings are dropped: the C
/// compiler gives its own, according to the user's -W options and with the user's lines.
class diagnostic_printer : public clang::DiagnosticConsumer {
 public:
  diagnostic_printer();
  ~diagnostic_printer() override;
  void BeginSourceFile(const clang::LangOptions& language, const clang::Preprocessor*) override;
  void EndSourceFile() override;
  void HandleDiagnostic(clang::DiagnosticsEngine::Level level, const clang::Diagnostic& info) override;

 private:
  llvm::IntrusiveRefCntPtr<clang::DiagnosticOptions> options_;
  const clang::LangOptions* language_ = nullptr;
  std::unique_ptr<clang::TextDiagnostic> printer_;
  bool last_was_dropped_ = false;
};

}  // namespace sukima::language
