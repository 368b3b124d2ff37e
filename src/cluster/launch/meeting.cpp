// SPDX-License-Identifier: Apache-2.0
#include "launch/meeting.hpp"

#include "entry/environment.hpp"
#include "protocol/hexadecimal.hpp"
#include "protocol/mac.hpp"
#include "protocol/token.hpp"

#include <base/shared/system_failure.hpp>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

namespace sukima::cluster {

meeting_place::meeting_place(const std::optional<port_range>& ports) {
  sockaddr_in here{};
  here.sin_family = AF_INET;
  here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof here;
  auto* const address_of_socket = reinterpret_cast<sockaddr*>(&here);
  const auto [first, last] = ports.value_or(port_range());
  unsigned port = first;
  bool listens = false;
  do {
    here.sin_port = htons(static_cast<std::uint16_t>(port));
    socket = descriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const int reuse = 1;  // connections of the previous run may still be closing
    listens = socket && setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof reuse) == 0 &&
              bind(socket.get(), address_of_socket, size) == 0 && listen(socket.get(), SOMAXCONN) == 0;
  } while (!listens && errno == EADDRINUSE && port++ < last);
  if (!listens && errno == EADDRINUSE && ports)
    throw launch_error("none of the ports " + write_ports(*ports) + " is free here: give others by --port");
  if (!listens || getsockname(socket.get(), address_of_socket, &size) != 0)
    process::fail_by_errno("the launcher cannot listen on a port");
  address = "127.0.0.1:" + std::to_string(ntohs(here.sin_port));
}

ended_nodes::ended_nodes(unsigned nodes) : file_(memfd_create("sukima-ended-nodes", MFD_CLOEXEC)) {
  if (!file_ || ftruncate(file_.get(), nodes) != 0)
    process::fail_by_errno("the launcher cannot record which nodes have ended");
}

void ended_nodes::add(std::size_t node) const noexcept {
  static_cast<void>(!pwrite(file_.get(), "1", 1, static_cast<off_t>(node)));
}

void report_address(const launch_request& request, const std::string& address) {
  if (request.room != 0 && request.notify) request.notify("nodes may join at " + address);
}

std::string new_token() { return hexadecimal(random_bytes()); }

std::string new_mark(const char* start) {
  constexpr std::size_t digits = 16;
  return start + new_token().substr(0, digits);
}

std::string token_of_run() {
  const char* const given = std::getenv(variable_token);
  std::string token = given != nullptr && *given != 0 ? given : new_token();
  if (const std::string_view obstacle = obstacle_of_token(token); !obstacle.empty())
    throw launch_error(std::string(obstacle));
  return token;
}

}  // namespace sukima::cluster
