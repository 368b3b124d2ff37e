// SPDX-License-Identifier: Apache-2.0
// The text of `sukima cc --help`.
#pragma once

namespace sukima::language {

extern const char* const help_text;

}  // namespace sukima::language
