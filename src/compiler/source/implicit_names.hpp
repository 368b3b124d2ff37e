// SPDX-License-Identifier: Apache-2.0
// The name that worker functions and `task_exec` declare implicitly: `backtracking`.
#pragma once

#include "source/clang.hpp"

namespace sukima::language {

/// The prefix of the names of functions into which `task_exec` is rewritten.
inline constexpr const char* execution_prefix = "sukima_exec_";

/// Returns whether this is the variable that `backtracking` names if the program declares no other one.
bool is_backtracking(const clang::VarDecl* variable);

/// Answers Clang's look-ups that find nothing else. So any declaration of the program hides these names.
class implicit_names : public clang::ExternalSemaSource {
 public:
  bool LookupUnqualified(clang::LookupResult& result, clang::Scope* scope) override;

 private:
  clang::VarDecl* backtracking_ = nullptr;
};

}  // namespace sukima::language
