// SPDX-License-Identifier: Apache-2.0
// Addresses of Unix sockets, and connections to them.
#pragma once

#include <sys/un.h>
#include <base/shared/descriptor.hpp>

#include <filesystem>

namespace sukima::host {

/// Returns the address of the Unix socket at this path.
/// \throws std::system_error  ENAMETOOLONG
sockaddr_un unix_address(const std::filesystem::path& path);

/// Connects to a Unix socket, without waiting. \returns the connection, which never blocks; empty if no
/// process accepts it
descriptor connect_to(const sockaddr_un& address);

/// Tries to connect to a Unix socket, without waiting. \returns 0, or an errno
int connect_error(const sockaddr_un& address);

}  // namespace sukima::host
