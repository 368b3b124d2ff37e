// SPDX-License-Identifier: Apache-2.0
// The service inside a virtual machine: it reads the host's number, passes it on to the programs, switches
// CPUs on and off, and reports the programs' progress. docs/host.md describes its use.
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

/// The guest service without its port, its sockets and its clock. Times are in seconds of a clock that never
/// goes back.
class guest_service {
 public:
  /// Switches on CPUs that an earlier run of the service left off.
  /// \param root the folder that contains /sys and /run; "/" outside tests
  explicit guest_service(std::filesystem::path root);
  /// Calls `stop`.
  ~guest_service();
  guest_service(const guest_service&) = delete;
  guest_service& operator=(const guest_service&) = delete;

  /// Takes bytes that arrived from the host's port. Linear time.
  void from_host(std::string_view bytes, double now);
  /// Reacts to the end of the port's connection: switches on the CPUs that were switched off. The number
  /// expires with its lease.
  void host_closed();
  /// Ends leases that have expired. Must be called at least once a second.
  /// \param can_send false: the port cannot take a message now, so the service keeps what it would report
  /// \returns the text to send to the host now; empty: none
  std::string step(double now, bool can_send = true);
  /// Reports again what only the last message of `step` reported, because its connection broke before all of
  /// it was sent.
  void not_sent();
  /// Switches on the CPUs that it switched off. \returns a description of what failed, if anything did
  std::optional<std::string> stop();

  program_reports& programs() { return *programs_; }
  /// Sentences about actions and errors since the last call.
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
  std::optional<unsigned> vcpus_;  ///< the number of CPUs that the host wants online
  double vcpus_until_ = 0;
  std::optional<double> sent_at_;
  bool reports_turn_ = false;  ///< whether the last message of `step` reports a turn
  std::string last_problem_;
  std::vector<std::string> events_;
};

/// Options of the service.
struct guest_options {
  std::filesystem::path root = "/";
  /// The port: a character device, or a Unix socket to connect to; empty: the virtio port guest_port_name.
  std::filesystem::path port = {};
  /// The socket over which programs report; empty: /run/sukima/guest.sock below the root.
  std::filesystem::path socket = {};
  /// A user whose programs may report, besides those of root and of the service's own user.
  std::optional<unsigned> user = {};
};

/// The name of the virtio port.
inline constexpr const char* guest_port_name = "org.sukima.guest.0";

/// Finds the device of that virtio port. \returns nothing if there is none
std::optional<std::filesystem::path> find_guest_port(const std::filesystem::path& root);

/// Runs the service until `stopped`. If the port does not exist yet, or closes, the service waits for it.
/// \param say called with a sentence about each action
/// \throws std::system_error  the programs' socket cannot be created; another service may use it
void run_guest(const guest_options& options, const std::atomic<bool>& stopped,
               const std::function<void(const std::string&)>& say);

}  // namespace sukima::host
