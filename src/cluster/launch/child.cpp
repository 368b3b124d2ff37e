// SPDX-License-Identifier: Apache-2.0
#include "launch/child.hpp"

#include "entry/environment.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <system_error>

extern char** environ;

namespace sukima::cluster {

namespace {

[[noreturn]] void fail(const std::string& what, int error) {
  throw std::system_error(error, std::generic_category(), what);
}

std::pair<descriptor, descriptor> make_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) fail("no pipe for a node", errno);
  return {descriptor(ends[0]), descriptor(ends[1])};
}

void keep_from_blocking(int d) noexcept { fcntl(d, F_SETFL, fcntl(d, F_GETFL) | O_NONBLOCK); }

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

/// This process's variables, with those replaced that are given.
std::vector<std::string> environment_with(const std::vector<std::string>& more) {
  std::vector<std::string> all = more;
  for (char** v = environ; *v != nullptr; ++v) {
    const std::string_view own(*v);
    const std::string_view name = own.substr(0, own.find('=') + 1);
    bool replaced = false;
    for (const std::string& other : more) replaced |= std::string_view(other).starts_with(name);
    if (!replaced) all.emplace_back(own);
  }
  return all;
}

/// In the child, after fork(): only calls that are safe there. Returns if the program cannot be started.
/// \param output where stdout goes if it is piped, or the output of tasks
void become(const child_start& how, int input, int errors, int output, char** arguments, char** variables,
            pid_t launcher) noexcept {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != launcher) _exit(1);  // it was killed before that
  if (how.own_session) setsid();
  dup2(input, STDIN_FILENO);
  dup2(errors, STDERR_FILENO);
  if (how.output == child_output::piped) dup2(output, STDOUT_FILENO);
  if (how.output == child_output::tasks) fcntl(output, F_SETFD, 0);
  // O_APPEND distinguishes it from a /dev/null that the program itself has opened.
  if (how.output == child_output::dropped || how.output == child_output::tasks)
    if (const int nowhere = open("/dev/null", O_WRONLY | O_APPEND); nowhere >= 0)
      dup2(nowhere, STDOUT_FILENO);
  for (const int d : how.inherited) fcntl(d, F_SETFD, 0);
  if (!how.report_mark.empty()) fcntl(errors, F_SETFD, 0);
  sigprocmask(SIG_SETMASK, &how.mask, nullptr);
  execvpe(arguments[0], arguments, variables);
}

}  // namespace

std::size_t most_at_once(int to) noexcept {
  struct stat s{};
  return fstat(to, &s) == 0 && S_ISREG(s.st_mode) ? chunk_size : PIPE_BUF;
}

void open_standard_streams() noexcept {
  for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(number, F_GETFD) < 0)  // the lowest that is free is this one
      static_cast<void>(open("/dev/null", number == STDERR_FILENO ? O_WRONLY : O_RDONLY));
}

void write_whole(int number, std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t put = write(number, text.data(), text.size());
    if (put < 0 && errno == EAGAIN) {
      pollfd one{number, POLLOUT, 0};
      poll(&one, 1, -1);
    } else if (put >= 0) {
      text.remove_prefix(static_cast<std::size_t>(put));
    } else if (errno != EINTR) {
      return;
    }
  }
}

void descriptor::reset() noexcept {
  if (number_ >= 0) close(number_);
  number_ = -1;
}

child start_child(const child_start& how) {
  auto [input, to_child] = make_pipe();
  auto [from_child, errors] = make_pipe();
  auto [from_output, output] = make_pipe();
  auto [started, failed] = make_pipe();  // closed by exec, or gets errno
  std::vector<std::string> words = how.program;
  std::vector<std::string> variables_to_set = how.variables;
  if (!how.report_mark.empty())
    variables_to_set.push_back(std::string(variable_report) + "=" + std::to_string(errors.get()) + ":" +
                               how.report_mark);
  if (how.output == child_output::tasks)
    variables_to_set.push_back(std::string(variable_output) + "=" + std::to_string(output.get()));
  std::vector<std::string> environment = environment_with(variables_to_set);
  const std::vector<char*> arguments = pointers(words);
  const std::vector<char*> variables = pointers(environment);
  const pid_t launcher = getpid();
  child c;
  c.pid = fork();
  if (c.pid < 0) fail("no process for a node", errno);
  if (c.pid == 0) {
    become(how, input.get(), errors.get(), output.get(), const_cast<char**>(arguments.data()),
           const_cast<char**>(variables.data()), launcher);
    const int error = errno;
    static_cast<void>(!write(failed.get(), &error, sizeof error));
    _exit(127);
  }
  failed.reset();
  int error = 0;
  ssize_t got = 0;
  while ((got = read(started.get(), &error, sizeof error)) < 0 && errno == EINTR) {
  }
  if (got > 0) {
    waitpid(c.pid, nullptr, 0);
    fail(how.program.front(), error);
  }
  c.input = std::move(to_child);
  c.errors = std::move(from_child);
  keep_from_blocking(c.input.get());
  keep_from_blocking(c.errors.get());
  if (how.output == child_output::piped || how.output == child_output::tasks) {
    c.output = std::move(from_output);
    keep_from_blocking(c.output.get());
  }
  return c;
}

void end_child(const child& c) noexcept {
  kill(c.pid, SIGKILL);
  waitpid(c.pid, nullptr, 0);
}

}  // namespace sukima::cluster
