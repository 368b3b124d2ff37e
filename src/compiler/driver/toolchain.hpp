// SPDX-License-Identifier: Apache-2.0
// The headers and libraries of this installation of Sukima.
#pragma once

#include <string>
#include <vector>

namespace sukima::language {

struct toolchain {
  std::string include;               ///< folder of <sukima/sukima.h>
  std::string clang_headers;         ///< folder of Clang's own headers, if not the one of the build
  std::vector<std::string> compile;  ///< further options for the C compiler
  std::vector<std::string> cluster;  ///< libsukima-cluster and what it needs, in front of `link`
  std::vector<std::string> link;     ///< libsukima and what it needs
};

/// Reads toolchain.json in the folder of the running program. \throws std::runtime_error with one sentence
toolchain read_toolchain();

}  // namespace sukima::language
