// SPDX-License-Identifier: Apache-2.0
// Running a program with its signals; see watched_program.hpp.
#include "explain/watched_program.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "argument_pointers.hpp"
#include "console.hpp"

namespace sukima::cli::explain {
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
      // What this process was told to ignore, as by nohup, the program ignores, too.
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

std::vector<std::string> environment_with(const std::string& trace_file) {
  std::vector<std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry)
    if (!std::string_view(*entry).starts_with("SUKIMA_TRACE=")) variables.emplace_back(*entry);
  variables.push_back("SUKIMA_TRACE=" + trace_file);
  return variables;
}

}  // namespace

temporary_directory::temporary_directory() {
  path_ = (std::filesystem::temp_directory_path() / "sukima-explain-XXXXXX").string();
  if (mkdtemp(path_.data()) == nullptr)
    throw std::system_error(errno, std::generic_category(), "a directory for the trace, " + path_);
}

temporary_directory::~temporary_directory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

program_end run_traced(std::vector<std::string> arguments, const std::string& trace_file) {
  std::vector<std::string> variables = environment_with(trace_file);
  const std::vector<char*> argument_pointers = pointers_to(arguments);
  const std::vector<char*> environment_pointers = pointers_to(variables);
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
  int status = 0;
  while (waitpid(program, &status, 0) < 0 && errno == EINTR) {
  }
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 0, WIFSIGNALED(status) ? WTERMSIG(status) : 0};
}

}  // namespace sukima::cli::explain
