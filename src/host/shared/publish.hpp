// SPDX-License-Identifier: Apache-2.0
// Sends each guest its number and receives its messages, through a file or through a port of the virtual
// machine.
//
// A number is leased: the host sends it again every 3 s and it is valid for 10 s, so it expires if the host
// stops.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "inbox.hpp"

namespace sukima::host {

/// Seconds for which a number is valid, and after which it is sent again.
inline constexpr double number_lease = 10, number_renewal = 3;

/// The connection to one guest. None of its functions waits. Times are in seconds of a clock that never goes
/// back.
class guest_link {
 public:
  guest_link() = default;
  virtual ~guest_link() = default;
  guest_link(const guest_link&) = delete;
  guest_link& operator=(const guest_link&) = delete;

  /// Sends and receives as much as is possible without waiting. Must be called when `readable` becomes
  /// readable, and at least once a second.
  virtual void step(double now) = 0;
  /// A descriptor that becomes readable when the guest sends data; -1: there is none.
  virtual int readable() const { return -1; }
  /// Whether a reader is connected; always true for a file.
  virtual bool connected() const { return true; }
  /// The guest's messages since the last call, the oldest first.
  virtual std::vector<guest_message> take() { return {}; }
  /// How many messages have arrived so far.
  virtual guest_inbox::counts seen() const { return {}; }
  /// A sentence about the errors since the last call, without the guest's name.
  virtual std::optional<std::string> complaint(double now) = 0;

  /// Sets the message that is sent now and again every 3 s, with `valid` set to 10. Nothing: no more messages
  /// are sent, and the last one expires.
  void set_message(std::optional<host_message> message, double now);
  const std::optional<host_message>& message() const { return message_; }

 protected:
  /// The text to send now, if it is time to send.
  std::optional<std::string> due(double now);
  /// Records that the text could not be sent, so that it is due again.
  void not_sent() { sent_at_.reset(); }

 private:
  std::optional<host_message> message_;
  std::optional<double> sent_at_;
};

/// Publishes to a file, for containers (its folder is bind-mounted into them) and for tests. The file is
/// replaced by renaming, so that a reader sees a complete message. The folder's owner may be hostile, so a
/// path that contains symbolic links is refused.
std::unique_ptr<guest_link> make_file_link(std::filesystem::path file);

/// Publishes over the Unix socket of a character device of QEMU. Its other end is the port
/// `org.sukima.guest.0` in the guest. If the connection fails or ends, the link tries to connect once a
/// second. If a guest sends more than it may, its port is closed for a minute.
std::unique_ptr<guest_link> make_port_link(std::filesystem::path socket);

/// The same over a connected descriptor, which the link closes at its end.
std::unique_ptr<guest_link> make_port_link(int connected);

}  // namespace sukima::host
