// SPDX-License-Identifier: Apache-2.0
// One node as a child process, with its pipes.
#pragma once

#include "protocol/report.hpp"
#include "shared/launch.hpp"

#include <base/shared/descriptor.hpp>
#include <base/shared/start_program.hpp>

#include <sys/types.h>

#include <csignal>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sukima::cluster {

/// Number of bytes that are read or written at once.
inline constexpr std::size_t chunk_size = 65536;
/// Returns how many bytes can be written without blocking after poll(2) has reported the descriptor as
/// writable.
std::size_t most_at_once(int to) noexcept;

/// Opens the standard streams that are closed. The nodes inherit them; see process::occupy_closed_streams.
void open_standard_streams() noexcept;

/// Writes a whole text, even to a descriptor that another program has set to non-blocking, as ssh does. Gives
/// up after an error.
void write_whole(int number, std::string_view text) noexcept;

/// Destination of a child's stdout. `tasks`: stdout is discarded, but the child gets a pipe for the output of
/// its tasks, and a variable with the pipe's descriptor (entry/task_output.hpp).
enum class child_output : std::uint8_t { kept, dropped, piped, tasks };

struct child_start {
  std::vector<std::string> program;
  std::vector<std::string> variables;  ///< NAME=VALUE, in addition to those of this process
  child_output output = child_output::dropped;
  /// If not empty, the program gets a second descriptor of its stderr, for reports with this mark
  /// (protocol/report.hpp), and a variable with the descriptor and the mark.
  std::string report_mark;
  std::vector<int> inherited;  ///< descriptors that the program inherits with the same numbers
  sigset_t mask{};  ///< the signals that are blocked in the program
  bool own_session = false;  ///< whether the terminal's signals do not reach it
};

struct child {
  pid_t pid = -1;
  descriptor input;  ///< its stdin; non-blocking
  descriptor errors;  ///< its stderr; non-blocking
  descriptor output;  ///< its stdout or the output of its tasks, if it is piped; non-blocking
  bool running = true;
  node_end end;
  int reported_status = 0;  ///< of its last report that it fails; 0: none
  std::vector<std::pair<std::string, std::uint64_t>> counts;  ///< the counts that it has reported
  std::string line;  ///< an incomplete line of its stderr
  std::size_t sent = 0;  ///< number of bytes of stdin that it was sent
  // For a node on another host, where this process is ssh:
  std::string first;  ///< the beginning of its stdin that was not sent yet
  bool is_ready = true;  ///< whether it accepts input
  pid_t program = 0;  ///< its process there; 0: not known to have begun
  int own_signal = 0;  ///< the last signal sent to ssh itself
  bool awaits_mark = false;  ///< true until the mark: the output is that of the host's login shell
  std::string before_mark;  ///< the end of that output
};

/// Removes all complete reports from a child's stderr. Stores the counts in the child, and returns the other
/// reports.
std::vector<node_report> take_reports(child& from, std::string_view mark);

/// \throws std::system_error the child cannot be started
child start_child(const child_start& how);
/// Kills a child and waits for its end. \pre the child was not waited for yet
void end_child(const child& c) noexcept;

}  // namespace sukima::cluster
