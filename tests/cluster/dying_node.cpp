// SPDX-License-Identifier: Apache-2.0
#include "dying_node.h"

#include <sukima/cluster.hpp>

#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string_view>

namespace {

enum class step : unsigned { time, send, receive, entry, task, print, count };
constexpr std::array<std::string_view, static_cast<std::size_t>(step::count)> names{
    "time", "send", "receive", "entry", "task", "print"};

/// When this node dies, by step; 0: never.
std::array<unsigned long, names.size()> deaths{};
/// Each counts by itself, and nothing else depends on it: relaxed.
std::array<std::atomic<unsigned long>, names.size()> passed{};

void die() {
  static const int how = std::getenv("HOPE_PROGRAM_STOPS") != nullptr ? SIGSTOP : SIGKILL;
  kill(getpid(), how);
}
bool is_death(step s) noexcept {
  const auto i = static_cast<std::size_t>(s);
  return passed[i].fetch_add(1, std::memory_order_relaxed) + 1 == deaths[i];
}

unsigned long number(std::string_view text) {
  unsigned long value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) std::abort();
  return value;
}
std::string_view cut(std::string_view& text, char at) {
  const std::string_view part = text.substr(0, text.find(at));
  text.remove_prefix(std::min(text.size(), part.size() + 1));
  return part;
}

ssize_t received(ssize_t size) {
  if (size > 0 && is_death(step::receive)) die();
  return size;
}

}  // namespace

extern "C" {

void dying_node_begins() {
  const std::uint32_t node = sukima::cluster::this_node();
  const char* const given = std::getenv("HOPE_PROGRAM_DIES");
  std::string_view rest = given != nullptr ? given : "";
  while (!rest.empty()) {
    std::string_view one = cut(rest, ',');
    if (number(cut(one, ':')) != node) continue;
    const std::string_view name = cut(one, ':');
    for (std::size_t i = 0; i < names.size(); ++i)
      if (names[i] == name) deaths[i] = number(one);
  }
  if (const unsigned long time = deaths[static_cast<std::size_t>(step::time)]; time != 0) {
    sigevent on_time{};
    on_time.sigev_notify = SIGEV_SIGNAL;
    on_time.sigev_signo = SIGKILL;
    timer_t timer{};
    itimerspec when{};
    when.it_value = {static_cast<time_t>(time / 1000000), static_cast<long>(time % 1000000 * 1000)};
    if (timer_create(CLOCK_MONOTONIC, &on_time, &timer) != 0 || timer_settime(timer, 0, &when, nullptr) != 0)
      std::abort();
  }
}

void dying_node_passes(dying_node_step s) {
  if (is_death(s == dying_node_entry ? step::entry : step::task)) die();
}

void dying_node_prints(const char* whole, std::size_t size) {
  std::string_view text(whole, size);
  if (is_death(step::print)) {
    const ssize_t put = write(STDOUT_FILENO, text.data(), text.size() / 2);
    die();
    text.remove_prefix(put > 0 ? static_cast<std::size_t>(put) : 0);
  }
  while (!text.empty()) {
    const ssize_t put = write(STDOUT_FILENO, text.data(), text.size());
    if (put <= 0) std::abort();
    text.remove_prefix(static_cast<std::size_t>(put));
  }
}

void dying_node_reports(unsigned long long sum) {
  std::fprintf(stderr, "result %llu %llu\n", sum,
               static_cast<unsigned long long>(sukima::cluster::statistics().omitted));
}

// These go first to all that is linked into this program, Asio among it.
ssize_t sendmsg(int to, const msghdr* message, int flags) {
  if (is_death(step::send)) die();
  return syscall(SYS_sendmsg, to, message, flags);
}
ssize_t send(int to, const void* message, size_t size, int flags) {
  if (is_death(step::send)) die();
  return syscall(SYS_sendto, to, message, size, flags, nullptr, 0);
}
ssize_t recvmsg(int from, msghdr* message, int flags) {
  return received(syscall(SYS_recvmsg, from, message, flags));
}
ssize_t recv(int from, void* message, size_t size, int flags) {
  return received(syscall(SYS_recvfrom, from, message, size, flags, nullptr, nullptr));
}
}
