// SPDX-License-Identifier: Apache-2.0
// Options of `sukima cluster run` about hosts.
#pragma once

#include <cluster/shared/hosts.hpp>

#include <string>
#include <vector>

namespace sukima::cli::cluster {

/// Reads the nodes that a file names (docs/cluster-running.md). Throws usage_error.
std::vector<sukima::cluster::node_place> read_hosts_file(const std::string& path);

/// Splits a command such as `ssh -p 2222` into arguments: they are separated by blanks, and text between
/// quotes is one argument. Throws usage_error, which names the option, if there is no argument or a quote is
/// open.
std::vector<std::string> split_command(const std::string& option, const std::string& text);

}  // namespace sukima::cli::cluster
