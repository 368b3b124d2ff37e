// SPDX-License-Identifier: Apache-2.0
// Cleaning up in a signal handler; see interruption.hpp.
#include "process/interruption.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <vector>

namespace sukima::cli {
namespace {

constexpr std::array ending_signals{SIGINT, SIGTERM, SIGHUP};

// The lists are changed with the signals blocked, so the handler finds them whole.
std::vector<pid_t>& groups() {
  static std::vector<pid_t> list;
  return list;
}

std::vector<std::string>& directories() {
  static std::vector<std::string> list;
  return list;
}

std::array<struct sigaction, ending_signals.size()> actions_before{};

void end_with_all(int signal) {
  for (const pid_t group : groups()) kill(-group, SIGKILL);
  for (const pid_t group : groups()) waitpid(group, nullptr, 0);
  for (auto directory = directories().rbegin(); directory != directories().rend(); ++directory)
    remove_directory(directory->c_str());
  std::signal(signal, SIG_DFL);
  raise(signal);
}

void catch_signals() {
  struct sigaction action{};
  action.sa_handler = end_with_all;
  sigemptyset(&action.sa_mask);
  // One handler at a time: a second signal must not find the lists half undone.
  for (const int signal : ending_signals) sigaddset(&action.sa_mask, signal);
  for (std::size_t i = 0; i < ending_signals.size(); ++i) {
    sigaction(ending_signals[i], nullptr, &actions_before[i]);
    if (actions_before[i].sa_handler != SIG_IGN) sigaction(ending_signals[i], &action, nullptr);
  }
}

void release_signals() {
  for (std::size_t i = 0; i < ending_signals.size(); ++i)
    sigaction(ending_signals[i], &actions_before[i], nullptr);
}

/// Changes the lists while no handler can run, and catches the signals exactly while one is not empty.
void change(auto&& how) {
  sigset_t blocked, before;
  sigemptyset(&blocked);
  for (const int signal : ending_signals) sigaddset(&blocked, signal);
  sigprocmask(SIG_BLOCK, &blocked, &before);
  const auto anything = [] { return !groups().empty() || !directories().empty(); };
  const bool caught = anything();
  how();
  if (anything() && !caught) catch_signals();
  if (!anything() && caught) release_signals();
  sigprocmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace

killed_on_signal::killed_on_signal(pid_t group) : group_(group) {
  change([&] { groups().push_back(group_); });
}

killed_on_signal::~killed_on_signal() {
  change([&] { std::erase(groups(), group_); });
}

removed_on_signal::removed_on_signal(std::string path) : path_(std::move(path)) {
  change([&] { directories().push_back(path_); });
}

removed_on_signal::~removed_on_signal() {
  change([&] { std::erase(directories(), path_); });
}

int remove_directory(const char* path) noexcept {
  constexpr timespec pause{0, 1'000'000};
  constexpr int most_tries = 1000;
  for (int i = 0; i < most_tries; ++i) {
    if (rmdir(path) == 0) return 0;
    if (errno != EBUSY) return errno;
    nanosleep(&pause, nullptr);
  }
  return EBUSY;
}

}  // namespace sukima::cli
