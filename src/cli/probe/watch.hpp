// SPDX-License-Identifier: Apache-2.0
// Watching what can be used, again and again.
#pragma once

#include <sys/types.h>
#include <optional>
#include <string>
#include <vector>

namespace sukima::cli::probe {

struct watch_options {
  pid_t process = 0;
  double interval = 1;                ///< seconds
  std::optional<unsigned> count;      ///< how many times; nothing: until the process or the reader is gone
  bool json = false;                  ///< an object a line
};

/// A chart of numbers of CPUs from 0 to `cap`, the latest on the right, with rows of eighths of a block.
/// \param width, height in characters
std::string chart(const std::vector<double>& values, double cap, std::size_t width, std::size_t height);

/// Watches. On a terminal one chart that is drawn anew, otherwise a line each time.
/// \return the command's exit code
/// \throws usage_error if the process does not exist at the start
int watch(const watch_options& options);

}  // namespace sukima::cli::probe
