// SPDX-License-Identifier: Apache-2.0
// How many CPUs the installed runtimes see here.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace sukima::cli::probe {

struct runtime_answer {
  std::string runtime;              ///< "OpenMP (libgomp)", "Go"
  std::optional<unsigned> threads;  ///< nothing: it gave no answer
  std::string source;               ///< how it was asked, or why there is no answer
};

/// Asks all installed runtimes, one after the other, each for ten seconds at most. Go and Rust compile a few
/// lines for that, in a temporary directory. Takes several seconds.
std::vector<runtime_answer> ask_runtimes();

}  // namespace sukima::cli::probe
