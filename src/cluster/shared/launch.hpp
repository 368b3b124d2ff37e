// SPDX-License-Identifier: Apache-2.0
// Starts the nodes of a cluster on this machine or on others, passes on their streams and signals, and ends
// them.
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
  std::vector<std::string> program;  ///< the program, which is searched in PATH, and its arguments
  unsigned nodes = 2;  ///< number of nodes if `places` is empty
  std::vector<node_place> places;  ///< the places of nodes on hosts; empty: all nodes run on this machine
  /// The ports where nodes listen: at least as many as one host has nodes. On other hosts, node 0 listens on
  /// the first one; on this machine, on the first free one. Nothing: ports that are drawn or free.
  std::optional<port_range> ports{};
  /// With places: nodes reach each other only through tunnels of the remote shell, as `ssh -L` and `ssh -R`
  /// make them. Then `ports` has two ports for each node.
  bool tunnel = false;
  std::vector<std::string> remote_shell{"ssh"};  ///< a program like ssh, and its first arguments
  unsigned room = 0;  ///< how many more nodes may join; requires a token in the environment, and no tunnel
  bool hope = false;  ///< hierarchical omission: each node runs everything, and one living node is enough
  /// How long other nodes may continue after node 0 has ended, and how long node 0 may continue after another
  /// node has failed. Under hierarchical omission: how long other nodes may continue after one node has ended
  /// well. Nothing: no limit, or 5 s under hierarchical omission.
  std::optional<std::chrono::seconds> grace{};
  bool tags = true;  ///< whether lines on stderr begin with the node: "[2] …"
  bool prefixes = true;  ///< whether lines of tasks on stdout do so, too, except those of node 0
  /// Returns additional variables of a node on this machine, NAME=VALUE; null: none.
  std::function<std::vector<std::string>(unsigned node)> variables;
  /// Called with a sentence for the user while the nodes run: where nodes may join, and for which nodes the
  /// launcher waits. May be null.
  std::function<void(const std::string& sentence)> notify;
};

struct node_end {
  int exit_code = 0;
  int signal = 0;  ///< the signal that ended it; 0: it ended by itself
  bool has_begun = true;  ///< whether the program began; false if its host could not be reached
  bool starts_nothing = false;  ///< the remote shell ended with status 0, but did not begin the program
  /// Its counts, by the names of sukima::cluster::traffic. Empty if its program made no entry, or did not end
  /// by itself.
  std::vector<std::pair<std::string, std::uint64_t>> counts{};
};

/// A difference between a node's output and the printed output.
struct output_difference {
  unsigned node = 0;
  std::uint64_t from = 0;  ///< the first and the last offset that may differ, known up to a window
  std::uint64_t to = 0;
  bool is_shorter = false;  ///< whether the output of the node ended there, when the node ended by itself
};

struct launch_result {
  std::vector<node_end> nodes;  ///< by node
  std::optional<int> status;  ///< of the run, if it is not that of node 0
  int signal = 0;  ///< the signal from outside that ended the run, if node 0 did not end by it; 0: none
  std::string sentence;  ///< why the run failed, if no node has reported that; empty: no such reason
  std::optional<output_difference> difference;  ///< under hierarchical omission; then all nodes were ended
  int output_error = 0;  ///< the errno with which stdout refused output; 0: it took all
};

/// One sentence for the user whose request cannot be carried out.
struct launch_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Runs a program on several nodes to its end.
/// - Each node receives stdin, at most 64 MiB ahead of the slowest node.
/// - stdout gets the output of node 0, and whole lines that tasks of other nodes write
///   (launch/gathered_output.hpp).
/// - stderr gets the stderr of all nodes. If nodes report why they end, one of these sentences is printed.
/// - Signals that this process receives are sent to all nodes. If this process is killed, the nodes end.
/// - Processes that nodes leave behind in this session are ended last (launch/left_processes.hpp).
/// For which nodes the launcher waits, and which nodes it ends: launch/run_end.hpp.
///
/// With places, the remote shell starts the program on each host, in this process's folder and with its
/// variables SUKIMA_…. Two points differ: the shells there report a signal as status 128 + its number, and if
/// this process or a connection ends, the program there is ended within three seconds.
///
/// Under hierarchical omission, stdout gets the output of all nodes, each byte once
/// (launch/merged_output.hpp). The end of a node does not end other nodes. After one node has ended well, the
/// others may continue for `grace`, and then get two seconds to end. Each different sentence of theirs is
/// printed once.
/// \throws launch_error the token of the environment can be guessed; no program was started
/// \throws std::system_error a node, or the remote shell, cannot be started; then no program runs
/// \pre the process has one thread
launch_result launch(const launch_request& request);

}  // namespace sukima::cluster
