// SPDX-License-Identifier: Apache-2.0
// A connection to a socket of QEMU; see unix_socket.hpp.
#include "environment/unix_socket.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <thread>

namespace sukima::lab {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

namespace {
/// More than the longest useful line. The beginning of a longer line is dropped.
constexpr std::size_t most_line = std::size_t{1} << 20;
}  // namespace

unix_socket::unix_socket(const std::filesystem::path& path, std::chrono::milliseconds patience) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = path.string();
  if (name.size() >= sizeof address.sun_path)
    throw std::runtime_error(fmt::format("{}: too long for a socket's name; choose a shorter folder", name));
  std::memcpy(address.sun_path, name.c_str(), name.size() + 1);
  const auto end = clock::now() + patience;
  while (true) {
    socket_.reset(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!socket_) throw std::runtime_error(fmt::format("no socket: {}", std::strerror(errno)));
    if (connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return;
    const int problem = errno;
    if (clock::now() > end)
      throw std::runtime_error(fmt::format("{}: no process listens: {}", name, std::strerror(problem)));
    std::this_thread::sleep_for(20ms);
  }
}

void unix_socket::write(const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t count = send(socket_.get(), text.data() + done, text.size() - done, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) throw std::runtime_error("a virtual machine has gone while it was spoken to");
    done += static_cast<std::size_t>(count);
  }
}

std::optional<std::string> unix_socket::read_line(std::chrono::milliseconds patience) {
  const auto end = clock::now() + patience;
  bool has_read = false;
  while (true) {
    if (const std::size_t length = received_.find('\n'); length != std::string::npos) {
      std::string line = received_.substr(0, length);
      received_.erase(0, length + 1);
      if (line.ends_with('\r')) line.pop_back();
      return line;
    }
    // A peer that prints a line without an end must not starve the clock or fill the memory.
    if (has_read && clock::now() >= end) return std::nullopt;
    if (received_.size() > most_line) received_.erase(0, received_.size() - most_line / 2);
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - clock::now());
    pollfd watched{socket_.get(), POLLIN, 0};
    const int ready = poll(&watched, 1, static_cast<int>(std::max(left, 0ms).count()));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return std::nullopt;
    char bytes[4096];
    const ssize_t count = recv(socket_.get(), bytes, sizeof bytes, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) throw std::runtime_error("a virtual machine has gone while it was listened to");
    received_.append(bytes, static_cast<std::size_t>(count));
    has_read = true;
  }
}

}  // namespace sukima::lab
