// SPDX-License-Identifier: Apache-2.0
// How a node is started on another host: the words of ssh, and what the shell there gets on its stdin.
//
//   launcher                                    the host
//   ssh HOST 'exec sh -c "echo MARK ready; read -r s && eval $s"'
//     stdin: waits for the mark               <- stderr: MARK ready
//     stdin: one line, a program for the shell ->  variables (the token among them), folder, words
//                                              <- stderr: MARK PROCESS, then the program's own
//     stdin: the run's                        ->  read by the program itself
//
// No word of the user is on the command line: it would be in lists of processes, and login shells differ in
// how they read it. The line is sent only after the mark, so a shell whose connection ends before has no
// program to begin; after that a second process there looks each second whether the shell still has the
// parent that it began with, which is the connection's. If not, the program gets SIGTERM, and two seconds
// later SIGKILL, with all of its process group.
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

  /// The words that start a node's shell on its host.
  std::vector<std::string> command(unsigned node) const;
  /// What its stdin begins with: one line. Complexity: linear in it
  std::string first_line(unsigned node) const;
  /// The words that send a signal to a process on a node's host.
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
  /// What a line of a node's stderr says of the start; nothing: it is none of these.
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

/// A word for the POSIX shell, on one line: a newline is the value of $n.
std::string shell_word(std::string_view word);

}  // namespace sukima::cluster
