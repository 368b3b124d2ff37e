// SPDX-License-Identifier: Apache-2.0
// The launcher: one loop that sleeps in poll(2).
// Long: the streams, signals and ends of the nodes share the loop that waits for all of them.
#include "shared/launch.hpp"

#include "entry/environment.hpp"
#include "launch/child.hpp"
#include "launch/gathered_output.hpp"
#include "launch/left_processes.hpp"
#include "launch/local_start.hpp"
#include "launch/meeting.hpp"
#include "launch/merged_output.hpp"
#include "launch/remote_signals.hpp"
#include "launch/remote_start.hpp"
#include "launch/run_end.hpp"
#include "launch/shared_input.hpp"
#include "launch/signals.hpp"

#include <base/shared/system_failure.hpp>

#include <poll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <optional>
#include <vector>

namespace sukima::cluster {

namespace {

/// Additional time for the nodes while some of their output is not printed.
constexpr std::chrono::milliseconds reading_time{100};
/// Time between SIGTERM and SIGKILL for processes that nodes have left behind.
constexpr std::chrono::milliseconds leaving_time{2000};
/// Number of reads that empty a pipe. The second one is for the case that the first is interrupted.
constexpr int chunks_of_pipe = 2;
/// Interval at which a launcher in the background of its terminal checks whether it is in the foreground.
constexpr std::chrono::milliseconds foreground_time{1000};

// Long: the streams, signals and ends of the nodes share the loop that waits for all of them.
class launcher {
 public:
  explicit launcher(const launch_request& request)
      : request_(request),
        nodes_(request.places.empty() ? request.nodes : static_cast<unsigned>(request.places.size())),
        keeps_output_(!request.hope && (nodes_ == 1 || isatty(STDOUT_FILENO) != 0)),
        output_(make_output()),
        end_(nodes_, request.hope, request.grace) {}

  launch_result run() {
    start();
    while (count_running() != 0 || has_errors() || has_output()) step();
    if (left_) left_->end(signals_.get(), leaving_time);
    for (unsigned n = 0; n < children_.size(); ++n) {
      node_end& end = children_[n].end;
      end.counts = std::move(children_[n].counts);
      result_.nodes.push_back(end);
      const bool is_whole = request_.hope && end.exit_code == 0 && end.signal == 0 &&
                            result_.output_error == 0 && !end_.was_interrupted(n);
      if (is_whole && !result_.difference) result_.difference = output_->shorter(n);
    }
    const run_end::conclusion c = end_.conclude();
    result_.status = c.status;
    result_.signal = c.signal;
    if (c.reporter)
      print(*c.reporter, "sukima: " + c.sentence + "\n");
    else
      result_.sentence = c.sentence;
    return result_;
  }
  ~launcher() {
    for (const child& c : children_)
      if (c.running) end_child(c);
  }
  launcher(const launcher&) = delete;
  launcher& operator=(const launcher&) = delete;

 private:
  using clock = std::chrono::steady_clock;

  void start() {
    const std::string token = token_of_run();
    if (request_.places.empty()) {
      start_here(token);
      return;
    }
    remote_.emplace(request_, token, report_mark_);
    for (unsigned n = 0; n < nodes_; ++n) {
      child_start how;
      how.program = remote_->command(n);
      how.own_session = true;
      how.output = output_of(n);
      how.mask = signals_.before();
      child& c = children_.emplace_back(start_child(how));
      c.awaits_mark = how.output == child_output::piped;
      c.first = remote_->first_line(n, c.awaits_mark);
      c.is_ready = false;
    }
  }
  void start_here(const std::string& token) {
    left_.emplace([this](pid_t process) {
      return std::ranges::any_of(children_, [&](const child& c) { return c.running && c.pid == process; });
    });
    if (request_.hope) ended_.emplace(nodes_);
    const local_start start(request_, token, report_mark_, ended_ ? &*ended_ : nullptr);
    for (unsigned n = 0; n < nodes_; ++n) {
      child_start how = start.node(n);
      how.output = output_of(n);
      how.mask = signals_.before();
      children_.push_back(start_child(how));
    }
  }
  child_output output_of(unsigned node) const {
    if (request_.hope) return child_output::piped;
    if (node == 0) return keeps_output_ ? child_output::kept : child_output::piped;
    return remote_ ? child_output::piped : child_output::tasks;
  }
  std::unique_ptr<nodes_output> make_output() const {
    if (request_.hope) return std::make_unique<merged_output>(nodes_);
    std::vector<std::string> prefixes(nodes_);
    for (unsigned n = 1; request_.prefixes && n < nodes_; ++n) prefixes[n] = name_in_lines(n);
    return std::make_unique<gathered_output>(std::move(prefixes));
  }
  std::string name_in_lines(std::size_t n) const {
    const std::string host = request_.places.empty() ? "" : " " + request_.places[n].host;
    return "[" + std::to_string(n) + host + "] ";
  }

  std::size_t count_running() const {
    return static_cast<std::size_t>(
        std::count_if(children_.begin(), children_.end(), [](const child& c) { return c.running; }));
  }
  /// A program that a node has left behind may keep its stderr open. The launcher does not wait for it.
  bool has_errors() const {
    return !end_.has_given_up() &&
           std::any_of(children_.begin(), children_.end(), [](const child& c) { return bool(c.errors); });
  }
  bool has_output() const {
    return !output_->unprinted().empty() ||
           (!end_.has_given_up() &&
            std::any_of(children_.begin(), children_.end(), [](const child& c) { return bool(c.output); }));
  }
  /// Returns the number of bytes of stdin that every node has received.
  std::size_t least_sent() const {
    std::size_t least = input_.size();
    for (const child& c : children_)
      if (c.input) least = std::min(least, c.sent);
    return least;
  }

  void step() {
    std::vector<pollfd> all{{signals_.get(), POLLIN, 0}};
    all.push_back({input_.awaited(least_sent()), POLLIN, 0});
    stall_.look(input_.is_full(least_sent()), least_sent(), clock::now());
    all.push_back({output_->unprinted().empty() ? -1 : STDOUT_FILENO, POLLOUT, 0});
    for (unsigned n = 0; n < children_.size(); ++n) {
      const child& c = children_[n];
      all.push_back({c.errors.get(), POLLIN, 0});
      all.push_back(
          {c.is_ready && (!c.first.empty() || c.sent < input_.size()) ? c.input.get() : -1, POLLOUT, 0});
      all.push_back({output_->room(n) != 0 ? c.output.get() : -1, POLLIN, 0});
    }
    if (poll(all.data(), all.size(), time_left()) < 0 && errno != EINTR)
      process::fail_by_errno("waiting for the nodes");
    if ((all[0].revents & POLLIN) != 0) take_signals();
    if (all[1].revents != 0) input_.read_some(least_sent());
    if (all[2].revents != 0) print_output();
    for (unsigned n = 0; n < children_.size(); ++n) {
      const pollfd* const own = &all[3 + std::size_t{3} * n];
      if (own[0].revents != 0 && children_[n].errors) pass_errors(n);
      if (own[1].revents != 0 && children_[n].input) write_input(children_[n]);  // it may have ended
    }
    take_outputs([&](unsigned n) { return all[5 + std::size_t{3} * n].revents != 0; });
    close_inputs();
    end_late_ones();
    if (stall_.take(clock::now())) report_stall();
  }

  int time_left() const {
    constexpr std::chrono::milliseconds none{-1};
    const auto look = input_.is_in_background() ? foreground_time : none;
    auto next = end_.next();
    if (const auto stall = stall_.next()) next = std::min(next.value_or(*stall), *stall);
    if (!next) return static_cast<int>(look.count());
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(*next - clock::now());
    const auto rest = std::max(left, std::chrono::milliseconds(0));
    return static_cast<int>((look == none ? rest : std::min(look, rest)).count());
  }

  void take_signals() {
    signalfd_siginfo info;
    while (read(signals_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
      // Nodes on this machine get the terminal's signals, but not SIGHUP, nor SIGALRM of an inherited timer.
      const bool nodes_have_it = info.ssi_code == SI_KERNEL && info.ssi_signo != SIGALRM &&
                                 !(info.ssi_signo == SIGHUP && getsid(0) == getpid());
      if (info.ssi_signo != SIGCHLD) end_.on_signal(static_cast<int>(info.ssi_signo));
      if (info.ssi_signo != SIGCHLD && (!nodes_have_it || remote_))
        signal_all(static_cast<int>(info.ssi_signo));
    }
    for (std::size_t n = 0; n < children_.size(); ++n) {
      child& c = children_[n];
      int status = 0;
      if (!c.running || waitpid(c.pid, &status, WNOHANG) != c.pid) continue;
      c.running = false;
      c.input.reset();
      // Takes its reports before its end.
      for (int chunks = 0; chunks < chunks_of_pipe && c.errors && pass_errors(n); ++chunks) {
      }
      c.end = remote_               ? end_of_remote(c, status)
              : WIFSIGNALED(status) ? node_end{0, WTERMSIG(status)}
                                    : node_end{WEXITSTATUS(status), 0};
      // The node may be the child of a script, which has ended well.
      if (c.end.signal == 0 && c.end.exit_code == 0) c.end.exit_code = c.reported_status;
      if (ended_) ended_->add(n);
      end_.on_end(static_cast<unsigned>(n), c.end, clock::now());
    }
    if (left_) left_->reap();
    for (const auto& [node, signal] : remote_signals_.take_ended()) end_unreached(node, signal);
  }
  void signal_all(int signal) {
    for (unsigned n = 0; n < nodes_; ++n)
      if (children_[n].running) signal_node(n, signal);
  }
  void signal_node(unsigned n, int signal) {
    child& c = children_[n];
    if (!remote_ || c.program == 0 || signal == SIGKILL) {
      c.own_signal = signal;
      kill(c.pid, signal);
      return;
    }
    remote_signals_.send(*remote_, n, c.program, signal);
  }
  /// Kills the connection to a host that a signal did not reach, which also ends the program there.
  void end_unreached(unsigned node, int signal) {
    if (!children_[node].running) return;
    children_[node].own_signal = signal;
    kill(children_[node].pid, SIGKILL);
  }
  void end_late_ones() {
    const auto now = clock::now();
    // If the reader of the output is slow, nodes that need not end may also be slow.
    if (end_.ends_nodes(now) && (request_.hope || count_running() == 0) && !output_->unprinted().empty() &&
        !result_.difference) {
      end_.postpone(now + reading_time);
      return;
    }
    const run_end::step s = end_.take(now);
    if (!s.notice.empty() && request_.notify) request_.notify(s.notice);
    if (s.signal != 0) signal_all(s.signal);
    if (end_.has_given_up()) take_last_output();
  }

  void write_input(child& c) {
    const bool is_first = !c.first.empty();
    const std::string_view rest = is_first ? std::string_view(c.first) : input_.after(c.sent);
    const ssize_t put = write(c.input.get(), rest.data(), rest.size());
    if (put >= 0 && is_first)
      c.first.erase(0, static_cast<std::size_t>(put));
    else if (put >= 0)
      c.sent += static_cast<std::size_t>(put);
    else if (errno != EINTR && errno != EAGAIN)
      c.input.reset();  // the node reads no more
  }
  void report_stall() const {
    const auto is_slowest = [this](const child& c) { return c.input && c.sent == least_sent(); };
    const auto slowest = std::find_if(children_.begin(), children_.end(), is_slowest);
    if (slowest == children_.end() || !request_.notify) return;
    request_.notify(input_stall::sentence(static_cast<std::size_t>(slowest - children_.begin())));
  }
  void close_inputs() {
    if (!input_.has_ended()) return;
    for (child& c : children_)
      if (c.is_ready && c.first.empty() && c.sent == input_.size()) c.input.reset();
  }

  /// Takes the output of the other nodes before that of node 0, because they may have written it earlier.
  template <class IsReady> void take_outputs(IsReady is_ready) {
    const auto first = is_ready(0) ? read_output(0) : std::nullopt;
    for (unsigned n = 1; n < children_.size(); ++n)
      for (int chunks = 0; chunks < (first ? chunks_of_pipe : is_ready(n) ? 1 : 0); ++chunks)
        if (const auto text = read_output(n)) take_output(n, *text);
    if (first && children_[0].output) take_output(0, *first);
  }
  /// \returns nothing if no output is available now, and an empty text at the end of the output
  std::optional<std::string> read_output(unsigned n) const {
    const std::size_t most = children_[n].output ? std::min(chunk_size, output_->room(n)) : 0;
    if (most == 0) return {};
    std::string text(most, '\0');
    const ssize_t got = read(children_[n].output.get(), text.data(), text.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) return {};
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    return text;
  }
  void take_output(unsigned n, const std::string& text) {
    if (text.empty()) {
      close_output(n);
      return;
    }
    result_.difference = output_->take(n, remote_ ? remote_->without_noise(children_[n], text) : text);
    if (result_.difference) {
      close_outputs();
      end_.end_now(clock::now());
    }
    drop_unprintable();
  }
  void print_output() {
    const ssize_t put = write(STDOUT_FILENO, output_->unprinted().data(),
                              std::min(output_->unprinted().size(), most_at_once(STDOUT_FILENO)));
    if (put >= 0) {
      output_->printed(static_cast<std::size_t>(put));
    } else if (errno != EINTR && errno != EAGAIN) {
      result_.output_error = errno;
      end_.on_unprintable_output(clock::now());
      // The other nodes did not cause the error, because only their tasks print, so they continue.
      request_.hope ? close_outputs() : close_output(0);
      drop_unprintable();
    }
  }
  void drop_unprintable() {
    if (result_.output_error != 0) output_->printed(output_->unprinted().size());
  }
  /// Closes the output of a node. If the node continues to write, it receives SIGPIPE.
  void close_output(unsigned n) {
    if (children_[n].output) output_->end(n);
    children_[n].output.reset();
  }
  void close_outputs() {
    for (unsigned n = 0; n < children_.size(); ++n) close_output(n);
  }
  /// Takes the output that is available now, because a process that a node has left behind may keep it open.
  void take_last_output() {
    for (unsigned n = 0; n < children_.size(); ++n) {
      for (int chunks = 0; chunks < chunks_of_pipe; ++chunks)
        if (const auto text = read_output(n)) take_output(n, *text);
      close_output(n);
    }
  }

  /// \returns whether there may be more to read
  bool pass_errors(std::size_t n) {
    child& c = children_[n];
    const ssize_t got = read(c.errors.get(), chunk_.data(), chunk_.size());
    if (got < 0 && errno == EINTR) return true;
    if (got < 0 && errno == EAGAIN) return false;
    if (got <= 0) {
      c.errors.reset();
      if (!c.line.empty()) take_line(n, std::exchange(c.line, {}) + "\n");
      return false;
    }
    c.line.append(chunk_.data(), static_cast<std::size_t>(got));
    for (const node_report& report : take_reports(c, report_mark_))
      if (end_.on_report(static_cast<unsigned>(n), report, clock::now()))
        print(n, "sukima: " + report.sentence + "\n");
    for (std::size_t end = 0; (end = c.line.find('\n')) != std::string::npos; c.line.erase(0, end + 1))
      take_line(n, c.line.substr(0, end + 1));
    if (c.line.size() >= chunk_size && !has_report(c.line, report_mark_))
      print(n, std::exchange(c.line, {}) + "\n");
    return true;
  }
  /// \param line  including its newline
  void take_line(std::size_t n, const std::string& line) {
    child& c = children_[n];
    const auto mark = remote_ && c.program == 0
                          ? remote_->mark_in(std::string_view(line).substr(0, line.size() - 1))
                          : std::nullopt;
    if (!mark) {
      print(n, line);
      return;
    }
    c.is_ready = true;
    c.program = mark->process;
    if (mark->begin != 0) print(n, line.substr(0, mark->begin) + "\n");
  }
  void print(std::size_t n, const std::string& line) const {
    const std::string text = request_.tags ? name_in_lines(n) + line : line;
    write_whole(STDERR_FILENO, text);
  }

  const launch_request& request_;
  const unsigned nodes_;
  const std::string report_mark_ = new_mark("sukima-report-");
  const signals_in_descriptor signals_;
  std::optional<ended_nodes> ended_;  ///< under hierarchical omission, if the nodes run on this machine
  std::optional<remote_start> remote_;  ///< if there are places
  /// Whether node 0 writes to stdout itself: if stdout is a terminal, so that its lines appear at once; and
  /// if it is the only node, so that a stopped launcher does not delay it.
  const bool keeps_output_;
  const std::unique_ptr<nodes_output> output_;
  std::vector<child> children_;
  std::optional<left_processes> left_;  ///< if the nodes run on this machine
  remote_signals remote_signals_{signals_.before()};
  launch_result result_;
  shared_input input_;
  input_stall stall_;
  std::vector<char> chunk_ = std::vector<char>(chunk_size);  ///< too large for a stack that may be limited
  run_end end_;
};

}  // namespace

launch_result launch(const launch_request& request) {
  open_standard_streams();
  // This process may itself be a node of a run on several hosts, with addresses that are not of its nodes.
  if (request.places.empty()) unsetenv(variable_addresses);
  return launcher(request).run();
}

}  // namespace sukima::cluster
