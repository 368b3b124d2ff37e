// SPDX-License-Identifier: Apache-2.0
// The file that lists the hosts of a cluster's nodes.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace sukima::cluster {

/// Of one launcher, which has three descriptors and a process for each.
inline constexpr unsigned most_nodes_on_hosts = 256;

/// Where one node runs.
struct node_place {
  std::string host;     ///< for ssh: NAME or USER@NAME
  std::string address;  ///< where the other nodes reach it: a name or a number, without a port
  unsigned on_host = 0;  ///< its number among the nodes of that host
  unsigned of_host = 1;  ///< how many nodes that host has
};

/// An error in the file: a sentence with the place (FILE:LINE), the mistake, and what to write.
struct hosts_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The nodes in the order of the lines `HOST [NODES] [ADDRESS]`, the first one being node 0. NODES is 1 and
/// ADDRESS the host's name if they are left out. Text after `#` is a comment; empty lines are skipped. Either
/// all addresses are names or numbers of the loopback device or none is: otherwise a node on another host
/// would look for the others on its own host.
/// \param file  its name, for the sentences
/// \returns at least one node, at most most_nodes_on_hosts
/// \throws hosts_error
/// Complexity: linear in the text, and n log n in the nodes
std::vector<node_place> read_hosts(std::string_view text, const std::string& file);

/// Of a name or number without a port: "localhost", "127.…" or "::1".
inline bool is_loopback(std::string_view address) noexcept {
  return address == "localhost" || address == "::1" || address.starts_with("127.");
}

}  // namespace sukima::cluster
