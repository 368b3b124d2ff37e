// SPDX-License-Identifier: Apache-2.0
// Virtual machines of QEMU, and the host's figures about their virtual CPUs.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <base/shared/child.hpp>

namespace sukima::lab {

/// The parts of a virtual machine.
struct guest_plan {
  std::filesystem::path image;  ///< a folder made by build-image.sh
  std::string name = "guest";
  unsigned vcpus = 2;
  unsigned most_vcpus = 0;  ///< limit for plugging in more; 0: `vcpus`
  unsigned memory_mib = 128;
  std::string accelerator = "tcg";  ///< or "kvm", where that works
  /// Gives the machine the port of `sukima guest`. The host's end is the socket NAME.service in the machine's
  /// folder.
  bool service_port = false;
  /// Adds a second monitor, the socket NAME.qmp in the machine's folder, because QEMU serves one connection
  /// at a time.
  bool free_monitor = false;
};

/// CPU time of one virtual CPU, in seconds since its thread began.
struct vcpu_time {
  double ran = 0;
  double waited = 0;  ///< in the host's run queue, or because a quota was used up
};

/// Returns the path of QEMU. \throws std::runtime_error if it is not installed
std::string find_emulator();

/// Returns the whole text of a file; "" if the file cannot be read.
std::string text_of(const std::filesystem::path& file);

class unix_socket;

/// A running virtual machine. Each of its virtual CPUs is a thread of this machine.
class guest {
 public:
  /// Starts the machine, which boots in the background.
  /// \param folder for its sockets and the text of its console; must outlive the machine
  /// \throws std::runtime_error if QEMU does not start, with its messages
  guest(const guest_plan& plan, const std::filesystem::path& folder);
  /// Ends the machine at once.
  ~guest();
  guest(const guest&) = delete;
  guest& operator=(const guest&) = delete;

  /// Waits until its first process runs.
  /// \throws std::runtime_error after `patience`, with the last lines of its console
  void wait_until_up(std::chrono::milliseconds patience);
  /// Starts a shell command in the machine. read() and read_line() return its output.
  /// \throws std::runtime_error if the machine has ended, with the last lines of its console
  void run(const std::string& command);
  /// A message of the machine.
  struct answer {
    std::string line;
    bool ended = false;  ///< the command has ended
    int exit_code = 0;  ///< exit code of the command
  };
  /// Returns the next line of the command's output, or its end; nothing if neither arrives within `patience`.
  /// \throws std::runtime_error if the machine has ended, with the last lines of its console
  std::optional<answer> read(std::chrono::milliseconds patience);
  /// Returns the next line of the command's output; nothing after its end.
  /// \throws std::runtime_error if neither arrives within `patience`
  std::optional<std::string> read_line(std::chrono::milliseconds patience);

  /// Returns the threads of its virtual CPUs.
  std::vector<pid_t> vcpu_threads();
  std::vector<vcpu_time> vcpu_times();
  /// Returns the process of QEMU, for control groups.
  pid_t process() const { return machine_.pid(); }
  /// Executes a command of QEMU's monitor (QMP), such as "stop" or "device_add".
  /// \throws std::runtime_error with QEMU's message
  nlohmann::json monitor(const std::string& command, const nlohmann::json& arguments);

 private:
  std::string last_words() const;
  std::runtime_error ended_early() const;

  std::string name_;
  std::filesystem::path folder_;
  process::background_child machine_;
  std::unique_ptr<unix_socket> monitor_;
  std::unique_ptr<unix_socket> port_;
  std::optional<int> exit_code_;  ///< of an ended command, until read() has returned it
};

}  // namespace sukima::lab
