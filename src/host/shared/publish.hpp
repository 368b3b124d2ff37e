// SPDX-License-Identifier: Apache-2.0
// Sends guests their number and receives their messages: by a file, or by a port of the virtual machine.
//
// A number is leased: it is sent again every 3 s and is valid for 10 s, so that it ends with the host.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "inbox.hpp"

namespace sukima::host {

/// Seconds for which a number counts, and after which it is written again.
inline constexpr double number_lease = 10, number_renewal = 3;

/// The way to one guest. None of its functions waits. Times are seconds of a clock that does not go back.
class guest_link {
 public:
  guest_link() = default;
  virtual ~guest_link() = default;
  guest_link(const guest_link&) = delete;
  guest_link& operator=(const guest_link&) = delete;

  /// Sends what is due and takes what has come, as far as that goes at once. Call it when `readable`
  /// can be read, and at least once a second.
  virtual void step(double now) = 0;
  /// Something that becomes readable when the guest says something; -1: it says nothing, or is not there.
  virtual int readable() const { return -1; }
  /// Whether a reader is connected; of a file always.
  virtual bool connected() const { return true; }
  /// The guest's messages since the last call, oldest first.
  virtual std::vector<guest_message> take() { return {}; }
  /// How many messages came so far.
  virtual guest_inbox::counts seen() const { return {}; }
  /// What went wrong since the last call, in a sentence without the guest's name.
  virtual std::optional<std::string> complaint(double now) = 0;

  /// Says this from now on, at once and again every 3 s; `valid` becomes 10. Nothing: says no more, and
  /// what was said ends by itself.
  void say(std::optional<host_message> message, double now);
  const std::optional<host_message>& said() const { return said_; }

 protected:
  /// The text to be sent now, if it is time.
  std::optional<std::string> due(double now);
  /// It could not be sent: it is due again.
  void not_sent() { sent_at_.reset(); }

 private:
  std::optional<host_message> said_;
  std::optional<double> sent_at_;
};

/// A file, for containers (its folder is bind-mounted into them) and tests. It is replaced by renaming, so
/// that a reader sees a whole message. The folder's owner may be hostile, so that a path over symbolic links
/// is refused.
std::unique_ptr<guest_link> make_file_link(std::filesystem::path file);

/// The Unix socket of a character device of QEMU, whose other end is the port `org.sukima.guest.0` in the
/// guest. It connects, and connects again once a second when the machine went away. The port of a guest that
/// sends more than it may is closed for a minute.
std::unique_ptr<guest_link> make_port_link(std::filesystem::path socket);

/// The same over a descriptor that is connected; it is closed in the end.
std::unique_ptr<guest_link> make_port_link(int connected);

}  // namespace sukima::host
