// SPDX-License-Identifier: Apache-2.0
#include "source/backend_macros.hpp"

namespace sukima::language {

using namespace clang;

void backend_macros::enter(bool users) {
  if (users == users_) return;
  if (!std::exchange(defined_, true)) define_all();
  users_ = users;
  for (const auto& [name, both] : switched_)
    preprocessor_.appendDefMacroDirective(const_cast<IdentifierInfo*>(name),
                                          users ? both.of_backend : both.of_clang);
}

void backend_macros::define_all() {
  const SourceManager& sources = preprocessor_.getSourceManager();
  for (const predefined_macro& one : macros_) {
    IdentifierInfo* const name = preprocessor_.getIdentifierInfo(one.name);
    MacroInfo* const known = preprocessor_.getMacroInfo(name);
    if (known == nullptr) {
      preprocessor_.appendDefMacroDirective(name, macro_of(one.value));
      continue;
    }
    const bool is_same =
        known->getNumTokens() == (one.value.empty() ? 0 : 1) &&
        (one.value.empty() || preprocessor_.getSpelling(known->getReplacementToken(0)) == one.value);
    if (known->isFunctionLike() || is_same || sources.isWrittenInCommandLineFile(known->getDefinitionLoc()))
      continue;
    switched_.emplace(name, values{known, macro_of(one.value)});
  }
}

MacroInfo* backend_macros::macro_of(const std::string& value) {
  Token token;
  token.startToken();
  token.setKind(tok::numeric_constant);
  preprocessor_.CreateString(value.empty() ? "1" : value, token);
  MacroInfo* const macro = preprocessor_.AllocateMacroInfo(token.getLocation());
  if (!value.empty()) macro->setTokens({token}, preprocessor_.getPreprocessorAllocator());
  return macro;
}

}  // namespace sukima::language
