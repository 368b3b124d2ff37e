// SPDX-License-Identifier: Apache-2.0
// The explanation as a page of HTML with a timeline.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "explain/run_profile.hpp"
#include "explain/trace_file.hpp"

namespace sukima::cli::explain {

/// Returns a whole page without scripts and links: a timeline of each runtime's workers, a table of their
/// figures, and the text of the explanation. O(size of the trace).
/// \param profiles the profiles of the trace \param title the name of the explained run
std::string page_of(const recorded_trace& trace, const std::vector<runtime_profile>& profiles,
                    std::string_view title);

}  // namespace sukima::cli::explain
