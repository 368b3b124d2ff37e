// SPDX-License-Identifier: Apache-2.0
// Turns the language's constructs into plain C that Clang parses, token by token, and remembers where they
// were.
#pragma once

#include "source/unit.hpp"

namespace sukima::language {

/// Fills a unit from what the preprocessor delivered. Every construct becomes a block of ordinary C with the
/// same
/// scopes, so that Clang finds the names, types and errors in it; what is put in stands at the keyword's
/// place.
/// \returns false after an error, which was reported; the unit must not be parsed then
bool desugar(clang::CompilerInstance& compiler, source_tokens source, unit& into);

}  // namespace sukima::language
