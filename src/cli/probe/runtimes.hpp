// SPDX-License-Identifier: Apache-2.0
// Determines how many CPUs the installed runtimes see here.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace sukima::cli::probe {

struct runtime_answer {
  std::string runtime;              ///< "OpenMP (libgomp)", "Go"
  std::optional<unsigned> threads;  ///< nothing: the runtime gave no answer
  std::string source;               ///< how it was asked, or why there is no answer
};

/// Asks all installed runtimes one after the other, each for at most ten seconds. For Go and Rust it compiles
/// a few lines in a temporary directory. It takes several seconds.
std::vector<runtime_answer> ask_runtimes();

}  // namespace sukima::cli::probe
