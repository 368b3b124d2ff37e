// SPDX-License-Identifier: Apache-2.0
// Addresses of Unix sockets, and connections to them; see unix_socket.hpp.
#include "guest/unix_socket.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <system_error>

namespace sukima::host {

sockaddr_un unix_address(const std::filesystem::path& path) {
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  const std::string name = path.string();
  if (name.size() >= sizeof address.sun_path)
    throw std::system_error(ENAMETOOLONG, std::generic_category(), "the socket " + name);
  std::memcpy(address.sun_path, name.c_str(), name.size() + 1);
  return address;
}

descriptor connect_to(const sockaddr_un& address) {
  descriptor made(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (made && ::connect(made.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    made.reset();
  return made;
}

int connect_error(const sockaddr_un& address) {
  const descriptor made(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!made) return errno;
  return ::connect(made.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 ? 0 : errno;
}

}  // namespace sukima::host
