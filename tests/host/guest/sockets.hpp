// SPDX-License-Identifier: Apache-2.0
// Sockets of tests.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <base/shared/descriptor.hpp>

#include <array>
#include <cstring>
#include <filesystem>
#include <string>
#include <utility>

namespace guests {

using sukima::descriptor;

inline sockaddr_un address_of(const std::filesystem::path& path) {
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  return address;
}

/// Two ends of a connection; reading from them does not wait.
inline std::pair<descriptor, descriptor> connected_pair() {
  std::array<int, 2> ends{};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()), 0);
  return {descriptor(ends[0]), descriptor(ends[1])};
}

inline descriptor listen_at(const std::filesystem::path& path) {
  descriptor made(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_un address = address_of(path);
  ::unlink(path.c_str());
  EXPECT_EQ(::bind(made.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(::listen(made.get(), 4), 0);
  return made;
}

/// Waits until a peer connects.
inline descriptor accept_at(const descriptor& listening) {
  return descriptor(::accept4(listening.get(), nullptr, nullptr, SOCK_CLOEXEC));
}

/// Connects; waits until a process listens there.
inline descriptor connect_to(const std::filesystem::path& path) {
  const sockaddr_un address = address_of(path);
  for (;;) {
    descriptor made(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (::connect(made.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return made;
    ::usleep(1000);
  }
}

inline void send_to(const descriptor& end, const std::string& text) {
  EXPECT_EQ(::send(end.get(), text.data(), text.size(), MSG_NOSIGNAL), static_cast<ssize_t>(text.size()));
}

/// What is there now, without waiting where the end does not wait.
inline std::string received(const descriptor& end) {
  std::string all;
  std::array<char, 4096> bytes{};
  for (;;) {
    const ssize_t count = ::recv(end.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (count <= 0) return all;
    all.append(bytes.data(), static_cast<std::size_t>(count));
  }
}

/// Waits until what has come contains this. \returns all of it; ends early if the other side is gone
inline std::string wait_for(const descriptor& end, const std::string& text) {
  std::string all;
  while (all.find(text) == std::string::npos) {
    pollfd one{.fd = end.get(), .events = POLLIN, .revents = 0};
    ::poll(&one, 1, -1);
    const std::string more = received(end);
    if (more.empty()) break;
    all += more;
  }
  return all;
}

}  // namespace guests
