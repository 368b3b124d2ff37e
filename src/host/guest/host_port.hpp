// SPDX-License-Identifier: Apache-2.0
// The guest's end of the port to its host.
#pragma once

#include <base/shared/descriptor.hpp>

#include <string>

#include "shared/guest.hpp"

namespace sukima::host {

/// Carries bytes between the host and the guest service. No call blocks.
class host_port {
 public:
  /// \param options must outlive the port
  explicit host_port(const guest_options& options) : options_(options) {}

  /// Opens the port if it exists. \returns whether it is open
  /// \throws std::system_error  the port's path is too long for a socket
  bool open();
  /// Passes the available bytes to the service. A virtio port stays open while the host's end is not
  /// connected. \returns whether the host is connected. \pre the port is open
  bool read(guest_service& service, double now);
  /// Sends the rest of the last message, and then the service's next message, if one is due. While the port
  /// has not accepted a whole message, or no host is connected, the service makes no other one, so that
  /// nothing it would report is lost. Must be called as often as guest_service::step, also while the port is
  /// closed.
  void write(guest_service& service, double now);

  /// The port's descriptor, for poll; negative while the port is closed.
  int number() const { return port_.get(); }

 private:
  bool read_all(guest_service& service, double now);
  void send_rest();

  const guest_options& options_;
  descriptor port_;
  bool is_socket_ = false;
  bool is_connected_ = false;  ///< as `read` has found it last
  std::string rest_;  ///< the part of a message that the port has not accepted yet
};

}  // namespace sukima::host
