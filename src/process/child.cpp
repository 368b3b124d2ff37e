// SPDX-License-Identifier: Apache-2.0
// Child processes with a time limit; see child.hpp.
#include "shared/child.hpp"

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
#include <iterator>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>

#include "shared/interruption.hpp"
#include "shared/program.hpp"

namespace sukima::process {
namespace {

using clock = std::chrono::steady_clock;

constexpr std::size_t output_limit = 1 << 20;

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

/// Opens the write end of a pipe, or of a file, which then has no read end.
void open_output(const std::string& file, descriptor& read_end, descriptor& write_end) {
  if (file.empty()) return make_pipe(read_end, write_end);
  write_end.reset(open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (write_end.get() < 0) throw std::system_error(errno, std::generic_category(), file);
}

/// Moves this process into the control group with that file of processes; nothing to do without one.
bool enter(const char* cpu_group) {
  if (*cpu_group == '\0') return true;
  const int file = open(cpu_group, O_WRONLY | O_CLOEXEC);
  return file >= 0 && write(file, "0", 1) == 1 && close(file) == 0;
}

/// Between fork and exec in the child: only async-signal-safe calls. Reports errno to the parent on failure.
[[noreturn]] void become(pid_t parent, const char* cpu_group, char* const* arguments,
                         char* const* environment, int input, int output, int errors, int report) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);  // the parent ended before the line above
  for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) std::signal(signal, SIG_DFL);
  if (enter(cpu_group) && dup2(input, STDIN_FILENO) >= 0 && dup2(output, STDOUT_FILENO) >= 0 &&
      dup2(errors, STDERR_FILENO) >= 0) {
    execve(arguments[0], arguments, environment);
  }
  const int reason = errno;
  [[maybe_unused]] const ssize_t written = write(report, &reason, sizeof reason);
  _exit(127);
}

/// Waits until the child has become its program, or has reported an errno, whatever signals arrive.
/// \returns the errno, or 0
int reason_of_failure(int report) {
  int reason = 0;
  ssize_t count = 0;
  do {
    count = read(report, &reason, sizeof reason);
  } while (count < 0 && errno == EINTR);
  return count == static_cast<ssize_t>(sizeof reason) ? reason : 0;
}

/// Reads what is there; false at the end of the stream. Of output beyond the limit the end is dropped, or the
/// beginning.
bool read_some(int file_descriptor, std::string& into, bool keep_end) {
  std::array<char, 4096> buffer;
  const ssize_t count = read(file_descriptor, buffer.data(), buffer.size());
  if (count < 0) return errno == EAGAIN || errno == EINTR;
  const auto size = static_cast<std::size_t>(count);
  if (keep_end && into.size() + size > output_limit) into.erase(0, into.size() - output_limit / 2);
  const std::size_t room = output_limit - std::min(into.size(), output_limit);
  into.append(buffer.data(), std::min(size, room));
  return count > 0;
}

/// Milliseconds for poll(2) until a moment, rounded up; -1 (forever) without one.
int poll_timeout(std::optional<clock::time_point> moment) {
  if (!moment) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*moment - clock::now()).count();
  return static_cast<int>(std::clamp<long long>(left, 0, 1'000'000'000));
}

void drain(descriptor& stream, std::string& into, bool keep_end) {
  while (stream.get() >= 0) {
    pollfd waiting{stream.get(), POLLIN, 0};
    if (poll(&waiting, 1, 0) <= 0 || !read_some(stream.get(), into, keep_end)) stream.close();
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

/// A running program, and what it has printed so far. Killed and reaped at the latest with this object.
class running_child {
 public:
  explicit running_child(const child_request& request) : keep_end_(request.keep_end) {
    descriptor input, output_end, errors_end, report, report_end;
    open_input(request.input, input);
    open_output(request.output_file, output_, output_end);
    open_output(request.output_file, errors_, errors_end);
    make_pipe(report, report_end);
    std::vector<std::string> argument_texts = request.arguments;
    std::vector<std::string> environment_texts = child_environment(request);
    const std::vector<char*> arguments = pointers_to(argument_texts);
    const std::vector<char*> environment = pointers_to(environment_texts);

    const pid_t parent = getpid();
    pid_ = fork();
    if (pid_ < 0) throw std::system_error(errno, std::generic_category(), "fork");
    if (pid_ == 0) {
      become(parent, request.cpu_group.c_str(), arguments.data(), environment.data(), input.get(),
             output_end.get(), errors_end.get(), report_end.get());
    }
    setpgid(pid_, pid_);  // in both processes: the group exists whichever of them is first
    cleanup_.emplace(pid_);
    output_end.close();
    errors_end.close();
    report_end.close();

    if (const int reason = reason_of_failure(report.get()); reason != 0) {
      end();
      throw std::system_error(reason, std::generic_category(), request.arguments[0]);
    }
    // glibc 2.36 declares pidfd_open without C linkage, so it cannot be called by its name from C++.
    ended_.reset(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)));
    if (ended_.get() < 0) {
      const int why = errno;
      end();
      throw std::system_error(why, std::generic_category(), "watching a program (pidfd_open)");
    }
  }
  ~running_child() { end(); }
  running_child(const running_child&) = delete;
  running_child& operator=(const running_child&) = delete;

  /// The events to wait for: its end, its output, its errors. None once it has ended.
  std::array<pollfd, 3> events() const {
    return {{{ended_.get(), POLLIN, 0}, {output_.get(), POLLIN, 0}, {errors_.get(), POLLIN, 0}}};
  }

  void handle(std::span<const pollfd> happened) {
    if (happened[1].revents != 0 && !read_some(output_.get(), result.output, keep_end_)) output_.close();
    if (happened[2].revents != 0 && !read_some(errors_.get(), result.errors, false)) errors_.close();
    if (happened[0].revents != 0) end();
  }

  bool is_running() const { return pid_ > 0; }
  pid_t pid() const { return pid_; }

  /// Kills its process group, also after an ordinary end (what the program left behind would compete with the
  /// next one), and notes how it ended.
  void end() {
    if (!is_running()) return;
    kill(-pid_, SIGKILL);
    int status = 0;
    rusage usage{};
    while (wait4(pid_, &status, 0, &usage) < 0 && errno == EINTR) {
    }
    pid_ = 0;
    cleanup_.reset();
    ended_.close();
    result.seconds = std::chrono::duration<double>(clock::now() - start_).count();
    drain(output_, result.output, keep_end_);
    drain(errors_, result.errors, false);
    const auto seconds = [](const timeval& t) {
      return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
    };
    result.cpu_seconds = seconds(usage.ru_utime) + seconds(usage.ru_stime);
    if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  }

  child_result result;

 private:
  bool keep_end_;
  clock::time_point start_ = clock::now();
  pid_t pid_ = 0;
  std::optional<killed_on_signal> cleanup_;
  descriptor output_, errors_, ended_;
};

}  // namespace

struct background_child::process {
  explicit process(const child_request& request) : child(request) {}
  running_child child;
};

background_child::background_child(const child_request& request)
    : process_(std::make_unique<process>(request)) {}
background_child::~background_child() = default;
background_child::background_child(background_child&&) noexcept = default;
background_child& background_child::operator=(background_child&&) noexcept = default;
pid_t background_child::pid() const { return process_->child.pid(); }

std::vector<child_result> run_children(const child_request& request, int count) {
  return run_children(std::vector<child_request>(static_cast<std::size_t>(count), request));
}

std::vector<child_result> run_children(const std::vector<child_request>& requests) {
  if (requests.empty()) return {};
  const child_request& request = requests.front();
  const auto start = clock::now();
  std::vector<std::unique_ptr<running_child>> children;
  for (const child_request& one : requests) children.push_back(std::make_unique<running_child>(one));
  std::optional<clock::time_point> deadline, notice;
  if (request.limit.count() > 0) deadline = start + request.limit;
  if (request.notice) notice = request.notice_at;
  const auto any_is_running = [&] {
    return std::ranges::any_of(children, [](const auto& child) { return child->is_running(); });
  };
  std::vector<pollfd> waiting;
  while (any_is_running()) {
    waiting.clear();
    for (const auto& child : children) std::ranges::copy(child->events(), std::back_inserter(waiting));
    const auto now = clock::now();  // before looking: who ended in time is seen to have ended
    const auto next = notice && (!deadline || *notice < *deadline) ? notice : deadline;
    if (poll(waiting.data(), waiting.size(), poll_timeout(next)) < 0 && errno != EINTR) break;
    for (std::size_t i = 0; i < children.size(); ++i)
      children[i]->handle(std::span(waiting).subspan(3 * i, 3));
    if (notice && now >= *notice)
      notice = children.front()->is_running() ? request.notice(children.front()->pid()) : std::nullopt;
    if (deadline && now >= *deadline) {
      for (const auto& child : children) {
        child->result.timed_out = child->is_running();
        child->end();
      }
    }
  }
  std::vector<child_result> results;
  for (const auto& child : children) {
    child->end();
    results.push_back(std::move(child->result));
  }
  return results;
}

child_result run_child(const child_request& request) { return run_children(request, 1).front(); }

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

}  // namespace sukima::process
