// SPDX-License-Identifier: Apache-2.0
// The service inside a virtual machine: it reads the host's number, passes it to the programs, switches
// CPUs, and reports the programs' progress. docs/host.md describes its use.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "message.hpp"

namespace sukima::host {

class cpu_switch;
class program_reports;

/// The guest service without its port, its sockets and its clock. Times are seconds of a clock that does
/// not go back.
class guest_service {
 public:
  /// \param root the folder in which /sys and /run are; "/" outside tests
  /// Brings back CPUs that an earlier run left off.
  explicit guest_service(std::filesystem::path root);
  /// As `stop`.
  ~guest_service();
  guest_service(const guest_service&) = delete;
  guest_service& operator=(const guest_service&) = delete;

  /// Takes what came from the host's port. Linear time.
  void from_host(std::string_view bytes, double now);
  /// The port has closed: CPUs that were switched off come back; the number ends by itself.
  void host_closed();
  /// Ends leases that have run out. \returns what to send to the host now; empty: nothing. Call it at least
  /// once a second.
  std::string step(double now);
  /// Brings back what it switched off. \returns what went wrong
  std::optional<std::string> stop();

  program_reports& programs() { return *programs_; }
  /// Sentences about what it did and what went wrong, since the last call.
  std::vector<std::string> take_events();

 private:
  void obey(const host_message& message, double now);
  void follow(unsigned count);
  void say(std::optional<std::string> problem);
  void online_now(const char* why);

  std::filesystem::path root_;
  std::unique_ptr<cpu_switch> cpus_;
  std::unique_ptr<program_reports> programs_;
  message_frames frames_{"sukima-host 1"};
  std::optional<unsigned> vcpus_;  ///< how many the host wants online
  double vcpus_until_ = 0;
  std::optional<double> sent_at_;
  std::string last_problem_;
  std::vector<std::string> events_;
};

/// How the service runs.
struct guest_options {
  std::filesystem::path root = "/";
  /// The port: a character device, or a Unix socket to connect to; empty: the virtio port of that name.
  std::filesystem::path port = {};
  /// Where programs report; empty: /run/sukima/guest.sock below the root.
  std::filesystem::path socket = {};
  /// A user whose programs may report, too; else only root's and those of the service's own user.
  std::optional<unsigned> user = {};
};

/// The name of the virtio port.
inline constexpr const char* guest_port_name = "org.sukima.guest.0";

/// The device of the virtio port of that name; nothing if there is none.
std::optional<std::filesystem::path> find_guest_port(const std::filesystem::path& root);

/// Runs the service until `stopped`. It waits for the port where it is not there yet, or closes.
/// \param say is called with each sentence about what it does
/// \throws std::system_error  the programs' socket cannot be made: another service may have it
void run_guest(const guest_options& options, const std::atomic<bool>& stopped,
               const std::function<void(const std::string&)>& say);

}  // namespace sukima::host
