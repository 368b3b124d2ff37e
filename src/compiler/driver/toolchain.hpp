// SPDX-License-Identifier: Apache-2.0
// The headers and libraries of this installation of Sukima.
#pragma once

#include <string>
#include <vector>

namespace sukima::language {

struct toolchain {
  std::string include;               ///< folder of <sukima/sukima.h>
  std::string clang_headers;         ///< folder of Clang's own headers, if it is not the build's
  std::vector<std::string> compile;  ///< further options for the C compiler
  std::vector<std::string> cluster;  ///< libsukima-cluster and its dependencies, before `link`
  std::vector<std::string> link;     ///< libsukima and its dependencies
};

/// Reads toolchain.json in the folder of the running program. \throws std::runtime_error with one sentence
toolchain read_toolchain();

}  // namespace sukima::language
