// SPDX-License-Identifier: Apache-2.0
// How many CPUs the installed runtimes believe to have in this very place.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace sukima::cli::probe {

struct belief {
  std::string runtime;              ///< "OpenMP (libgomp)", "Go"
  std::optional<unsigned> threads;  ///< nothing: it gave no answer
  std::string source;               ///< how it was asked, or why there is no answer
};

/// Asks all runtimes that are installed, one after the other, each for ten seconds at most. Go and Rust
/// compile a few lines for that, in a temporary directory. Takes some seconds.
std::vector<belief> ask_runtimes();

}  // namespace sukima::cli::probe
