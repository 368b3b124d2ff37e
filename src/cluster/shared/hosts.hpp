// SPDX-License-Identifier: Apache-2.0
// Reads the file that lists the hosts of a cluster's nodes.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace sukima::cluster {

/// The most nodes of one launcher, which has three descriptors and a process for each.
inline constexpr unsigned most_nodes_on_hosts = 256;

/// The place where one node runs.
struct node_place {
  std::string host;     ///< the argument of ssh: NAME or USER@NAME
  std::string address;  ///< name or number by which the other nodes reach it, without a port
  unsigned on_host = 0;  ///< its number among the nodes of that host
  unsigned of_host = 1;  ///< number of nodes of that host
};

/// An error in the file: a sentence with the place (FILE:LINE), the mistake, and the correction.
struct hosts_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Reads the nodes from lines `HOST [NODES] [ADDRESS]`. The first one is node 0. If they are left out, NODES
/// is 1 and ADDRESS is the host's name. Text after `#` is a comment; empty lines are skipped. Either all
/// addresses are names or numbers of the loopback device, or none is: otherwise a node would look on its own
/// host for nodes of other hosts.
/// \param file  the name of the file, for the sentences
/// \returns at least one node, at most most_nodes_on_hosts
/// \throws hosts_error the text has an error
/// Complexity: linear in the text, and n log n in the nodes
std::vector<node_place> read_hosts(std::string_view text, const std::string& file);

/// Whether a name or number without a port is of the loopback device: "localhost", "127.…" or "::1".
inline bool is_loopback(std::string_view address) noexcept {
  return address == "localhost" || address == "::1" || address.starts_with("127.");
}

}  // namespace sukima::cluster
