// SPDX-License-Identifier: Apache-2.0
#include "launch/shared_input.hpp"

#include "launch/child.hpp"

#include <base/shared/assert.hpp>

#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace sukima::cluster {

namespace {

/// How long nodes wait for a node that does not read, before the launcher reports it.
constexpr std::chrono::seconds stalling_time{2};

/// Whether stdin is the terminal of this session. A terminal that has hung up is not.
bool has_own_terminal() noexcept { return tcgetpgrp(STDIN_FILENO) >= 0; }
bool runs_in_background() noexcept {
  const pid_t foreground = tcgetpgrp(STDIN_FILENO);
  return foreground >= 0 && foreground != getpgrp();
}
/// Whether the process that started the launcher has ended. Then no shell can bring the launcher to the
/// foreground.
bool is_left_alone() noexcept { return getsid(getppid()) != getsid(0); }

/// Calls read(2), but fails with EIO instead of stopping the launcher.
ssize_t read_without_stop(std::vector<char>& into) noexcept {
  sigset_t stop;
  sigset_t before;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTTIN);
  sigprocmask(SIG_BLOCK, &stop, &before);
  const ssize_t got = read(STDIN_FILENO, into.data(), into.size());
  const int error = errno;
  sigprocmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return got;
}

}  // namespace

int shared_input::awaited(std::size_t least_sent) {
  is_in_background_ = false;
  if (has_ended_ || is_full(least_sent)) return -1;
  is_in_background_ = runs_in_background();
  if (is_in_background_ && is_left_alone()) {
    has_ended_ = true;
    is_in_background_ = false;
    return -1;
  }
  return is_in_background_ ? -1 : STDIN_FILENO;
}

void shared_input::read_some(std::size_t least_sent) {
  std::vector<char> chunk(chunk_size);  // too large for a stack that may be limited
  const ssize_t got = read_without_stop(chunk);
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (got < 0 && errno == EIO && has_own_terminal()) return;  // the launcher was in the background
  if (got <= 0) {
    has_ended_ = true;
    return;
  }
  // Moves the remaining bytes only if the bytes that all nodes have received are the larger part.
  SUKIMA_ASSERT(least_sent >= size_ - kept_.size() && least_sent <= size_,
                "bytes are kept until all nodes have them");
  const std::size_t unused = least_sent - (size_ - kept_.size());
  if (unused > kept_.size() / 2) kept_.erase(0, unused);
  kept_.append(chunk.data(), static_cast<std::size_t>(got));
  size_ += static_cast<std::size_t>(got);
}

std::string_view shared_input::after(std::size_t sent) const {
  SUKIMA_ASSERT(sent >= size_ - kept_.size() && sent <= size_, "what a node has not received is kept");
  return std::string_view(kept_).substr(sent - (size_ - kept_.size()));
}

void input_stall::look(bool is_full, std::size_t least_sent, time_point now) {
  if (is_full && since_ && least_sent == least_sent_) return;
  least_sent_ = least_sent;
  since_.reset();
  if (is_full) since_ = now;
}

std::optional<input_stall::time_point> input_stall::next() const {
  if (!since_ || is_said_) return {};
  return *since_ + stalling_time;
}

bool input_stall::take(time_point now) {
  const auto when = next();
  if (!when || now < *when) return false;
  is_said_ = true;
  return true;
}

std::string input_stall::sentence(std::size_t node) {
  return "node " + std::to_string(node) + " lags " + std::to_string(shared_input::most_ahead >> 20) +
         " MiB behind on stdin, so the other nodes receive no more input: let each node read stdin, or read "
         "a file";
}

}  // namespace sukima::cluster
