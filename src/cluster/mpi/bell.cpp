// SPDX-License-Identifier: Apache-2.0
#include "mpi/bell.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace sukima::cluster {

namespace {

/// Returns a number that identifies this boot of the kernel and the network namespace (FNV-1a of both).
std::uint64_t number_of_host() {
  std::array<char, 64> boot{};
  if (std::FILE* const file = std::fopen("/proc/sys/kernel/random/boot_id", "re")) {
    if (std::fgets(boot.data(), boot.size(), file) == nullptr) boot[0] = 0;
    std::fclose(file);
  }
  struct stat network{};
  const std::uint64_t inode = stat("/proc/self/ns/net", &network) == 0 ? network.st_ino : 0;
  std::uint64_t hash = 14695981039346656037ull;
  const auto add = [&hash](std::uint8_t byte) { hash = (hash ^ byte) * 1099511628211ull; };
  for (const char c : boot) add(static_cast<std::uint8_t>(c));
  for (int shift = 0; shift < 64; shift += 8) add(static_cast<std::uint8_t>(inode >> shift));
  return hash;
}

/// Returns the address of the first device that is up and is not the loopback device, or else 127.0.0.1.
std::uint32_t address_of_host() {
  std::uint32_t found = htonl(INADDR_LOOPBACK);
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) return found;
  for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET) continue;
    if ((one->ifa_flags & IFF_UP) == 0 || (one->ifa_flags & IFF_LOOPBACK) != 0) continue;
    sockaddr_in address{};
    std::memcpy(&address, one->ifa_addr, sizeof address);
    found = address.sin_addr.s_addr;
    break;
  }
  freeifaddrs(all);
  return found;
}

}  // namespace

bell::bell() {
  here_.host = number_of_host();
  here_.address = address_of_host();
  socket_ = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_ANY);
  socklen_t size = sizeof at;
  if (socket_ >= 0 && bind(socket_, reinterpret_cast<sockaddr*>(&at), size) == 0 &&
      getsockname(socket_, reinterpret_cast<sockaddr*>(&at), &size) == 0)
    here_.port = at.sin_port;
}

bell::~bell() {
  if (socket_ >= 0) close(socket_);
}

void bell::meet(node_id self, std::vector<bell_address> all, const secret& known) {
  self_ = self;
  all_ = std::move(all);
  known_ = known;
}

void bell::ring(node_id to, std::uint64_t sent) const noexcept {
  const bell_address& there = all_[to];
  if (there.port == 0 || socket_ < 0) return;
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = there.host == here_.host ? htonl(INADDR_LOOPBACK) : there.address;
  at.sin_port = there.port;
  const datagram d{known_, self_, 0, sent};
  // If the datagram is lost, the regular probe finds the message.
  static_cast<void>(
      sendto(socket_, &d, sizeof d, MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&at), sizeof at));
}

void bell::take(std::vector<std::uint64_t>& counts) const noexcept {
  datagram d{};
  ssize_t size = 0;
  while (socket_ >= 0 && (size = recv(socket_, &d, sizeof d, MSG_DONTWAIT)) >= 0)
    if (size == static_cast<ssize_t>(sizeof d) && d.known == known_ && d.from < counts.size())
      counts[d.from] = std::max(counts[d.from], d.sent);
}

}  // namespace sukima::cluster
