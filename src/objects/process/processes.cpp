// SPDX-License-Identifier: Apache-2.0
#include "process/processes.hpp"

#include <runtime/shared/start_thread.hpp>
#include <sukima/detail/own_thread.hpp>

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "program/program_core.hpp"
#include "stream/remote.hpp"

extern char** environ;

namespace sukima::objects::detail {

namespace {

[[noreturn]] void throw_no_process(int error) {
  throw std::system_error(error, std::generic_category(),
                          "sukima: a process for objects cannot be started from /proc/self/exe; choose a "
                          "model without processes, such as SUKIMA_OBJECTS=threads:simulated");
}

std::string way_of_end(const siginfo_t& how) {
  if (how.si_code == CLD_EXITED) return "ended with code " + std::to_string(how.si_status);
  const char* const name = sigabbrev_np(how.si_status);
  return "was killed by signal " + std::to_string(how.si_status) +
         (name != nullptr ? std::string(" (SIG") + name + ")" : std::string());
}

/// The attributes of a new process. It runs main, so no signal is blocked in it, whatever thread spawns it.
struct spawn_plan {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  spawn_plan() {
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  }
  spawn_plan(const spawn_plan&) = delete;
  spawn_plan& operator=(const spawn_plan&) = delete;
  ~spawn_plan() {
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
  }
};

}  // namespace

void child_processes::start_one(child& c, char** argv, int folder) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) throw_no_process(errno);
  c.socket = beyond_standard(descriptor(ends[0]));
  const descriptor theirs = beyond_standard(descriptor(ends[1]));
  if (c.socket.get() < 0 || theirs.get() < 0) throw_no_process(errno);
  std::string role(child_variable);
  role.append("=").append(std::to_string(theirs.get())).append(",").append(std::to_string(memory_.file()));
  role.append(",").append(std::to_string(c.process));
  std::vector<char*> variables;
  for (char** v = environ; *v != nullptr; ++v)
    if (std::strncmp(*v, role.c_str(), std::strlen(child_variable) + 1) != 0) variables.push_back(*v);
  variables.push_back(role.data());
  variables.push_back(nullptr);
  spawn_plan plan;
  // The child gets these descriptors under the same numbers, although they are closed for all other programs.
  // Its stdin is /dev/null, so that it takes no input from the parent.
  posix_spawn_file_actions_adddup2(&plan.files, theirs.get(), theirs.get());
  posix_spawn_file_actions_adddup2(&plan.files, memory_.file(), memory_.file());
  for (const descriptor& end : memory_.pipes())
    posix_spawn_file_actions_adddup2(&plan.files, end.get(), end.get());
  if (folder >= 0) posix_spawn_file_actions_addfchdir_np(&plan.files, folder);
  posix_spawn_file_actions_addopen(&plan.files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  if (const int error =
          posix_spawn(&c.id, "/proc/self/exe", &plan.files, &plan.attributes, argv, variables.data()))
    throw_no_process(error);
  c.handle = descriptor(static_cast<int>(syscall(SYS_pidfd_open, c.id, 0)));
  if (c.handle.get() < 0) {
    const int error = errno;
    kill(c.id, SIGKILL);
    waitpid(c.id, nullptr, 0);
    c.id = -1;
    throw_no_process(error);
  }
}

void child_processes::start(char** argv, int folder) {
  children_.resize(memory_.header().processes - 1);
  for (std::size_t i = 0; i < children_.size(); ++i) {
    child& c = children_[i];
    c.process = static_cast<std::uint32_t>(i + 1);
    for (const auto& o : of_.objects)
      if (o->process == c.process) c.name += (c.name.empty() ? "" : ", ") + o->name;
  }
  for (child& c : children_) start_one(c, argv, folder);
  while (!std::all_of(children_.begin(), children_.end(), [](const child& c) { return c.is_ready; })) {
    next_event();
    if (start_error_) std::rethrow_exception(start_error_);
  }
}

void child_processes::watch() {
  const sukima::detail::signals_blocked here;
  thread_ = sukima::detail::start_thread("the processes of objects", [this] {
    pthread_setname_np(pthread_self(), "sukima-children");
    while (next_event()) {
    }
  });
}

void child_processes::wait() {
  if (thread_.joinable()) thread_.join();
}

child_processes::~child_processes() {
  for (const child& c : children_)
    if (c.handle.get() >= 0) syscall(SYS_pidfd_send_signal, c.handle.get(), SIGKILL, nullptr, 0);
  wait();
  for (const child& c : children_)
    if (c.id >= 0 && !c.has_ended) waitpid(c.id, nullptr, 0);
}

bool child_processes::next_event() {
  std::vector<pollfd> waits;
  std::vector<child*> whose;
  for (child& c : children_) {
    if (c.has_ended) continue;
    for (const int file : {c.socket.get(), c.handle.get()}) {
      waits.push_back({file, POLLIN, 0});
      whose.push_back(&c);
    }
  }
  if (waits.empty()) return false;
  if (poll(waits.data(), waits.size(), -1) < 0) return true;  // a signal
  for (std::size_t i = 0; i < waits.size(); i += 2) {
    child& c = *whose[i];
    if (waits[i].revents != 0 || waits[i + 1].revents != 0) read_reports(c);
    if (waits[i + 1].revents != 0) note_end(c);
  }
  return true;
}

void child_processes::read_reports(child& c) {
  char message[most_report];
  while (c.socket.get() >= 0) {
    const ssize_t size = recv(c.socket.get(), message, sizeof message, MSG_DONTWAIT);
    if (size == 0) c.socket = descriptor();  // poll then ignores it
    if (size <= 0) break;
    const std::string text(message + 1, static_cast<std::size_t>(size) - 1);
    switch (static_cast<report>(message[0])) {
      case report::ready:
        c.is_ready = true;
        break;
      case report::done:
        c.is_done = true;
        break;
      case report::differs:
        start_error_ = std::make_exception_ptr(
            usage_error("sukima: the process of " + c.name + " declares " + text +
                        "; what a program declares must not depend on time, input or environment"));
        break;
      case report::failed:
      case report::suffered:
        of_.note_error(std::make_exception_ptr(object_failed("sukima: " + text)), {},
                       static_cast<report>(message[0]) == report::suffered);
        break;
    }
  }
}

void child_processes::note_end(child& c) {
  siginfo_t how{};
  const bool is_known =
      waitid(P_PIDFD, static_cast<id_t>(c.handle.get()), &how, WEXITED | WNOHANG) == 0 && how.si_pid != 0;
  read_reports(c);  // its last reports
  c.has_ended = true;
  std::string failure;
  if (!c.is_done) {
    failure = "the process of " + c.name + " " + (is_known ? way_of_end(how) : "has ended");
    if (c.is_ready)
      of_.note_error(std::make_exception_ptr(object_failed("sukima: " + failure)), {}, false);
    else if (!start_error_)
      start_error_ = std::make_exception_ptr(object_failed("sukima: " + failure + " before program::run"));
  }
  close_ends_of_dead_process(of_, memory_, c.process, failure);
}

}  // namespace sukima::objects::detail
