// SPDX-License-Identifier: Apache-2.0
// Errors, colours and progress on the terminal; see console.hpp.
#include "shared/console.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace sukima::cli {

void print_message(std::string_view text) {
  // Not fmt::print, which throws if stderr is closed or full. Such a failure cannot be reported anywhere.
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

void complain(std::string_view message) { print_message(fmt::format("sukima: {}\n", message)); }

bool moves_cursor(int file_descriptor) {
  const char* terminal = std::getenv("TERM");
  return terminal != nullptr && std::string_view(terminal) != "dumb" && isatty(file_descriptor) == 1;
}

bool use_colour(int file_descriptor) {
  const char* no_colour = std::getenv("NO_COLOR");
  return (no_colour == nullptr || *no_colour == '\0') && moves_cursor(file_descriptor);
}

std::string styled(std::string_view text, std::string_view attribute, bool enabled) {
  return enabled ? fmt::format("\033[{}m{}\033[0m", attribute, text) : std::string(text);
}

progress_line::progress_line() : enabled_(moves_cursor(STDERR_FILENO)) {}

progress_line::~progress_line() { clear(); }

void progress_line::show(std::string_view text) {
  if (!enabled_) return;
  winsize size{};
  const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  // A line longer than the terminal would wrap, and only its last part would be replaced next time.
  const std::size_t width = known ? size.ws_col - 1U : 79U;
  print_message(fmt::format("\r\033[K{}", text.substr(0, width)));
  shown_ = true;
}

void progress_line::clear() {
  if (!shown_) return;
  print_message("\r\033[K");
  shown_ = false;
}

}  // namespace sukima::cli
