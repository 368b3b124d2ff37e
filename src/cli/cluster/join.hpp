// SPDX-License-Identifier: Apache-2.0
// `sukima cluster join`: adds a node to a run.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace sukima::cli::cluster {

struct join_request {
  std::string address;  ///< HOST:PORT of the first living node of the run
  bool hope = false;
  std::optional<std::string> port;  ///< port on which the node listens, as --port
  std::vector<std::string> program;
};

/// Replaces this process with a node of that run.
/// \throws process::usage_error, process::start_error
[[noreturn]] void join(const join_request& request);

}  // namespace sukima::cli::cluster
