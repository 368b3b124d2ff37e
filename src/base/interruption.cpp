// SPDX-License-Identifier: Apache-2.0
// Cleans up in a signal handler; see interruption.hpp.
#include "shared/interruption.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <vector>

namespace sukima::process {
namespace {

constexpr std::array ending_signals{SIGINT, SIGTERM, SIGHUP};

// The lists are changed while the signals are blocked, so the handler never sees a partial change.
std::vector<pid_t>& groups() {
  static std::vector<pid_t> list;
  return list;
}

struct doomed_directory {
  std::string path;
  directory_contents with;
};

std::vector<doomed_directory>& directories() {
  static std::vector<doomed_directory> list;
  return list;
}

std::array<struct sigaction, ending_signals.size()> actions_before{};

void end_with_all(int signal) {
  for (const pid_t group : groups()) kill(-group, SIGKILL);
  for (const pid_t group : groups()) waitpid(group, nullptr, 0);
  for (auto directory = directories().rbegin(); directory != directories().rend(); ++directory) {
    const char* const path = directory->path.c_str();
    switch (directory->with) {
      case directory_contents::none:
        remove_directory(path);
        break;
      case directory_contents::files:
        remove_directory_with_files(path);
        break;
      case directory_contents::tree:
        remove_directory_tree(path);
        break;
    }
  }
  std::signal(signal, SIG_DFL);
  raise(signal);
}

void catch_signals() {
  struct sigaction action{};
  action.sa_handler = end_with_all;
  sigemptyset(&action.sa_mask);
  // Only one handler runs at a time, so a second signal does not see lists that the first one is processing.
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

/// Changes the lists while no handler can run. The signals are caught exactly while one list is not empty.
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

removed_on_signal::removed_on_signal(std::string path, directory_contents with) : path_(std::move(path)) {
  change([&] { directories().push_back({path_, with}); });
}

removed_on_signal::~removed_on_signal() {
  change([&] { std::erase_if(directories(), [&](const auto& one) { return one.path == path_; }); });
}

namespace {

/// Ends the processes of a control group. Processes that left the killed process group would compete with the
/// next run.
void end_members(const char* group) noexcept {
  const int directory = open(group, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return;
  const int list = openat(directory, "cgroup.procs", O_RDONLY | O_CLOEXEC);
  close(directory);
  if (list < 0) return;
  char text[1024];
  pid_t member = 0;
  for (ssize_t count = 0; (count = read(list, text, sizeof text)) > 0;) {
    for (ssize_t i = 0; i < count; ++i) {
      if (text[i] >= '0' && text[i] <= '9') {
        member = member * 10 + (text[i] - '0');
        continue;
      }
      if (member > 1 && member != getpid()) kill(member, SIGKILL);
      member = 0;
    }
  }
  close(list);
}

}  // namespace

int remove_directory(const char* path) noexcept {
  constexpr timespec pause{0, 1'000'000};
  constexpr int most_tries = 1000, tries_before_ending = 50;
  for (int i = 0; i < most_tries; ++i) {
    if (rmdir(path) == 0) return 0;
    if (errno != EBUSY) return errno;
    if (i % tries_before_ending == tries_before_ending - 1) end_members(path);
    nanosleep(&pause, nullptr);
  }
  return EBUSY;
}

namespace {

bool remove_entry(int directory, const char* name, int levels) noexcept;

/// Removes the entries found by one read of a directory. \returns whether there was one
/// \param levels  how many levels of directories below are removed, too; 0: only files are
bool remove_some_entries(int directory, int levels) noexcept {
  // readdir(3) allocates, so this makes the system call itself. Each entry of the kernel has inode, offset,
  // length, type, name.
  constexpr std::size_t length_at = 16, name_at = 19;
  alignas(8) char entries[4096];
  bool any = false;
  const long bytes = syscall(SYS_getdents64, directory, entries, sizeof entries);
  for (long at = 0; at < bytes;) {
    unsigned short length = 0;
    std::memcpy(&length, entries + at + length_at, sizeof length);
    any = remove_entry(directory, entries + at + name_at, levels) || any;
    at += length;
  }
  return any;
}

void remove_entries(int directory, int levels) noexcept {
  // Removing entries may have moved others, so the directory is read again from its beginning.
  while (remove_some_entries(directory, levels)) lseek(directory, 0, SEEK_SET);
}

bool remove_entry(int directory, const char* name, int levels) noexcept {
  if (unlinkat(directory, name, 0) == 0) return true;
  if (levels == 0 || std::strcmp(name, ".") == 0 || std::strcmp(name, "..") == 0) return false;
  const int below = openat(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (below < 0) return false;
  remove_entries(below, levels - 1);
  close(below);
  return unlinkat(directory, name, AT_REMOVEDIR) == 0;
}

int remove_with_entries(const char* path, int levels) noexcept {
  const int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return errno;
  remove_entries(directory, levels);
  close(directory);
  return remove_directory(path);
}

}  // namespace

int remove_directory_with_files(const char* path) noexcept { return remove_with_entries(path, 0); }

int remove_directory_tree(const char* path) noexcept {
  constexpr int most_levels = 32;
  return remove_with_entries(path, most_levels);
}

}  // namespace sukima::process
