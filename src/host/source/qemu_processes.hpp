// SPDX-License-Identifier: Apache-2.0
// Processes of QEMU, and the sockets of their monitors by their command lines.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace sukima::host {

/// What a command line says.
struct qemu_command_line {
  std::string name;  ///< of -name; empty without it
  std::string uuid;  ///< of -uuid; empty without it
  /// The Unix sockets on which QEMU listens for QMP, the first one first.
  std::vector<std::string> monitors;
  /// libvirt holds its monitor.
  bool of_libvirt = false;
};

/// Reads the arguments of a process. \returns none if it is not a process of QEMU's system emulation
std::optional<qemu_command_line> read_command_line(const std::vector<std::string>& arguments);

struct qemu_process {
  long id;
  qemu_command_line command_line;
};

/// All running ones, by their ids. Relative paths are completed by the process's folder.
/// \param root goes before /proc
std::vector<qemu_process> find_qemu_processes(const std::string& root);

}  // namespace sukima::host
