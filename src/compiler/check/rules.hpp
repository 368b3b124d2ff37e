// SPDX-License-Identifier: Apache-2.0
// The common part of the checkers of the language's rules.
#pragma once

#include <map>
#include <unordered_map>

#include "index/semantic_index.hpp"
#include "source/report.hpp"

namespace sukima::language {

/// The data that rules read, and the functions that report violations.
class rules {
 protected:
  rules(clang::CompilerInstance& compiler, const unit& u, const semantic_index& index)
      : ast_(compiler.getASTContext()),
        unit_(u),
        index_(index),
        diagnostics_(compiler.getDiagnostics()),
        options_(compiler.getDiagnosticOpts().Warnings) {}

  void error(clang::SourceLocation location, const std::string& message) const {
    report_error(diagnostics_, location, message);
  }
  /// Gives a warning with its own option, such as "-Wput"; -Wno-put and -Werror=put also apply to it. It
  /// obeys -w and -Werror as Clang's warnings do.
  void warning(clang::SourceLocation location, const std::string& whole_option,
               const std::string& message) const {
    const std::string option = whole_option.substr(2);
    if (!is_set("everything", true) || !is_set(option, true)) return;
    const bool is_error = is_set("error=" + option, is_set("error", false));
    if (is_error)
      report_error(diagnostics_, location, message + " [-Werror,-W" + option + "]");
    else
      report_warning(diagnostics_, location, message + " [-W" + option + "]");
  }
  /// Gives one of Clang's own warnings, with its option.
  void warning_of_c(clang::SourceLocation location, unsigned number) const {
    diagnostics_.Report(location, number);
  }
  /// Gives Clang's warning about a value that a function without a result returns.
  void value_of_void(clang::SourceLocation location, const std::string& function) const {
    diagnostics_.Report(location, clang::diag::ext_return_has_expr) << "'" + function + "'" << 0;
  }
  clang::SourceLocation location_of(token_index t) const { return unit_.tokens[t].getLocation(); }

  /// Returns the entries of a map that has tokens as keys, in the order of the file. Messages follow this
  /// order.
  template <class Value>
  static std::map<token_index, Value> in_order(const std::unordered_map<token_index, Value>& entries) {
    return {entries.begin(), entries.end()};
  }
  /// Returns the entries of a map from declarations to tokens in the order of the file.
  template <class Declaration>
  static std::multimap<token_index, Declaration*> in_order(
      const std::map<Declaration*, token_index>& entries) {
    std::multimap<token_index, Declaration*> result;
    for (const auto& [declaration, t] : entries) result.emplace(t, declaration);
    return result;
  }

  clang::ASTContext& ast_;
  const unit& unit_;
  const semantic_index& index_;

 private:
  /// Returns the setting of the last -WNAME or -Wno-NAME on the command line.
  bool is_set(const std::string& name, bool otherwise) const {
    for (auto word = options_.rbegin(); word != options_.rend(); ++word)
      if (*word == name || *word == "no-" + name) return *word == name;
    return otherwise;
  }

  clang::DiagnosticsEngine& diagnostics_;
  const std::vector<std::string>& options_;  ///< the options that begin with -W, without that prefix
};

}  // namespace sukima::language
