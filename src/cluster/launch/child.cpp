// SPDX-License-Identifier: Apache-2.0
#include "launch/child.hpp"

#include "entry/environment.hpp"
#include "entry/inherited.hpp"

#include <base/shared/standard_streams.hpp>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <climits>
#include <csignal>

namespace sukima::cluster {

namespace {

void keep_from_blocking(int d) noexcept { fcntl(d, F_SETFL, fcntl(d, F_GETFL) | O_NONBLOCK); }

/// Runs in the child, before it executes the program.
/// \param output the pipe for stdout, or for the output of tasks
/// \returns false with errno if there is no descriptor for /dev/null: the node would write to the launcher's
/// stdout
bool prepare(const child_start& how, int input, int errors, int output) noexcept {
  if (how.own_session) setsid();
  dup2(input, STDIN_FILENO);
  dup2(errors, STDERR_FILENO);
  if (how.output == child_output::piped) dup2(output, STDOUT_FILENO);
  if (how.output == child_output::tasks) fcntl(output, F_SETFD, 0);
  // O_APPEND distinguishes it from a /dev/null that the program itself has opened.
  if (how.output == child_output::dropped || how.output == child_output::tasks)
    if (const int nowhere = open("/dev/null", O_WRONLY | O_APPEND | O_CLOEXEC);
        nowhere < 0 || dup2(nowhere, STDOUT_FILENO) < 0)
      return false;
  for (const int d : how.inherited) fcntl(d, F_SETFD, 0);
  if (!how.report_mark.empty()) fcntl(errors, F_SETFD, 0);
  sigprocmask(SIG_SETMASK, &how.mask, nullptr);
  return true;
}

}  // namespace

std::size_t most_at_once(int to) noexcept {
  struct stat s{};
  return fstat(to, &s) == 0 && S_ISREG(s.st_mode) ? chunk_size : PIPE_BUF;
}

void open_standard_streams() noexcept {
  process::occupy_closed_streams();
  for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) fcntl(number, F_SETFD, 0);
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

child start_child(const child_start& how) {
  constexpr const char* purpose = "no pipe for a node";
  pipe_ends input = make_pipe(purpose), errors = make_pipe(purpose), output = make_pipe(purpose);
  std::vector<std::string> variables = how.variables;
  std::vector<int> inherited = how.inherited;
  const auto inherit = [&](const char* name, const descriptor& end, const std::string& behind) {
    variables.push_back(std::string(name) + "=" + std::to_string(end.get()) + behind);
    inherited.push_back(end.get());
  };
  if (!how.report_mark.empty()) inherit(variable_report, errors.write_end, ":" + how.report_mark);
  if (how.output == child_output::tasks) inherit(variable_output, output.write_end, "");
  // Also if it is empty: this process may itself be a node, with files of its own launcher.
  variables.push_back(std::string(variable_files) + "=" + inherited_descriptor::files_of(inherited));
  child c;
  c.pid = process::start_program(
      {.arguments = how.program,
       .environment = process::environment_with(variables),
       .searches_path = true,
       .prepare =
           [&] { return prepare(how, input.read_end.get(), errors.write_end.get(), output.write_end.get()); },
       .ending_signal = SIGKILL});
  c.input = std::move(input.write_end);
  c.errors = std::move(errors.read_end);
  keep_from_blocking(c.input.get());
  keep_from_blocking(c.errors.get());
  if (how.output == child_output::piped || how.output == child_output::tasks) {
    c.output = std::move(output.read_end);
    keep_from_blocking(c.output.get());
  }
  return c;
}

std::vector<node_report> take_reports(child& from, std::string_view mark) {
  std::vector<node_report> others;
  for (node_report& report : take_reports(from.line, mark)) {
    if (report.status != 0) from.reported_status = report.status;
    if (report.kind == node_report::type::counts)
      from.counts = std::move(report.counts);
    else
      others.push_back(std::move(report));
  }
  return others;
}

void end_child(const child& c) noexcept {
  kill(c.pid, SIGKILL);
  waitpid(c.pid, nullptr, 0);
}

}  // namespace sukima::cluster
