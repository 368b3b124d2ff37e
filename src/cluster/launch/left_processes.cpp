// SPDX-License-Identifier: Apache-2.0
#include "launch/left_processes.hpp"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <string>
#include <utility>

namespace sukima::cluster {

namespace {

/// Longest time for which the launcher waits for processes after SIGKILL. A process that waits for a device
/// ends later.
constexpr std::chrono::milliseconds killing_time{1000};

/// Returns the children of this process, which has one thread. The kernel may omit some if others are reaped
/// during the reading (proc(5)). Only this thread reaps them.
std::set<pid_t> children() {
  const std::string self = std::to_string(getpid());
  std::ifstream file("/proc/" + self + "/task/" + self + "/children");
  std::set<pid_t> found;
  for (pid_t child = 0; file >> child;) found.insert(child);
  return found;
}

bool is_zombie(pid_t child) {
  siginfo_t info{};
  return waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == child;
}

}  // namespace

left_processes::left_processes(std::function<bool(pid_t)> is_node)
    : is_node_(std::move(is_node)), earlier_(children()) {
  prctl(PR_GET_CHILD_SUBREAPER, &was_subreaper_);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
}

left_processes::~left_processes() {
  for (const pid_t child : remaining()) kill(child, SIGKILL);
  prctl(PR_SET_CHILD_SUBREAPER, was_subreaper_);
}

std::set<pid_t> left_processes::remaining() const {
  std::set<pid_t> found;
  for (const pid_t child : children())
    if (!is_node_(child) && !earlier_.contains(child) && getsid(child) == getsid(0)) found.insert(child);
  return found;
}

void left_processes::reap() const {
  for (const pid_t child : children())
    if (!is_node_(child) && !earlier_.contains(child) && is_zombie(child)) waitpid(child, nullptr, 0);
}

void left_processes::end(int signals, std::chrono::milliseconds patience) const {
  auto kills_at = std::chrono::steady_clock::now() + patience;
  std::set<pid_t> asked;
  for (;;) {
    reap();
    // Their children become those of the launcher when they end.
    const std::set<pid_t> left = remaining();
    const auto now = std::chrono::steady_clock::now();
    const auto gives_up_at = kills_at + killing_time;
    if (left.empty() || now >= gives_up_at) return;
    const bool kills = now >= kills_at;
    for (const pid_t child : left)
      if (asked.insert(child).second || kills) kill(child, kills ? SIGKILL : SIGTERM);
    const auto time = std::chrono::ceil<std::chrono::milliseconds>((kills ? gives_up_at : kills_at) - now);
    pollfd one{signals, POLLIN, 0};
    if (poll(&one, 1, static_cast<int>(time.count())) <= 0) continue;
    signalfd_siginfo info;
    while (read(signals, &info, sizeof info) == static_cast<ssize_t>(sizeof info))
      if (info.ssi_signo != SIGCHLD) kills_at = std::min(kills_at, now);
  }
}

}  // namespace sukima::cluster
