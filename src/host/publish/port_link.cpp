// SPDX-License-Identifier: Apache-2.0
// Publishes through a port of a virtual machine; the host's end is a Unix socket of QEMU.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <base/shared/assert.hpp>
#include <base/shared/descriptor.hpp>

#include <array>
#include <cerrno>
#include <cstring>

#include "shared/publish.hpp"

namespace sukima::host {
namespace {

/// Seconds between two attempts to connect.
constexpr double between_attempts = 1;
/// The most bytes that one step reads, so that a guest that never stops sending does not delay the others.
constexpr std::size_t most_bytes_a_step = 65536;
/// The most bytes per second that a guest may send: messages of maximum length at the highest accepted rate.
constexpr double most_bytes_a_second = guest_messages_a_second * longest_message;
/// The most bytes at once. They may have accumulated while the host's process was stopped; a socket holds
/// fewer.
constexpr double most_bytes_at_once = 1 << 20;
/// Seconds for which a guest's port stays closed after it has sent more than that.
constexpr double closed_for_flood = 60;

class port_link final : public guest_link {
 public:
  explicit port_link(std::filesystem::path socket) : path_(std::move(socket)) {}
  explicit port_link(int connected) : socket_(connected) {
    ::fcntl(connected, F_SETFL, ::fcntl(connected, F_GETFL) | O_NONBLOCK);
  }

  void step(double now) override {
    if (!socket_) connect(now);
    if (socket_) receive(now);
    SUKIMA_ASSERT(socket_ || rest_.empty(), "a message is never continued on another connection");
    // First send the rest of an unfinished message; otherwise the guest would also lose the next message.
    if (socket_ && !rest_.empty()) send();
    if (!socket_ || !rest_.empty()) return;
    if (auto text = due(now)) {
      rest_ = *std::move(text);
      send();
    }
  }

  int readable() const override { return socket_.get(); }
  bool connected() const override { return static_cast<bool>(socket_); }
  std::vector<guest_message> take() override { return inbox_.take(); }
  guest_inbox::counts seen() const override { return inbox_.seen(); }

  std::optional<std::string> complaint(double now) override {
    if (auto dropped = inbox_.complaint(now)) return dropped;
    if (!trouble_.empty()) return std::exchange(trouble_, {});
    return std::nullopt;
  }

 private:
  void connect(double now) {
    if (path_.empty() || (retry_at_ && now < *retry_at_)) return;
    retry_at_ = now + between_attempts;
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    const std::string name = path_.string();
    if (name.size() >= sizeof address.sun_path) return report(ENAMETOOLONG);
    std::memcpy(address.sun_path, name.c_str(), name.size() + 1);
    descriptor fresh(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (!fresh || ::connect(fresh.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
      return report(errno);
    socket_ = std::move(fresh);
    reported_ = 0;
    not_sent();
  }

  /// Reports once why it cannot connect.
  void report(int error) {
    if (std::exchange(reported_, error) == error) return;
    trouble_ = fmt::format("its port {} does not answer: {}", path_.string(), std::strerror(error));
  }

  void receive(double now) {
    std::array<char, 4096> bytes{};
    for (std::size_t all = 0; all < most_bytes_a_step;) {
      const ssize_t count = ::recv(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
      if (count <= 0) return close();
      if (!budget_.take(now, static_cast<double>(count))) return close_for_flood(now);
      inbox_.feed({bytes.data(), static_cast<std::size_t>(count)}, now);
      all += static_cast<std::size_t>(count);
    }
  }

  void send() {
    while (!rest_.empty()) {
      const ssize_t count = ::send(socket_.get(), rest_.data(), rest_.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
      if (count < 0) return close();
      rest_.erase(0, static_cast<std::size_t>(count));
    }
  }

  void close_for_flood(double now) {
    close();
    retry_at_ = now + closed_for_flood;
    trouble_ = fmt::format("its guest sends more than {:g} bytes a second; its port is closed for {:g} s",
                           most_bytes_a_second, closed_for_flood);
  }

  void close() {
    socket_.reset();
    rest_.clear();
    inbox_.cut();
    not_sent();
  }

  std::filesystem::path path_;
  descriptor socket_;
  std::string rest_;  ///< the rest of a message that the socket has not accepted yet
  guest_inbox inbox_;
  token_bucket budget_{most_bytes_a_second, most_bytes_at_once};
  std::optional<double> retry_at_;  ///< no attempt to connect before this time
  int reported_ = 0;
  std::string trouble_;
};

}  // namespace

std::unique_ptr<guest_link> make_port_link(std::filesystem::path socket) {
  return std::make_unique<port_link>(std::move(socket));
}

std::unique_ptr<guest_link> make_port_link(int connected) { return std::make_unique<port_link>(connected); }

}  // namespace sukima::host
