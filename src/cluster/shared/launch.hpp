// SPDX-License-Identifier: Apache-2.0
// Starting the nodes of a cluster on this machine or on others, and being their streams, their signals and
// their end.
#pragma once

#include "hosts.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

namespace sukima::cluster {

struct launch_request {
  std::vector<std::string> program;  ///< looked for in PATH, and its arguments
  unsigned nodes = 2;  ///< unless there are places
  std::vector<node_place> places;  ///< of the nodes on their hosts; empty: all are on this machine
  std::vector<std::string> remote_shell{"ssh"};  ///< a program as ssh, and its first arguments
  bool hope = false;  ///< hierarchical omission: each node runs all, and any one that lives is enough
  std::chrono::seconds grace{5};  ///< then: for the others, once one has ended well
  bool tags = true;  ///< lines on stderr begin with the node: "[2] …"
  /// More variables of a node on this machine, NAME=VALUE; null: none.
  std::function<std::vector<std::string>(unsigned node)> variables;
};

struct node_end {
  int exit_code = 0;
  int signal = 0;  ///< that ended it; 0: it ended by itself
  bool has_begun = true;  ///< the program was begun; not so if its host could not be reached
};

/// A node's output is another one than what was printed.
struct output_difference {
  unsigned node = 0;
  std::uint64_t from = 0;  ///< the offsets between which it is, both included: it is known up to a window
  std::uint64_t to = 0;
  bool is_shorter = false;  ///< it ended there, by itself
};

struct launch_result {
  std::vector<node_end> nodes;  ///< by node
  int first_failure = -1;  ///< the node other than 0 that failed while node 0 ran; -1: none
  // Under hierarchical omission:
  std::optional<output_difference> difference;  ///< then all nodes were ended
  int output_error = 0;  ///< why stdout took no more, as in errno; 0: it took all
};

/// Runs a program on several nodes to its end. What is on stdin goes to each of them, at most 1 MiB ahead of
/// the slowest; stdout is node 0's, stderr that of all; signals that this process gets go on to all. Once
/// node 0 has ended the others get two seconds to end, too; when another one fails, so does node 0; then
/// they are ended. Nodes end when this process is killed.
///
/// With places the program is begun on each host by the remote shell, in this process's folder and with its
/// variables SUKIMA_…, and the same holds, but: the shells there report a signal as status 128 + its number;
/// when this process or a connection ends, the program there is ended within three seconds.
///
/// Under hierarchical omission stdout is that of all nodes, each byte once (launch/merged_output.hpp), no
/// node's end is another one's, and once one has ended well the others get `grace`, and then two seconds.
/// \throws std::system_error a node, or the remote shell, cannot be started: nothing runs then
/// \pre one thread
launch_result launch(const launch_request& request);

}  // namespace sukima::cluster
