// SPDX-License-Identifier: Apache-2.0
// Runs a program and passes signals on to it; see program.hpp.
#include "shared/program.hpp"

#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "shared/errors.hpp"
#include "shared/executable.hpp"
#include "shared/start_program.hpp"

namespace sukima::process {
namespace {

constexpr std::array passed_signals{SIGINT,  SIGQUIT, SIGTERM,  SIGHUP, SIGUSR1,
                                    SIGUSR2, SIGALRM, SIGWINCH, SIGCONT};

/// While an object exists, the passed signals and SIGCHLD stay pending until `next` takes them. So none is
/// lost before the program exists, and no code runs in a handler (ThreadSanitizer delays handlers until
/// waitpid returns).
class held_signals {
 public:
  held_signals() {
    sigemptyset(&held_);
    for (const int signal : passed_signals) {
      struct sigaction action{};
      sigaction(signal, nullptr, &action);
      // The program must also ignore signals that this process ignores, as under nohup.
      if (action.sa_handler != SIG_IGN) sigaddset(&held_, signal);
    }
    sigaddset(&held_, SIGCHLD);
    sigprocmask(SIG_BLOCK, &held_, &mask_before_);
    // If SIGCHLD is ignored, the kernel reaps children, and the program's exit status is lost.
    struct sigaction action{};
    action.sa_handler = SIG_DFL;
    sigaction(SIGCHLD, &action, &child_action_before_);
  }
  ~held_signals() {
    sigaction(SIGCHLD, &child_action_before_, nullptr);
    sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
  }
  held_signals(const held_signals&) = delete;
  held_signals& operator=(const held_signals&) = delete;

  /// Waits for a signal, and returns it.
  siginfo_t next() const {
    siginfo_t info{};
    while (sigwaitinfo(&held_, &info) < 0 && errno == EINTR) {
    }
    return info;
  }
  const sigset_t& mask_before() const { return mask_before_; }

 private:
  sigset_t held_{}, mask_before_{};
  struct sigaction child_action_before_{};
};

/// Waits until the program has ended. In the meantime it stops when the program stops, and passes signals on.
int wait_for(pid_t program, const held_signals& signals) {
  for (;;) {
    const siginfo_t info = signals.next();
    if (info.si_signo != SIGCHLD) {
      // The kernel has sent its signals (a key, a closed terminal) to the whole process group.
      if (info.si_code <= 0) kill(program, info.si_signo);
      continue;
    }
    // One SIGCHLD can represent several changes.
    int status = 0;
    while (waitpid(program, &status, WUNTRACED | WNOHANG) == program) {
      if (!WIFSTOPPED(status)) return status;
      // The shell sees only this process. None of the held signals would stop this process, so SIGSTOP is
      // used.
      raise(SIGSTOP);
      kill(program, SIGCONT);
    }
  }
}

}  // namespace

program_end run_program(std::vector<std::string> arguments, std::vector<std::string> environment) {
  const std::vector<char*> argument_pointers = pointers_to(arguments);
  const std::vector<char*> environment_pointers = pointers_to(environment);
  const held_signals signals;
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigmask(&attributes, &signals.mask_before());
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t program = 0;
  int failure = posix_spawnp(&program, argument_pointers[0], nullptr, &attributes, argument_pointers.data(),
                             environment_pointers.data());
  // The shell runs a script without #!, as with execvp(3). posix_spawnp(3) no longer does that itself.
  if (failure == ENOEXEC)
    if (const auto file = find_program(arguments[0], std::getenv("PATH"))) {
      std::vector<std::string> script{"/bin/sh", file->string()};
      script.insert(script.end(), arguments.begin() + 1, arguments.end());
      failure = posix_spawn(&program, script[0].c_str(), nullptr, &attributes, pointers_to(script).data(),
                            environment_pointers.data());
    }
  posix_spawnattr_destroy(&attributes);
  if (failure != 0) throw start_error(arguments[0], failure);
  const int status = wait_for(program, signals);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 0, WIFSIGNALED(status) ? WTERMSIG(status) : 0};
}

std::optional<std::vector<std::string>> take_program(std::string_view command, int& argc, char** argv) {
  if (argc < 2 || std::string_view(argv[1]) != command) return std::nullopt;
  for (int i = 2; i < argc; ++i) {
    if (std::string_view(argv[i]) != "--") continue;
    std::vector<std::string> program(argv + i + 1, argv + argc);
    argc = i;
    return program;
  }
  return std::nullopt;
}

void end_by(int signal) {
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);  // the user needs the program's core dump
  std::signal(signal, SIG_DFL);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signal);
  sigprocmask(SIG_UNBLOCK, &only, nullptr);
  std::raise(signal);
}

}  // namespace sukima::process
