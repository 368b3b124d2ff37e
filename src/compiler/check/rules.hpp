// SPDX-License-Identifier: Apache-2.0
// What the checkers of the language's rules have in common.
#pragma once

#include "index/semantic_index.hpp"
#include "source/report.hpp"

namespace sukima::language {

/// What rules look at, and how their violations are reported.
class rules {
 protected:
  rules(clang::CompilerInstance& compiler, const unit& u, const semantic_index& index)
      : ast_(compiler.getASTContext()), unit_(u), index_(index), diagnostics_(compiler.getDiagnostics()) {}

  void error(clang::SourceLocation location, const std::string& message) const {
    report_error(diagnostics_, location, message);
  }
  void warning(clang::SourceLocation location, const std::string& message) const {
    report_warning(diagnostics_, location, message);
  }
  clang::SourceLocation location_of(token_index t) const { return unit_.tokens[t].getLocation(); }

  clang::ASTContext& ast_;
  const unit& unit_;
  const semantic_index& index_;

 private:
  clang::DiagnosticsEngine& diagnostics_;
};

}  // namespace sukima::language
