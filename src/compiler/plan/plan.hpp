// SPDX-License-Identifier: Apache-2.0
// Plans the C of a checked unit: decides what replaces each token (docs/translation.md shows the result).
#pragma once

#include "index/semantic_index.hpp"
#include "print/sheet.hpp"

namespace sukima::language {

struct plan_options {
  bool sequential;
  bool check_closures;
  bool unwind_closures;
  bool land_closures;  ///< if so, with landing pads
  bool debuggable;  ///< variables must stay where the user declared them
  bool clones;  ///< worker functions have sequential clones
};

/// Returns the whole output, for the printer. Text that cannot be translated is reported to the compiler's
/// diagnostics.
sheet plan_unit(clang::CompilerInstance& compiler, const unit& u, const semantic_index& index,
                const plan_options& options);

}  // namespace sukima::language
