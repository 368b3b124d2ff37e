// SPDX-License-Identifier: Apache-2.0
// Starts a program as a child process; see start_program.hpp.
#include "shared/start_program.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <string_view>
#include <system_error>

#include "shared/descriptor.hpp"

namespace sukima::process {
namespace {

/// If SIGCHLD is ignored, as a parent may have left it, the kernel reaps children, and discards how they
/// ended.
void keep_ended_children() {
  struct sigaction action{};
  sigaction(SIGCHLD, nullptr, &action);
  if (action.sa_handler != SIG_IGN && (action.sa_flags & SA_NOCLDWAIT) == 0) return;
  if (action.sa_handler == SIG_IGN) action.sa_handler = SIG_DFL;
  action.sa_flags &= ~SA_NOCLDWAIT;
  sigaction(SIGCHLD, &action, nullptr);
}

/// Runs in the child between fork and exec: only async-signal-safe calls. Writes errno to the parent on
/// failure.
[[noreturn]] void become(const program_start& how, char* const* arguments, char* const* environment,
                         pid_t parent, int report) {
  if (how.ending_signal != 0) prctl(PR_SET_PDEATHSIG, how.ending_signal);
  if (getppid() != parent) _exit(127);  // the parent ended before the line above
  if (!how.prepare || how.prepare()) {
    if (how.searches_path)
      execvpe(arguments[0], arguments, environment);
    else
      execve(arguments[0], arguments, environment);
  }
  const int reason = errno;
  [[maybe_unused]] const ssize_t written = write(report, &reason, sizeof reason);
  _exit(127);
}

/// Waits until the child has become its program, or has reported an errno, regardless of arriving signals.
/// \returns the errno, or 0
int reason_of_failure(int report) {
  int reason = 0;
  ssize_t count = 0;
  do {
    count = read(report, &reason, sizeof reason);
  } while (count < 0 && errno == EINTR);
  return count == static_cast<ssize_t>(sizeof reason) ? reason : 0;
}

}  // namespace

pid_t start_program(const program_start& how) {
  std::vector<std::string> argument_texts = how.arguments;
  std::vector<std::string> environment_texts = how.environment;
  const std::vector<char*> arguments = pointers_to(argument_texts);
  const std::vector<char*> environment = pointers_to(environment_texts);
  pipe_ends report = make_pipe(("no pipe to start " + how.arguments.front()).c_str());
  keep_ended_children();
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0)
    throw std::system_error(errno, std::generic_category(), "no process for " + how.arguments.front());
  if (child == 0) become(how, arguments.data(), environment.data(), parent, report.write_end.get());
  if (how.on_fork) how.on_fork(child);
  report.write_end.reset();
  if (const int reason = reason_of_failure(report.read_end.get()); reason != 0) {
    while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
    throw std::system_error(reason, std::generic_category(), how.arguments.front());
  }
  return child;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
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

}  // namespace sukima::process
