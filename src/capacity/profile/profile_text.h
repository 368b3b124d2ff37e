// SPDX-License-Identifier: Apache-2.0
// The text of a machine profile. Internal to the capacity part.
#ifndef SUKIMA_CAPACITY_PROFILE_PROFILE_TEXT_H
#define SUKIMA_CAPACITY_PROFILE_PROFILE_TEXT_H

#include <sukima/capacity.h>

#include <stdbool.h>

#include "text/text.h"

/// Parses the text of a profile.
/// \return one block of memory, to be freed with free(); NULL and a sentence in `error` if the text is
///   malformed
sukima_capacity_profile* cap_parse_profile(cap_text content, char* error, size_t error_size);

/// Whether a line before "end" begins with a word that cap_parse_profile() skips, so another program has
/// added it.
bool cap_profile_line_is_foreign(cap_text line);

#endif
