// SPDX-License-Identifier: Apache-2.0
// Errors, colours and progress on the terminal; see console.hpp.
#include "console.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace sukima::cli {

void complain(std::string_view message) { fmt::print(stderr, "sukima: {}\n", message); }

bool use_colour(int file_descriptor) {
  const char* no_colour = std::getenv("NO_COLOR");
  if (no_colour != nullptr && *no_colour != '\0') return false;
  const char* terminal = std::getenv("TERM");
  if (terminal == nullptr || std::string_view(terminal) == "dumb") return false;
  return isatty(file_descriptor) == 1;
}

std::string styled(std::string_view text, std::string_view attribute, bool enabled) {
  return enabled ? fmt::format("\033[{}m{}\033[0m", attribute, text) : std::string(text);
}

progress_line::progress_line() : enabled_(isatty(STDERR_FILENO) == 1) {}

progress_line::~progress_line() { clear(); }

void progress_line::show(std::string_view text) {
  if (!enabled_) return;
  winsize size{};
  const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  // A line longer than the terminal would wrap, and only its last part would be replaced next time.
  const std::size_t width = known ? size.ws_col - 1U : 79U;
  fmt::print(stderr, "\r\033[K{}", text.substr(0, width));
  std::fflush(stderr);
  shown_ = true;
}

void progress_line::clear() {
  if (!shown_) return;
  fmt::print(stderr, "\r\033[K");
  std::fflush(stderr);
  shown_ = false;
}

}  // namespace sukima::cli
