// SPDX-License-Identifier: Apache-2.0
// Running a program with its signals; see program.hpp.
#include "process/program.hpp"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>

#include "console.hpp"

namespace sukima::cli {
namespace {

constexpr std::array passed_signals{SIGINT,  SIGQUIT, SIGTERM,  SIGHUP, SIGUSR1,
                                    SIGUSR2, SIGALRM, SIGWINCH, SIGCONT};

/// The program, for the handler; 0: none yet.
std::atomic<pid_t> running{0};

void pass_on(int signal, siginfo_t* info, void*) {
  const int error = errno;
  const pid_t program = running.load();
  // The kernel's signals (a key, a terminal that is gone) went to the whole process group.
  if (program != 0 && info->si_code <= 0) kill(program, signal);
  errno = error;
}

/// Passes signals on while it exists.
class signal_passing {
 public:
  signal_passing() {
    sigemptyset(&blocked_);
    for (const int signal : passed_signals) sigaddset(&blocked_, signal);
    // Held until the program is known, so that none is lost.
    sigprocmask(SIG_BLOCK, &blocked_, &before_);
    struct sigaction action{};
    action.sa_sigaction = pass_on;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    action.sa_mask = blocked_;
    for (std::size_t i = 0; i < passed_signals.size(); ++i) {
      sigaction(passed_signals[i], nullptr, &actions_before_[i]);
      // Signals that this process ignores, as by nohup, the program ignores, too.
      if (actions_before_[i].sa_handler == SIG_IGN) continue;
      sigaction(passed_signals[i], &action, nullptr);
      sigaddset(&handled_, passed_signals[i]);
    }
  }
  ~signal_passing() {
    sigprocmask(SIG_BLOCK, &blocked_, nullptr);
    running.store(0);
    for (std::size_t i = 0; i < passed_signals.size(); ++i)
      sigaction(passed_signals[i], &actions_before_[i], nullptr);
    sigprocmask(SIG_SETMASK, &before_, nullptr);
  }
  signal_passing(const signal_passing&) = delete;
  signal_passing& operator=(const signal_passing&) = delete;

  void begin(pid_t program) {
    running.store(program);
    sigprocmask(SIG_SETMASK, &before_, nullptr);
  }
  const sigset_t& mask_before() const { return before_; }
  /// The signals that the program must find with their usual effect.
  const sigset_t& handled() const { return handled_; }

 private:
  sigset_t blocked_, before_;
  sigset_t handled_ = [] {
    sigset_t none;
    sigemptyset(&none);
    return none;
  }();
  std::array<struct sigaction, passed_signals.size()> actions_before_{};
};

/// Waits until the program has ended; meanwhile stops when it stops.
int wait_for(pid_t program) {
  int status = 0;
  for (;;) {
    if (waitpid(program, &status, WUNTRACED) < 0) {
      if (errno == EINTR) continue;
      return 0;
    }
    if (!WIFSTOPPED(status)) return status;
    // The shell sees only this process. The signal that stopped the program would be handled above.
    raise(SIGSTOP);
    kill(program, SIGCONT);
  }
}

}  // namespace

program_end run_program(std::vector<std::string> arguments, std::vector<std::string> environment) {
  const std::vector<char*> argument_pointers = pointers_to(arguments);
  const std::vector<char*> environment_pointers = pointers_to(environment);
  signal_passing passing;
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigmask(&attributes, &passing.mask_before());
  posix_spawnattr_setsigdefault(&attributes, &passing.handled());
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  pid_t program = 0;
  const int failure = posix_spawnp(&program, argument_pointers[0], nullptr, &attributes,
                                   argument_pointers.data(), environment_pointers.data());
  posix_spawnattr_destroy(&attributes);
  if (failure != 0)
    throw usage_error(fmt::format("'{}' cannot be started: {}", arguments[0], std::strerror(failure)));
  passing.begin(program);
  const int status = wait_for(program);
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

std::vector<std::string> environment_with(const std::vector<std::string>& variables) {
  const auto name_of = [](std::string_view entry) { return entry.substr(0, entry.find('=')); };
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const auto replaces = [&](const std::string& v) { return name_of(v) == name_of(*entry); };
    if (std::ranges::none_of(variables, replaces)) all.emplace_back(*entry);
  }
  all.insert(all.end(), variables.begin(), variables.end());
  return all;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

void end_by(int signal) {
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);  // the program's core is the interesting one
  std::signal(signal, SIG_DFL);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signal);
  sigprocmask(SIG_UNBLOCK, &only, nullptr);
  std::raise(signal);
}

}  // namespace sukima::cli
