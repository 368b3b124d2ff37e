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

/// Number of bytes that are read or written at a time.
inline constexpr std::size_t chunk_size = 65536;
/// Number of bytes that can be written without waiting after poll(2) has reported that writing is possible.
std::size_t most_at_once(int to) noexcept;

/// Opens the descriptors 0 to 2 that are closed, so that no other file gets their numbers: input is empty,
/// output cannot be written, messages are discarded.
void open_standard_streams() noexcept;

/// Writes a text, also to a descriptor that another program has set to non-blocking, as ssh does. Gives up at
/// an error.
void write_whole(int number, std::string_view text) noexcept;

/// Destination of a child's stdout. `tasks`: stdout is discarded, but the child gets a pipe for the output of
/// its tasks, and the pipe's descriptor in a variable (entry/task_output.hpp).
enum class child_output : std::uint8_t { kept, dropped, piped, tasks };

struct child_start {
  std::vector<std::string> program;
  std::vector<std::string> variables;  ///< NAME=VALUE, beyond this process's own
  child_output output = child_output::dropped;
  /// The program gets its stderr a second time, for reports with this mark (protocol/report.hpp), and both in
  /// a variable; empty: not.
  std::string report_mark;
  std::vector<int> inherited;  ///< descriptors that the program gets under the same numbers
  sigset_t mask{};  ///< its blocked signals
  bool own_session = false;  ///< the terminal's signals do not reach it
};

struct child {
  pid_t pid = -1;
  descriptor input;  ///< its stdin; does not block
  descriptor errors;  ///< its stderr; does not block
  descriptor output;  ///< its stdout or the output of its tasks, where it is piped; does not block
  bool running = true;
  node_end end;
  std::vector<std::pair<std::string, std::uint64_t>> counts;  ///< that it has reported
  std::string line;  ///< of stderr, not complete yet
  std::size_t sent = 0;  ///< of what was read from stdin
  // Of a node on another host, where this process is ssh:
  std::string first;  ///< the beginning of its stdin that was not sent yet
  bool is_ready = true;  ///< for input
  pid_t program = 0;  ///< its process there; 0: not known to have begun
  int own_signal = 0;  ///< that was sent to ssh itself, because the program had not begun
  bool may_be_noise = false;  ///< its output up to the mark is that of the host's login shell
  std::string noise;  ///< the end of that output
};

/// Takes all complete reports out of a child's stderr, and its counts out of these.
std::vector<node_report> take_reports(child& from, std::string_view mark);

/// \throws std::system_error
child start_child(const child_start& how);
/// Kills a child and waits for its end. \pre its end was not awaited yet
void end_child(const child& c) noexcept;

}  // namespace sukima::cluster
