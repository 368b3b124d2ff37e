// SPDX-License-Identifier: Apache-2.0
// Queries QEMU's monitors; see qmp_sockets.hpp.
#include "source/qmp_sockets.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <base/shared/descriptor.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace sukima::host {
namespace {

using clock = std::chrono::steady_clock;

/// A connection to one monitor.
class connection {
 public:
  explicit connection(const std::string& path) : path_(path) { start(); }
  /// Whether more bytes may arrive.
  bool open() const { return socket_ && !waiting_; }
  pollfd wanted() const {
    return {socket_.get(), static_cast<short>(POLLIN | (unsent_.empty() ? 0 : POLLOUT)), 0};
  }

  void advance() {
    char bytes[16384];
    const ssize_t count = recv(socket_.get(), bytes, sizeof bytes, 0);
    // If a peer closes without having read everything, the connection is reset.
    if (count == 0 || (count < 0 && errno == ECONNRESET))
      return fail("closed the connection; the machine is ending, or the monitor is broken");
    if (count < 0 && errno != EAGAIN && errno != EINTR)
      return fail(std::string("broke: ") + std::strerror(errno));
    if (count > 0) dialogue_.receive({bytes, static_cast<std::size_t>(count)});
    unsent_ += dialogue_.take_questions();
    if (!unsent_.empty() && !dialogue_.ended()) {
      const ssize_t sent = send(socket_.get(), unsent_.data(), unsent_.size(), MSG_NOSIGNAL);
      if (sent > 0) unsent_.erase(0, static_cast<std::size_t>(sent));
    }
    if (!dialogue_.ended()) return;
    if (!dialogue_.failure().empty()) return fail("cannot be used: " + dialogue_.failure());
    answer_.result = qmp_answer::outcome::answered;
    answer_.machine = dialogue_.machine();
    socket_.reset();
  }

  qmp_answer end() {
    if (socket_) answer_.result = qmp_answer::outcome::late;
    socket_.reset();
    return std::move(answer_);
  }

 private:
  void start() {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path_.size() >= sizeof address.sun_path)
      return fail("has a path that is longer than the kernel allows; link to it from a shorter one");
    std::memcpy(address.sun_path, path_.data(), path_.size());
    socket_.reset(socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (!socket_) return fail(std::string("cannot be used: ") + std::strerror(errno));
    if (connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0)
      return connected();
    // The queue of connections is full because other clients use the monitor. Then a Unix socket does not
    // signal when there is room.
    if (errno == EAGAIN) {
      waiting_ = true;
      return;
    }
    fail(errno == ECONNREFUSED || errno == ENOENT
             ? "is not the socket of a running machine; name such a socket"
             : std::string("cannot be used: ") + std::strerror(errno));
  }
  void connected() {
    ucred other{};
    socklen_t length = sizeof other;
    if (getsockopt(socket_.get(), SOL_SOCKET, SO_PEERCRED, &other, &length) == 0) answer_.process = other.pid;
  }
  void fail(const std::string& why) {
    answer_.result = qmp_answer::outcome::failed;
    answer_.failure = "the monitor " + path_ + " " + why;
    socket_.reset();
  }
  std::string path_;
  descriptor socket_;
  bool waiting_ = false;
  qmp_dialogue dialogue_;
  std::string unsent_;
  qmp_answer answer_;
};

}  // namespace

std::vector<qmp_answer> ask_monitors(const std::vector<std::string>& paths, clock::time_point end) {
  std::vector<connection> all;
  all.reserve(paths.size());
  for (const std::string& path : paths) all.emplace_back(path);
  for (;;) {
    std::vector<pollfd> wanted;
    std::vector<connection*> polled;
    for (connection& one : all)
      if (one.open()) {
        wanted.push_back(one.wanted());
        polled.push_back(&one);
      }
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - clock::now()).count();
    if (wanted.empty() || left <= 0) break;
    const int ready = poll(wanted.data(), wanted.size(), static_cast<int>(std::min<long>(left, 60000)));
    if (ready < 0 && errno != EINTR) break;
    if (ready <= 0) continue;
    for (std::size_t i = 0; i < polled.size(); ++i)
      if (wanted[i].revents != 0) polled[i]->advance();
  }
  std::vector<qmp_answer> answers;
  for (connection& one : all) answers.push_back(one.end());
  return answers;
}

}  // namespace sukima::host
