// SPDX-License-Identifier: Apache-2.0
// Child processes with a time limit; see child.hpp.
#include "child.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>
#include <string_view>
#include <system_error>

namespace sukima::cli::bench {
namespace {

using clock = std::chrono::steady_clock;

constexpr std::size_t output_limit = 1 << 20;

/// The group to take along when a signal ends this process. Written by the only thread, read by its handler.
volatile std::sig_atomic_t running_group = 0;

void end_with_group(int signal) {
  if (running_group != 0) kill(-static_cast<pid_t>(running_group), SIGKILL);
  std::signal(signal, SIG_DFL);
  raise(signal);
}

/// Installs end_with_group for the signals that end a program, unless the caller's parent has them ignored.
class signal_guard {
 public:
  signal_guard() {
    struct sigaction action{};
    action.sa_handler = end_with_group;
    sigemptyset(&action.sa_mask);
    for (std::size_t i = 0; i < signals.size(); ++i) {
      sigaction(signals[i], nullptr, &before_[i]);
      if (before_[i].sa_handler != SIG_IGN) sigaction(signals[i], &action, nullptr);
    }
  }
  ~signal_guard() {
    running_group = 0;
    for (std::size_t i = 0; i < signals.size(); ++i) sigaction(signals[i], &before_[i], nullptr);
  }
  signal_guard(const signal_guard&) = delete;
  signal_guard& operator=(const signal_guard&) = delete;

 private:
  static constexpr std::array signals{SIGINT, SIGTERM, SIGHUP};
  std::array<struct sigaction, 3> before_{};
};

class descriptor {
 public:
  descriptor() = default;
  explicit descriptor(int number) : number_(number) {}
  ~descriptor() { close(); }
  descriptor(const descriptor&) = delete;
  descriptor& operator=(const descriptor&) = delete;
  int get() const { return number_; }
  void reset(int number) {
    close();
    number_ = number;
  }
  void close() {
    if (number_ >= 0) ::close(number_);
    number_ = -1;
  }

 private:
  int number_ = -1;
};

void make_pipe(descriptor& read_end, descriptor& write_end) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  read_end.reset(ends[0]);
  write_end.reset(ends[1]);
}

std::vector<std::string> child_environment(const child_request& request) {
  std::vector<std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::string_view name = text.substr(0, text.find('='));
    const bool passed = name.starts_with("SUKIMA_") || name == "PATH" || name == "HOME" || name == "TMPDIR" ||
                        name == "LD_LIBRARY_PATH";
    const bool replaced =
        std::ranges::any_of(request.environment, [&](const auto& own) { return own.first == name; });
    if (passed && !replaced) variables.emplace_back(text);
  }
  variables.emplace_back("LC_ALL=C");
  for (const auto& [name, value] : request.environment)
    variables.push_back(fmt::format("{}={}", name, value));
  return variables;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// What the child does between fork and exec: only async-signal-safe calls. Tells the parent errno on
/// failure.
[[noreturn]] void become(pid_t parent, char* const* arguments, char* const* environment, int input,
                         int output, int errors, int report) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);  // the parent ended before it could be watched
  for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) std::signal(signal, SIG_DFL);
  if (dup2(input, STDIN_FILENO) >= 0 && dup2(output, STDOUT_FILENO) >= 0 &&
      dup2(errors, STDERR_FILENO) >= 0) {
    execve(arguments[0], arguments, environment);
  }
  const int reason = errno;
  [[maybe_unused]] const ssize_t written = write(report, &reason, sizeof reason);
  _exit(127);
}

/// Reads what is there; false at the end of the stream. Output beyond the limit is read and dropped.
bool read_some(int file_descriptor, std::string& into) {
  std::array<char, 4096> buffer;
  const ssize_t count = read(file_descriptor, buffer.data(), buffer.size());
  if (count < 0) return errno == EAGAIN || errno == EINTR;
  const std::size_t room = output_limit - std::min(into.size(), output_limit);
  into.append(buffer.data(), std::min(static_cast<std::size_t>(count), room));
  return count > 0;
}

/// Milliseconds for poll(2) until a moment, rounded up; -1 (forever) without one.
int poll_timeout(std::optional<clock::time_point> moment) {
  if (!moment) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*moment - clock::now()).count();
  return static_cast<int>(std::clamp<long long>(left, 0, 1'000'000'000));
}

void drain(descriptor& stream, std::string& into) {
  while (stream.get() >= 0) {
    pollfd waiting{stream.get(), POLLIN, 0};
    if (poll(&waiting, 1, 0) <= 0 || !read_some(stream.get(), into)) stream.close();
  }
}

void open_input(const std::string& input, descriptor& file) {
  file.reset(input.empty() ? open("/dev/null", O_RDONLY | O_CLOEXEC)
                           : memfd_create("sukima-input", MFD_CLOEXEC));
  for (std::size_t done = 0; file.get() >= 0 && done < input.size();) {
    const ssize_t count = write(file.get(), input.data() + done, input.size() - done);
    if (count < 0 && errno != EINTR)
      throw std::system_error(errno, std::generic_category(), "stdin of a program");
    if (count > 0) done += static_cast<std::size_t>(count);
  }
  if (file.get() < 0) throw std::system_error(errno, std::generic_category(), "stdin of a program");
  lseek(file.get(), 0, SEEK_SET);
}

}  // namespace

child_result run_child(const child_request& request) {
  descriptor input, output, output_end, errors, errors_end, report, report_end;
  open_input(request.input, input);
  make_pipe(output, output_end);
  make_pipe(errors, errors_end);
  make_pipe(report, report_end);
  std::vector<std::string> argument_texts = request.arguments;
  std::vector<std::string> environment_texts = child_environment(request);
  const std::vector<char*> arguments = pointers_to(argument_texts);
  const std::vector<char*> environment = pointers_to(environment_texts);

  const signal_guard guard;
  const auto start = clock::now();
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (child == 0) {
    become(parent, arguments.data(), environment.data(), input.get(), output_end.get(), errors_end.get(),
           report_end.get());
  }
  setpgid(child, child);  // here as well as there: the group exists whoever comes first
  running_group = child;
  output_end.close();
  errors_end.close();
  report_end.close();

  int reason = 0;
  if (read(report.get(), &reason, sizeof reason) == static_cast<ssize_t>(sizeof reason)) {
    waitpid(child, nullptr, 0);
    throw std::system_error(reason, std::generic_category(), request.arguments[0]);
  }

  // glibc 2.36 declares pidfd_open without C linkage, so it cannot be called by its name from C++.
  const descriptor ended(static_cast<int>(syscall(SYS_pidfd_open, child, 0)));
  if (ended.get() < 0) {
    const int why = errno;
    kill(-child, SIGKILL);
    waitpid(child, nullptr, 0);
    throw std::system_error(why, std::generic_category(), "watching a program (pidfd_open)");
  }
  child_result result;
  std::optional<clock::time_point> deadline, notice;
  if (request.limit.count() > 0) deadline = start + request.limit;
  if (request.notice) notice = request.notice_at;
  for (bool running = true; running;) {
    std::array<pollfd, 3> waiting{
        {{ended.get(), POLLIN, 0}, {output.get(), POLLIN, 0}, {errors.get(), POLLIN, 0}}};
    const auto next = notice && (!deadline || *notice < *deadline) ? notice : deadline;
    if (poll(waiting.data(), waiting.size(), poll_timeout(next)) < 0 && errno != EINTR) break;
    if (waiting[1].revents != 0 && !read_some(output.get(), result.output)) output.close();
    if (waiting[2].revents != 0 && !read_some(errors.get(), result.errors)) errors.close();
    running = waiting[0].revents == 0;
    const auto now = clock::now();
    if (running && notice && now >= *notice) {
      request.notice();
      notice.reset();
    }
    if (running && deadline && now >= *deadline) {
      result.timed_out = true;
      running = false;
    }
  }
  // Also after an ordinary end: what the program left behind would compete with the next one.
  kill(-child, SIGKILL);
  int status = 0;
  rusage usage{};
  while (wait4(child, &status, 0, &usage) < 0 && errno == EINTR) {
  }
  result.seconds = std::chrono::duration<double>(clock::now() - start).count();
  drain(output, result.output);
  drain(errors, result.errors);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  result.cpu_seconds = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  return result;
}

std::string describe_failure(const child_result& result, std::chrono::nanoseconds limit) {
  if (result.timed_out) {
    return fmt::format("did not end within {:g} s and was killed",
                       std::chrono::duration<double>(limit).count());
  }
  if (result.signal != 0) {
    return fmt::format("was killed by signal {} ({})", result.signal, strsignal(result.signal));
  }
  if (result.exit_code != 0) return fmt::format("ended with exit code {}", result.exit_code);
  return {};
}

}  // namespace sukima::cli::bench
