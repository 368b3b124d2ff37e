// SPDX-License-Identifier: Apache-2.0
// Child processes with a time limit; see child.hpp.
#include "shared/child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>

#include "shared/descriptor.hpp"
#include "shared/interruption.hpp"
#include "shared/start_program.hpp"

namespace sukima::process {
namespace {

using clock = std::chrono::steady_clock;

constexpr std::size_t output_limit = 1 << 20;

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
  for (const auto& [name, value] : request.environment) variables.push_back(name + "=" + value);
  return variables;
}

/// Makes a pipe, or opens the file, which then has no read end.
pipe_ends open_output(const std::string& file) {
  if (file.empty()) return make_pipe("no pipe for the output of a program");
  pipe_ends ends;
  ends.write_end.reset(open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (!ends.write_end) throw std::system_error(errno, std::generic_category(), file);
  return ends;
}

/// Moves this process into the control group with that cgroup.procs file; does nothing for an empty name.
bool enter(const char* cpu_group) {
  if (*cpu_group == '\0') return true;
  const int file = open(cpu_group, O_WRONLY | O_CLOEXEC);
  return file >= 0 && write(file, "0", 1) == 1 && close(file) == 0;
}

/// Runs in the child before it becomes the program: gives it its own process group and these streams.
bool prepare(const char* cpu_group, int input, int output, int errors) {
  setpgid(0, 0);
  for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) std::signal(signal, SIG_DFL);
  return enter(cpu_group) && dup2(input, STDIN_FILENO) >= 0 && dup2(output, STDOUT_FILENO) >= 0 &&
         dup2(errors, STDERR_FILENO) >= 0;
}

/// Reads the available output; false at the end of the stream. If there is more output than the limit, its
/// end is dropped, or its beginning if `keep_end` is set.
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

/// Returns the milliseconds until a moment for poll(2), rounded up; -1 (forever) without one.
int poll_timeout(std::optional<clock::time_point> moment) {
  if (!moment) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*moment - clock::now()).count();
  return static_cast<int>(std::clamp<long long>(left, 0, 1'000'000'000));
}

void drain(descriptor& stream, std::string& into, bool keep_end) {
  while (stream) {
    pollfd waiting{stream.get(), POLLIN, 0};
    if (poll(&waiting, 1, 0) <= 0 || !read_some(stream.get(), into, keep_end)) stream.reset();
  }
}

/// Makes a file that supplies this text on stdin.
descriptor open_input(const std::string& input) {
  descriptor file(input.empty() ? open("/dev/null", O_RDONLY | O_CLOEXEC)
                                : memfd_create("sukima-input", MFD_CLOEXEC));
  for (std::size_t done = 0; file && done < input.size();) {
    const ssize_t count = write(file.get(), input.data() + done, input.size() - done);
    if (count < 0 && errno != EINTR)
      throw std::system_error(errno, std::generic_category(), "stdin of a program");
    if (count > 0) done += static_cast<std::size_t>(count);
  }
  if (!file) throw std::system_error(errno, std::generic_category(), "stdin of a program");
  lseek(file.get(), 0, SEEK_SET);
  return file;
}

/// A running program, and its output so far. The destructor kills and reaps it if it still runs.
class running_child {
 public:
  explicit running_child(const child_request& request) : keep_end_(request.keep_end) {
    const descriptor input = open_input(request.input);
    pipe_ends output = open_output(request.output_file);
    pipe_ends errors = open_output(request.output_file);
    pid_ = start_program({.arguments = request.arguments,
                          .environment = child_environment(request),
                          .prepare =
                              [&] {
                                return prepare(request.cpu_group.c_str(), input.get(), output.write_end.get(),
                                               errors.write_end.get());
                              },
                          .on_fork =
                              [this](pid_t group) {
                                setpgid(group, group);  // in both processes, because either may run first
                                cleanup_.emplace(group);
                              },
                          .ending_signal = SIGKILL});
    output_ = std::move(output.read_end);
    errors_ = std::move(errors.read_end);
    // glibc 2.36 declares pidfd_open without C linkage, so it cannot be called by its name from C++.
    ended_.reset(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)));
    if (!ended_) {
      const int why = errno;
      end();
      throw std::system_error(why, std::generic_category(), "watching a program (pidfd_open)");
    }
  }
  ~running_child() { end(); }
  running_child(const running_child&) = delete;
  running_child& operator=(const running_child&) = delete;

  /// Returns the events to wait for: its end, its output, its errors. None after it has ended.
  std::array<pollfd, 3> events() const {
    return {{{ended_.get(), POLLIN, 0}, {output_.get(), POLLIN, 0}, {errors_.get(), POLLIN, 0}}};
  }

  void handle(std::span<const pollfd> happened) {
    if (happened[1].revents != 0 && !read_some(output_.get(), result.output, keep_end_)) output_.reset();
    if (happened[2].revents != 0 && !read_some(errors_.get(), result.errors, false)) errors_.reset();
    if (happened[0].revents != 0) end();
  }

  bool is_running() const { return pid_ > 0; }
  pid_t pid() const { return pid_; }

  /// Kills its process group and records how it ended. Kills the group also after an ordinary end, because
  /// processes that the program left behind would compete with the next one.
  void end() {
    if (!is_running()) return;
    kill(-pid_, SIGKILL);
    int status = 0;
    rusage usage{};
    while (wait4(pid_, &status, 0, &usage) < 0 && errno == EINTR) {
    }
    pid_ = 0;
    cleanup_.reset();
    ended_.reset();
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
    const auto now = clock::now();  // before poll: a child that ended in time must count as ended
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
    std::array<char, 32> seconds{};
    std::snprintf(seconds.data(), seconds.size(), "%g", std::chrono::duration<double>(limit).count());
    return std::string("did not end within ") + seconds.data() + " s and was killed";
  }
  if (result.signal != 0) {
    return "was killed by signal " + std::to_string(result.signal) + " (" + strsignal(result.signal) + ")";
  }
  if (result.exit_code != 0) return "ended with exit code " + std::to_string(result.exit_code);
  return {};
}

}  // namespace sukima::process
