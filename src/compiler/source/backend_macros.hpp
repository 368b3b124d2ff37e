// SPDX-License-Identifier: Apache-2.0
// The predefined macros of the C compiler that translates the generated C, for `#if` in the user's files.
#pragma once

#include "source/clang.hpp"
#include "translate.hpp"

namespace sukima::language {

/// Gives the user's files the values of the C compiler, because that compiler expands the text of these
/// files. System headers keep Clang's values, with which they choose text that Clang can parse. If the user
/// defines or undefines a macro, it keeps that state from then on.
class backend_macros {
 public:
  backend_macros(clang::Preprocessor& preprocessor, const std::vector<predefined_macro>& macros)
      : preprocessor_(preprocessor), macros_(macros) {}

  /// Selects the macros: the next token is from one of the user's files, or from a system header. Clang must
  /// have defined its own macros before the first call.
  void enter(bool users);
  void keep(const clang::IdentifierInfo* name) { switched_.erase(name); }

 private:
  struct values {
    clang::MacroInfo* of_clang;
    clang::MacroInfo* of_backend;
  };

  void define_all();
  clang::MacroInfo* macro_of(const std::string& value);

  clang::Preprocessor& preprocessor_;
  const std::vector<predefined_macro>& macros_;
  std::map<const clang::IdentifierInfo*, values>
      switched_;  ///< macros that both compilers define with different values
  bool defined_ = false;
  bool users_ = false;
};

}  // namespace sukima::language
