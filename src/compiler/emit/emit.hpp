// SPDX-License-Identifier: Apache-2.0
// Writes a checked unit as standard C (docs/translation.md shows what it looks like).
#pragma once

#include "index/semantic_index.hpp"

namespace sukima::language {

struct emit_options {
  bool sequential;
  bool line_directives;
  bool check_closures;
  bool unwind_closures;
  bool land_closures;  ///< then: by landing pads
};

/// The C text. Errors about what cannot be translated are reported to the compiler's diagnostics.
std::string emit(clang::CompilerInstance& compiler, const unit& u, const semantic_index& index,
                 const emit_options& options);

}  // namespace sukima::language
