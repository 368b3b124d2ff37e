// SPDX-License-Identifier: Apache-2.0
// Starts a node on another host: the arguments of ssh, and the stdin of the shell there.
//
//   launcher                                    the host
//   ssh HOST 'exec sh -c "echo MARK ready; read -r s && eval $s"'
//     stdin: waits for the mark               <- stderr: MARK ready
//     stdin: one line, a program for the shell ->  variables (the token among them), folder, words
//                                              <- stderr: MARK PROCESS, then the program's own
//     stdin: the run's                        ->  read by the program itself
//
// The command line contains no argument of the user, because lists of processes would show it, and login
// shells parse it differently. The launcher sends the line only after the mark. So if the connection ends
// earlier, the shell has no program to start. Later a second process on the host checks every second whether
// the shell still has its first parent, which is the process of the connection. If not, it sends SIGTERM to
// the program's process group, and SIGKILL two seconds later.
//
// With tunnels, node n listens on port F + n of its host's loopback device, where N is the number of nodes
// and F a port. The remote shell of the first node of each host forwards ports in both directions. By -R, it
// forwards the ports of nodes of other hosts to the ports F + N + n of the launcher's loopback device. By -L,
// it forwards these ports of the launcher to its own nodes. So a node connects to any other node at its own
// loopback device, and the bytes go through the launcher.
#pragma once

#include "launch/child.hpp"
#include "shared/hosts.hpp"
#include "shared/launch.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sukima::cluster {

/// ssh's exit code if the host cannot be reached, or the connection was lost.
inline constexpr int status_unreachable = 255;

/// Returns the end of a node as its remote shell reports it: an exit code above 128 stands for a signal
/// there. A shell that ends well without the program counts as a host that cannot be reached.
/// \param status  the status of the remote shell from waitpid(2)
node_end end_of_remote(const child& node, int status);

/// The nodes of one run on their hosts.
class remote_start {
 public:
  /// \param request      has places; must outlive this object
  /// \param report_mark  the mark of the programs' reports
  /// \throws std::system_error the current folder is unknown
  remote_start(const launch_request& request, std::string token, std::string report_mark);

  /// Returns the arguments that start a node's shell on its host.
  std::vector<std::string> command(unsigned node) const;
  /// Returns the first line of its stdin. Complexity: linear in its size
  /// \param marks_output  whether its output begins with the mark, for without_noise
  std::string first_line(unsigned node, bool marks_output) const;
  /// Returns HOST:PORT of node 0, as the other nodes reach it.
  std::string address() const;
  /// Returns the arguments that send a signal to a process on a node's host.
  std::vector<std::string> signal_command(unsigned node, pid_t process, int signal) const;

  /// Whether stdout of a node is dropped, and only the output of its tasks is printed.
  bool prints_tasks_only(unsigned node) const noexcept { return node != 0 && !request_.hope; }
  /// Returns the part of a node's output after the mark, because a login shell may have written text before
  /// it. Valid as long as the output and the node exist.
  std::string_view without_noise(child& node, std::string_view output) const;

  struct mark {
    std::size_t begin = 0;  ///< where it begins in the line; earlier text is from the host
    pid_t process = 0;  ///< the program's process; 0: the shell is ready for the first line
  };
  /// Parses a line of a node's stderr; nothing: the line contains no mark.
  std::optional<mark> mark_in(std::string_view line) const;

 private:
  /// Returns the remote shell with its options, and the host.
  std::vector<std::string> shell_of(unsigned node, const std::vector<std::string>& options) const;
  /// Returns the options of a node's remote shell that make tunnels.
  std::vector<std::string> tunnels_of(unsigned node) const;
  std::string variables_of(unsigned node) const;
  /// \pre the request has ports or tunnels
  port_range ports_of(unsigned node) const;

  const launch_request& request_;
  std::string token_;
  std::string report_mark_;
  std::string mark_;  ///< random, so that no program prints it
  std::string folder_;
  unsigned port_ = 0;  ///< port of node 0; if it is drawn, outside the range of automatic ports
};

/// Quotes an argument for the POSIX shell, on one line: a newline is the value of $n.
std::string shell_word(std::string_view word);

}  // namespace sukima::cluster
