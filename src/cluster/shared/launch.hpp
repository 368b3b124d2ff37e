// SPDX-License-Identifier: Apache-2.0
// Starting the nodes of a cluster on this machine or on others, and being their streams, their signals and
// their end.
#pragma once

#include "hosts.hpp"
#include "ports.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

namespace sukima::cluster {

struct launch_request {
  std::vector<std::string> program;  ///< looked for in PATH, and its arguments
  unsigned nodes = 2;  ///< unless there are places
  std::vector<node_place> places;  ///< of the nodes on their hosts; empty: all are on this machine
  /// Where nodes listen: at least as many ports as one host has nodes, and node 0 on the first one, on this
  /// machine on the first free one. Nothing: on ports that are drawn or free.
  std::optional<port_range> ports{};
  /// With places: nodes reach each other by tunnels of the remote shell alone, as `ssh -L` and `ssh -R` make
  /// them. Then `ports` has two for each node.
  bool tunnel = false;
  std::vector<std::string> remote_shell{"ssh"};  ///< a program as ssh, and its first arguments
  bool hope = false;  ///< hierarchical omission: each node runs all, and any one that lives is enough
  /// How long the other nodes may go on once node 0 has ended, or under hierarchical omission one that has
  /// ended well; and how long node 0 may once another node has failed. Nothing: without a limit, but for 5 s
  /// under hierarchical omission.
  std::optional<std::chrono::seconds> grace{};
  bool tags = true;  ///< lines on stderr begin with the node: "[2] …"
  bool prefixes = true;  ///< so do the lines that tasks of other nodes than 0 write to stdout
  /// More variables of a node on this machine, NAME=VALUE; null: none.
  std::function<std::vector<std::string>(unsigned node)> variables;
  /// Takes a sentence for the user while the nodes run: which ones are waited for. Null: none is said.
  std::function<void(const std::string& sentence)> notify;
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
  std::optional<int> status;  ///< of the run, where it is not that of node 0
  std::string sentence;  ///< why it failed, where no node has said so; empty: none
  std::optional<output_difference> difference;  ///< under hierarchical omission; then all nodes were ended
  int output_error = 0;  ///< why stdout took no more, as in errno; 0: it took all
};

/// A sentence for the user, whose request cannot be carried out.
struct launch_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Runs a program on several nodes to its end. What is on stdin goes to each of them, at most 64 MiB ahead of
/// the slowest; stdout is node 0's, and what tasks of other nodes write there, in whole lines
/// (launch/gathered_output.hpp); stderr is that of all; signals that this process gets go on to all. Which
/// nodes are waited for, and which ones are ended, says launch/run_end.hpp. Of the sentences by which nodes
/// report why they end, one is printed. Nodes end when this process is killed.
///
/// With places the program is begun on each host by the remote shell, in this process's folder and with its
/// variables SUKIMA_…, and the same holds, but: the shells there report a signal as status 128 + its number;
/// when this process or a connection ends, the program there is ended within three seconds.
///
/// Under hierarchical omission stdout is that of all nodes, each byte once (launch/merged_output.hpp), no
/// node's end is another one's, and once one has ended well the others get `grace`, and then two seconds.
/// Each sentence of theirs is printed once.
/// \throws launch_error the token of the environment can be guessed: nothing runs
/// \throws std::system_error a node, or the remote shell, cannot be started: nothing runs then
/// \pre one thread
launch_result launch(const launch_request& request);

}  // namespace sukima::cluster
