// SPDX-License-Identifier: Apache-2.0
// Measures streams between two processes; see process_streams.hpp.
#include "process_streams.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <optional>
#include <stdexcept>

#include "bound_threads.hpp"
#include "measured_streams.hpp"
#include "shared/stream_windows.hpp"

namespace sukima::calibrate_detail {
namespace {

/// A forked process. It is killed when this object is destroyed or the thread that made it ends.
class forked {
 public:
  /// \param body the function that the process runs; may throw
  template <class Body>
  explicit forked(Body body) {
    const pid_t parent = getpid();
    pid_ = fork();
    if (pid_ < 0) process::fail_by_errno("a process is refused");
    if (pid_ != 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    try {
      body();
    } catch (...) {
      _exit(1);  // the parent detects that messages are missing
    }
    _exit(0);
  }
  forked(const forked&) = delete;
  forked& operator=(const forked&) = delete;
  ~forked() {
    if (ended_) return;
    kill(pid_, SIGKILL);
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  bool has_ended() {
    if (!ended_) ended_ = waitpid(pid_, nullptr, WNOHANG) == pid_;
    return ended_;
  }

 private:
  pid_t pid_ = 0;
  bool ended_ = false;
};

/// \returns false if the sender has ended and no message is left
bool receive_from(forked& sender, auto& stream, std::size_t messages) {
  constexpr unsigned tries_before_look = 4096;
  for (std::size_t i = 0; i < messages; i++) {
    for (unsigned tries = 1; !stream.receive(); tries++) {
      if (tries % tries_before_look != 0 || !sender.has_ended()) {
        relax();
        continue;
      }
      if (!stream.receive()) return false;
      break;
    }
  }
  return true;
}

template <class Stream>
double stream_through(std::size_t bytes, unsigned from, unsigned to) {
  Stream stream(bytes);
  const std::size_t messages = stream_length(bytes);
  forked sender([&] {
    stream.only_sends();
    run_bound({{from, [&] {
                  for (std::size_t i = 0; i < messages + 1; i++) {
                    while (!stream.send()) relax();
                  }
                }}});
  });
  stream.only_receives();
  const auto receive = [&](std::size_t count) { return receive_from(sender, stream, count); };
  std::optional<double> ns;
  run_bound({{to, [&] {
                if (!receive(1)) return;  // the sender runs
                ns = time_of_message(messages, receive, clock::now);
              }}});
  if (!ns) throw std::runtime_error("a process that sent messages ended too early; measure again");
  return *ns;
}

}  // namespace

double stream_between_processes(objects::model::unit carrier, std::size_t bytes, unsigned from, unsigned to) {
  return carrier == objects::model::unit::pipe ? stream_through<pipe_stream>(bytes, from, to)
                                               : stream_through<ring_stream>(bytes, from, to);
}

}  // namespace sukima::calibrate_detail
