// SPDX-License-Identifier: Apache-2.0
// The name that worker functions and `task_exec` bind without a declaration: `backtracking`.
#pragma once

#include "source/clang.hpp"

namespace sukima::language {

/// The prefix of the names of functions that `task_exec` becomes.
inline constexpr const char* execution_prefix = "sukima_exec_";

/// Whether this is the variable that `backtracking` names where the program declares no other one.
bool is_backtracking(const clang::VarDecl* variable);

/// Answers Clang's look-ups that find nothing else, so any declaration of the program hides these names.
class implicit_names : public clang::ExternalSemaSource {
 public:
  bool LookupUnqualified(clang::LookupResult& result, clang::Scope* scope) override;

 private:
  clang::VarDecl* backtracking_ = nullptr;
};

}  // namespace sukima::language
