// SPDX-License-Identifier: Apache-2.0
// Errors, colours and progress on the terminal; see console.hpp.
#include "shared/console.hpp"

#include <base/shared/one_line.hpp>

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace sukima::cli {

void print_message(std::string_view text) {
  // fmt::print would throw if stderr is closed or full. Such a failure cannot be reported anywhere.
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

std::string printable(std::string text, std::string_view kept) {
  const auto acts = [kept](char c) {
    return (static_cast<unsigned char>(c) < 32 || c == 127) && kept.find(c) == std::string_view::npos;
  };
  std::ranges::replace_if(text, acts, '?');
  return text;
}

void complain(std::string_view message) { print_message(fmt::format("sukima: {}\n", on_one_line(message))); }

bool moves_cursor(int file_descriptor) {
  const char* terminal = std::getenv("TERM");
  return terminal != nullptr && std::string_view(terminal) != "dumb" && isatty(file_descriptor) == 1;
}

bool use_colour(int file_descriptor) {
  const char* no_colour = std::getenv("NO_COLOR");
  return (no_colour == nullptr || *no_colour == '\0') && moves_cursor(file_descriptor);
}

std::size_t terminal_width(int file_descriptor) {
  winsize size{};
  const bool known = ioctl(file_descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  return known ? size.ws_col : 80U;
}

std::string cut_lines(std::string_view text, std::size_t width) {
  std::string cut;
  std::size_t column = 0;
  for (const char c : text) {
    const bool continues = (static_cast<unsigned char>(c) & 0xc0) == 0x80;  // a byte within a UTF-8 character
    if (c == '\n')
      column = 0;
    else if (!continues)
      ++column;
    if (column <= width) cut += c;
  }
  return cut;
}

std::string styled(std::string_view text, std::string_view attribute, bool enabled) {
  return enabled ? fmt::format("\033[{}m{}\033[0m", attribute, text) : std::string(text);
}

progress_line::progress_line() : enabled_(moves_cursor(STDERR_FILENO)) {}

progress_line::~progress_line() { clear(); }

void progress_line::show(std::string_view text) {
  if (!enabled_) return;
  // A longer line would wrap, and the next call would replace only its last part.
  print_message(fmt::format("\r\033[K{}", cut_lines(text, terminal_width(STDERR_FILENO) - 1)));
  shown_ = true;
}

void progress_line::clear() {
  if (!shown_) return;
  print_message("\r\033[K");
  shown_ = false;
}

}  // namespace sukima::cli
