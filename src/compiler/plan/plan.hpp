// SPDX-License-Identifier: Apache-2.0
// Plans the C of a checked unit: decides for each token what is printed in its place (docs/translation.md
// shows the result).
#pragma once

#include "index/semantic_index.hpp"
#include "print/sheet.hpp"

namespace sukima::language {

struct plan_options {
  bool sequential;
  bool check_closures;
  bool unwind_closures;
  bool land_closures;  ///< then: by landing pads
  bool debuggable;  ///< variables stay where the user declared them
  bool clones;  ///< worker functions have sequential clones
};

/// The whole output, for the printer. What cannot be translated is reported to the compiler's diagnostics.
sheet plan_unit(clang::CompilerInstance& compiler, const unit& u, const semantic_index& index,
                const plan_options& options);

}  // namespace sukima::language
