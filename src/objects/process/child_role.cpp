// SPDX-License-Identifier: Apache-2.0
#include <runtime/shared/start_thread.hpp>
#include <sukima/detail/own_thread.hpp>

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <iostream>

#include "process/processes.hpp"

namespace sukima::objects::detail {

std::unique_ptr<child_role> child_role::take() {
  const char* const text = secure_getenv(child_variable);
  if (text == nullptr) return nullptr;
  // The text has the form SOCKET,MEMORY,PROCESS.
  int numbers[3] = {-1, -1, -1};
  const char* next = text;
  const char* const last = text + std::char_traits<char>::length(text);
  bool is_right = true;
  for (int& n : numbers) {
    const auto [end, failed] = std::from_chars(next, last, n);
    is_right = is_right && failed == std::errc() && n >= 0 && (&n == &numbers[2] ? end == last : *end == ',');
    if (!is_right) break;
    next = end + 1;
  }
  unsetenv(child_variable);
  if (!is_right) return nullptr;
  for (const int file : {numbers[0], numbers[1]})
    if (fcntl(file, F_SETFD, FD_CLOEXEC) != 0) return nullptr;
  return std::make_unique<child_role>(numbers[0], numbers[1], static_cast<std::uint32_t>(numbers[2]));
}

child_role::child_role(int socket, int file, std::uint32_t process)
    : socket_(socket), memory_(file), process_(process) {}

void child_role::send(report kind, const std::string& text) const noexcept {
  char message[most_report];
  message[0] = static_cast<char>(kind);
  const std::size_t size = text.copy(message + 1, sizeof message - 1);
  ::send(socket_.get(), message, size + 1, MSG_NOSIGNAL);
}

void child_role::follow_parent() const {
  const sukima::detail::signals_blocked here;
  const auto follow = [socket = socket_.get()] {
    pthread_setname_np(pthread_self(), "sukima-parent");
    pollfd one{socket, 0, 0};
    while (poll(&one, 1, -1) <= 0) {
    }
    _exit(1);  // the parent's end of the socket is closed: the parent is dead, or has ended this run
  };
  sukima::detail::start_thread("an object's process", follow).detach();
}

void child_role::end() const {
  std::cout.flush();
  std::fflush(nullptr);
  send(report::done, {});
  _exit(0);
}

}  // namespace sukima::objects::detail
