// SPDX-License-Identifier: Apache-2.0
// Starting a node on another host: the arguments of ssh, and the stdin of the shell there.
//
//   launcher                                    the host
//   ssh HOST 'exec sh -c "echo MARK ready; read -r s && eval $s"'
//     stdin: waits for the mark               <- stderr: MARK ready
//     stdin: one line, a program for the shell ->  variables (the token among them), folder, words
//                                              <- stderr: MARK PROCESS, then the program's own
//     stdin: the run's                        ->  read by the program itself
//
// No argument of the user is on the command line: lists of processes would show it, and login shells parse it
// differently. The launcher sends the line only after the mark, so a shell whose connection ends before has
// no program to begin. After that, a second process there checks each second whether the shell still has the
// parent that it began with, which is the connection's process. If not, the program's process group gets
// SIGTERM, and two seconds later SIGKILL.
//
// With tunnels node n listens on port F + n of its host's loopback device, where N is the number of nodes and
// F a port. The remote shell of the first node of each host forwards, by -R, the ports of the nodes of other
// hosts to the ports F + N + n of the launcher's loopback device, and, by -L, those of its own nodes from
// there to the host. So a node connects to any other one at its own loopback device, and the bytes go through
// the launcher.
#pragma once

#include "launch/child.hpp"
#include "shared/hosts.hpp"
#include "shared/launch.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sukima::cluster {

/// ssh's own exit code: the host cannot be reached, or the connection was lost.
inline constexpr int status_unreachable = 255;

/// A node's end as its remote shell reports it: 128 and more is a signal there.
/// \param status  of waitpid(2), for the remote shell
node_end end_of_remote(const child& node, int status);

/// The nodes of one run on their hosts.
class remote_start {
 public:
  /// \param request      with places; outlives this
  /// \param report_mark  for the reports of the programs
  /// \throws std::system_error this process's folder is not known
  remote_start(const launch_request& request, std::string token, std::string report_mark);

  /// The arguments that start a node's shell on its host.
  std::vector<std::string> command(unsigned node) const;
  /// The first line of its stdin. Complexity: linear in it
  std::string first_line(unsigned node) const;
  /// HOST:PORT of node 0, as the other nodes reach it.
  std::string address() const;
  /// The arguments that send a signal to a process on a node's host.
  std::vector<std::string> signal_command(unsigned node, pid_t process, int signal) const;

  /// Whether a node's stdout is dropped, and only the output of its tasks is printed.
  bool prints_tasks_only(unsigned node) const noexcept { return node != 0 && !request_.hope; }
  /// Returns what follows the mark in the output of such a node: a login shell may have written something
  /// before it. Valid as long as the output and the node.
  std::string_view without_noise(child& node, std::string_view output) const;

  struct mark {
    std::size_t begin = 0;  ///< in the line; what is before it is the host's own
    pid_t process = 0;  ///< of the program; 0: the shell is ready for the first line
  };
  /// Parses a line of a node's stderr about its start; nothing: the line is not about it.
  std::optional<mark> mark_in(std::string_view line) const;

 private:
  /// The remote shell with its options, and the host.
  std::vector<std::string> shell_of(unsigned node, const std::vector<std::string>& options) const;
  /// The options of a node's remote shell that make tunnels.
  std::vector<std::string> tunnels_of(unsigned node) const;
  std::string variables_of(unsigned node) const;
  /// \pre the request has ports or tunnels
  port_range ports_of(unsigned node) const;

  const launch_request& request_;
  std::string token_;
  std::string report_mark_;
  std::string mark_;  ///< drawn for this run, so that no program prints it
  std::string folder_;
  unsigned port_ = 0;  ///< of node 0; if it is drawn, not one that systems give out themselves
};

/// Quotes an argument for the POSIX shell, on one line: a newline is the value of $n.
std::string shell_word(std::string_view word);

}  // namespace sukima::cluster
