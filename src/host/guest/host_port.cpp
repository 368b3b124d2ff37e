// SPDX-License-Identifier: Apache-2.0
// The guest's end of the port to its host; see host_port.hpp.
#include "guest/host_port.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "guest/unix_socket.hpp"

namespace sukima::host {
namespace {

/// Bytes that are read from the port at a time, and the most reads of one call.
constexpr std::size_t port_bytes = 4096;
constexpr int most_port_reads = 16;

}  // namespace

bool host_port::open() {
  if (port_) return true;
  const auto path = options_.port.empty() ? find_guest_port(options_.root) : options_.port;
  struct stat status{};
  if (!path || ::stat(path->c_str(), &status) != 0) return false;
  is_socket_ = S_ISSOCK(status.st_mode);
  port_ = is_socket_ ? connect_to(unix_address(*path))
                     : descriptor(::open(path->c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
  is_connected_ = is_socket_ && port_;
  return static_cast<bool>(port_);
}

bool host_port::read(guest_service& service, double now) {
  is_connected_ = read_all(service, now);
  if (!is_connected_ && !rest_.empty()) {
    rest_.clear();
    service.not_sent();
  }
  return is_connected_;
}

bool host_port::read_all(guest_service& service, double now) {
  std::array<char, port_bytes> bytes{};
  for (int i = 0; i < most_port_reads; ++i) {
    const ssize_t count = ::read(port_.get(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return true;
    if (count <= 0) {
      if (count < 0 || is_socket_) port_.reset();
      return false;
    }
    service.from_host({bytes.data(), static_cast<std::size_t>(count)}, now);
  }
  return true;
}

void host_port::write(guest_service& service, double now) {
  send_rest();
  std::string next = service.step(now, is_connected_ && rest_.empty());
  if (next.empty()) return;
  rest_ = std::move(next);
  send_rest();
}

void host_port::send_rest() {
  while (port_ && !rest_.empty()) {
    const ssize_t count = is_socket_ ? ::send(port_.get(), rest_.data(), rest_.size(), MSG_NOSIGNAL)
                                     : ::write(port_.get(), rest_.data(), rest_.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;  // the buffer is full, or the peer is gone, which `read` detects
    rest_.erase(0, static_cast<std::size_t>(count));
  }
}

}  // namespace sukima::host
