// SPDX-License-Identifier: Apache-2.0
// Finds QEMU processes, and the sockets of their monitors in their command lines.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace sukima::host {

/// Data from a command line.
struct qemu_command_line {
  std::string name;  ///< from -name; empty without it
  std::string uuid;  ///< from -uuid; empty without it
  /// The Unix sockets on which QEMU listens for QMP, in their order.
  std::vector<std::string> monitors;
  /// Whether libvirt uses its monitor.
  bool of_libvirt = false;
};

/// Parses the arguments of a process. \returns nothing if it is not a process of QEMU's system emulation
std::optional<qemu_command_line> read_command_line(const std::vector<std::string>& arguments);

struct qemu_process {
  long id;
  qemu_command_line command_line;
};

/// All running QEMU processes, sorted by id. Relative socket paths are resolved against the process's working
/// folder.
/// \param root prefix of /proc
std::vector<qemu_process> find_qemu_processes(const std::string& root);

}  // namespace sukima::host
