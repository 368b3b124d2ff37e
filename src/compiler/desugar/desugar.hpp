// SPDX-License-Identifier: Apache-2.0
// Rewrites the language's constructs as plain C that Clang can parse, token by token, and records their
// positions.
#pragma once

#include "source/unit.hpp"

namespace sukima::language {

/// Fills a unit from the preprocessor's tokens. Every construct becomes a block of plain C with the same
/// scopes, so that Clang resolves its names and types and finds its errors. Inserted tokens have the location
/// of the construct's keyword. Linear in the number of tokens.
/// \returns false after an error, which it has reported; then the unit must not be parsed
bool desugar(clang::CompilerInstance& compiler, source_tokens source, unit& into);

}  // namespace sukima::language
