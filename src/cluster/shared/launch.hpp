// SPDX-License-Identifier: Apache-2.0
// Starting the nodes of a cluster on this machine or on others; passing on their streams and signals, and
// ending them.
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
#include <utility>
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
  unsigned room = 0;  ///< how many more nodes may join; needs a token in the environment, and no tunnel
  bool hope = false;  ///< hierarchical omission: each node runs all, and any one that lives is enough
  /// How long the other nodes may continue after node 0 has ended, or, under hierarchical omission, after one
  /// node has ended well; and how long node 0 may continue after another node has failed. Nothing: no limit,
  /// or 5 s under hierarchical omission.
  std::optional<std::chrono::seconds> grace{};
  bool tags = true;  ///< lines on stderr begin with the node: "[2] …"
  bool prefixes = true;  ///< so do the lines that tasks of other nodes than 0 write to stdout
  /// More variables of a node on this machine, NAME=VALUE; null: none.
  std::function<std::vector<std::string>(unsigned node)> variables;
  /// Receives a sentence for the user while the nodes run: where nodes join, and for which nodes the launcher
  /// waits. Null: not
  /// called.
  std::function<void(const std::string& sentence)> notify;
};

struct node_end {
  int exit_code = 0;
  int signal = 0;  ///< that ended it; 0: it ended by itself
  bool has_begun = true;  ///< the program was begun; not so if its host could not be reached
  /// Its counts, by the names of sukima::cluster::traffic; empty if its program made no entry, or did not end
  /// by itself.
  std::vector<std::pair<std::string, std::uint64_t>> counts{};
};

/// A difference between a node's output and the printed output.
struct output_difference {
  unsigned node = 0;
  std::uint64_t from = 0;  ///< the offsets between which it is, both included: it is known up to a window
  std::uint64_t to = 0;
  bool is_shorter = false;  ///< it ended there, by itself
};

struct launch_result {
  std::vector<node_end> nodes;  ///< by node
  std::optional<int> status;  ///< of the run, where it is not that of node 0
  std::string sentence;  ///< why it failed, if no node has reported that; empty: none
  std::optional<output_difference> difference;  ///< under hierarchical omission; then all nodes were ended
  int output_error = 0;  ///< why stdout took no more, as in errno; 0: it took all
};

/// A sentence for the user, whose request cannot be carried out.
struct launch_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Runs a program on several nodes to its end.
/// - Each node receives stdin, at most 64 MiB ahead of the slowest.
/// - stdout gets the output of node 0, and whole lines that tasks of other nodes write
///   (launch/gathered_output.hpp).
/// - stderr gets the stderr of all nodes. If nodes report why they end, one of these sentences is printed.
/// - Signals that this process receives are sent to all nodes. The nodes end when this process is killed.
/// launch/run_end.hpp describes for which nodes the launcher waits, and which nodes it ends.
///
/// With places the remote shell starts the program on each host, in this process's folder and with its
/// variables SUKIMA_…. Two points differ: the shells there report a signal as status 128 + its number, and
/// when this process or a connection ends, the program there is ended within three seconds.
///
/// Under hierarchical omission stdout gets the output of all nodes, each byte once
/// (launch/merged_output.hpp). The end of a node does not end other nodes. After one has ended well the
/// others get `grace`, and then two seconds. Each of their sentences is printed once.
/// \throws launch_error the token of the environment can be guessed: nothing runs
/// \throws std::system_error if a node, or the remote shell, cannot be started; nothing runs then
/// \pre one thread
launch_result launch(const launch_request& request);

}  // namespace sukima::cluster
