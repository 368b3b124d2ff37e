// SPDX-License-Identifier: Apache-2.0
// Options of `sukima cluster run` about hosts.
#pragma once

#include <cluster/shared/hosts.hpp>

#include <string>
#include <vector>

namespace sukima::cli::cluster {

/// The nodes that a file names (docs/cluster-running.md). Throws usage_error.
std::vector<sukima::cluster::node_place> read_hosts_file(const std::string& path);

/// The words of a command, as of `ssh -p 2222`: separated by blanks, those between quotes are one word.
/// Throws usage_error, which names the option: there are none, or a quote is open.
std::vector<std::string> split_command(const std::string& option, const std::string& text);

}  // namespace sukima::cli::cluster
