// SPDX-License-Identifier: Apache-2.0
// Where this copy of Sukima keeps its headers and libraries.
#pragma once

#include <string>
#include <vector>

namespace sukima::language {

struct toolchain {
  std::string include;               ///< folder of <sukima/sukima.h>
  std::string clang_headers;         ///< folder of Clang's own headers, if not the one of the build
  std::vector<std::string> compile;  ///< more options for the compiler behind
  std::vector<std::string> link;     ///< libsukima and what it needs
};

/// Reads toolchain.json beside the running program. \throws std::runtime_error in one sentence
toolchain read_toolchain();

}  // namespace sukima::language
