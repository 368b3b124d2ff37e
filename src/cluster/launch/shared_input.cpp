// SPDX-License-Identifier: Apache-2.0
#include "launch/shared_input.hpp"

#include "launch/child.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>

namespace sukima::cluster {

namespace {

constexpr std::size_t most_ahead = std::size_t{1} << 20;

/// Of the terminal on stdin that is this session's.
bool runs_in_background() noexcept {
  const pid_t foreground = tcgetpgrp(STDIN_FILENO);
  return foreground >= 0 && foreground != getpgrp();
}

}  // namespace

int shared_input::awaited(std::size_t least_sent) {
  is_in_background_ = false;
  if (has_ended_ || size_ - least_sent >= most_ahead) return -1;
  is_in_background_ = runs_in_background();
  return is_in_background_ ? -1 : STDIN_FILENO;
}

void shared_input::read_some(std::size_t least_sent) {
  std::array<char, chunk_size> chunk;
  const ssize_t got = read(STDIN_FILENO, chunk.data(), chunk.size());
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (got < 0 && errno == EIO && runs_in_background()) return;  // it went there after awaited()
  if (got <= 0) {
    has_ended_ = true;
    return;
  }
  kept_.erase(0, least_sent - (size_ - kept_.size()));
  kept_.append(chunk.data(), static_cast<std::size_t>(got));
  size_ += static_cast<std::size_t>(got);
}

std::string_view shared_input::after(std::size_t sent) const {
  return std::string_view(kept_).substr(sent - (size_ - kept_.size()));
}

}  // namespace sukima::cluster
