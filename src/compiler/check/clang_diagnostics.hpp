// SPDX-License-Identifier: Apache-2.0
// Prints messages in Clang's style, in the terms of the language.
#pragma once

#include <optional>

#include "check/json_messages.hpp"
#include "source/unit.hpp"

namespace sukima::language {

/// Prints errors, warnings and their notes to stderr; with -fdiagnostics-format=json when it is destroyed.
/// The warnings are those that Clang gives for the user's text with the user's -W options; the C compiler
/// gives none for generated C. Warnings about text that desugaring inserted are dropped.
class diagnostic_printer : public clang::DiagnosticConsumer {
 public:
  /// \param in_c     the level of a conversion between pointers to plain functions of different types
  /// \param options  the user's: those about colours, the format and the number of errors are followed
  diagnostic_printer(clang::DiagnosticsEngine::Level in_c, const std::vector<std::string>& options);
  ~diagnostic_printer() override;
  /// Declares the blocks that do not run where the parser sees them. From this call on, warnings that follow
  /// from their position are dropped.
  void record_blocks(const unit& u);
  void BeginSourceFile(const clang::LangOptions& language, const clang::Preprocessor*) override;
  void EndSourceFile() override;
  void HandleDiagnostic(clang::DiagnosticsEngine::Level level, const clang::Diagnostic& info) override;

 private:
  llvm::IntrusiveRefCntPtr<clang::DiagnosticOptions> options_;
  const clang::LangOptions* language_ = nullptr;
  std::unique_ptr<clang::TextDiagnostic> printer_;
  std::optional<json_messages> json_;  ///< instead of text
  void set_format(llvm::StringRef name);
  void record_exit(const unit& u, token_index keyword);
  bool is_about_wrong_paths(const clang::Diagnostic& info) const;
  bool is_beyond_the_last_error(clang::DiagnosticsEngine::Level level);

  clang::DiagnosticsEngine::Level level_in_c_;
  unsigned most_errors_ = 0;  ///< 0: any number
  unsigned errors_ = 0;
  bool last_was_dropped_ = false;
  clang::SourceLocation last_error_;
  std::vector<clang::SourceRange> closures_;
  std::set<std::string> names_of_closures_;
  std::vector<clang::SourceRange> around_closures_;  ///< the functions that contain closures
  std::set<clang::SourceLocation> after_exits_;  ///< after a `return` or a `goto` that leaves a closure
  std::vector<clang::SourceRange> moved_blocks_;  ///< PUT, GET and AFTER
};

}  // namespace sukima::language
