// SPDX-License-Identifier: Apache-2.0
// Virtual machines of QEMU, with what the host knows of their virtual CPUs.
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

#include <process/shared/child.hpp>

namespace sukima::lab {

/// The parts of a virtual machine.
struct guest_plan {
  std::filesystem::path image;  ///< a folder that build-image.sh has filled
  std::string name = "guest";
  unsigned vcpus = 2;
  unsigned most_vcpus = 0;  ///< limit for plugging in more; 0: `vcpus`
  unsigned memory_mib = 128;
  std::string accelerator = "tcg";  ///< or "kvm", where that works
  /// It has the port of `sukima guest`; the host's end is the socket NAME.service in its folder.
  bool service_port = false;
  /// It has a second monitor, the socket NAME.qmp in its folder: QEMU serves one connection at a time.
  bool free_monitor = false;
};

/// CPU time of one virtual CPU, in seconds since its thread began.
struct vcpu_time {
  double ran = 0;
  double waited = 0;  ///< in the host's run queue; includes the time in which a quota held it back
};

/// The path of QEMU. \throws std::runtime_error if it is not installed
std::string find_emulator();

/// All of a file; "" if it cannot be read.
std::string text_of(const std::filesystem::path& file);

class unix_socket;

/// A running virtual machine. Each of its virtual CPUs is a thread of this machine.
class guest {
 public:
  /// Starts it; it boots while the caller does other things.
  /// \param folder for its sockets and its console's text; has to outlive it
  /// \throws std::runtime_error if QEMU does not start, with its messages
  guest(const guest_plan& plan, const std::filesystem::path& folder);
  /// Ends it at once.
  ~guest();
  guest(const guest&) = delete;
  guest& operator=(const guest&) = delete;

  /// Waits until its first process runs.
  /// \throws std::runtime_error if it does not within `patience`, with the last lines of its console
  void wait_until_up(std::chrono::milliseconds patience);
  /// Runs a shell command in it. What it prints comes from hear() or read_line().
  /// \throws std::runtime_error if the machine is gone, with the last lines of its console
  void run(const std::string& command);
  /// What it said last.
  struct heard {
    std::string line;
    bool ended = false;  ///< the command has ended
    int exit_code = 0;  ///< of the command
  };
  /// The next line that a command printed, or that it has ended; nothing if there is neither within
  /// `patience`.
  /// \throws std::runtime_error if the machine is gone, with the last lines of its console
  std::optional<heard> hear(std::chrono::milliseconds patience);
  /// The next line that a command printed; nothing when the command has ended.
  /// \throws std::runtime_error if there is none within `patience`
  std::optional<std::string> read_line(std::chrono::milliseconds patience);

  /// The threads of its virtual CPUs, to bind them or to look at them.
  std::vector<pid_t> vcpu_threads();
  std::vector<vcpu_time> vcpu_times();
  /// The process of QEMU, for control groups.
  pid_t process() const { return machine_.pid(); }
  /// One command of QEMU's monitor (QMP), such as "stop" or "device_add".
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
  std::optional<int> exit_code_;  ///< of a command that has ended, which is still to be said
};

}  // namespace sukima::lab
