// SPDX-License-Identifier: Apache-2.0
// Writes the reports of commands; see reports.hpp.
#include "shared/reports.hpp"

#include <capacity/shared/output_file.h>
#include <fmt/format.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include <base/shared/errors.hpp>
#include <base/shared/standard_streams.hpp>
#include "shared/console.hpp"

namespace sukima::cli {

reports::reports()
    : on_closed_pipe_(std::signal(SIGPIPE, SIG_IGN)), on_long_file_(std::signal(SIGXFSZ, SIG_IGN)) {}

reports::~reports() {
  std::signal(SIGPIPE, on_closed_pipe_);
  std::signal(SIGXFSZ, on_long_file_);
}

void reports::write_file(const std::string& path, std::string_view text, std::string_view what) {
  cap_output_file file;
  int error = cap_output_open(&file, path.c_str());
  if (error == 0) {
    std::fwrite(text.data(), 1, text.size(), file.stream);  // the close reports a failure of this write
    error = cap_output_close(&file, true);
  }
  if (error != 0) fail(fmt::format("{} '{}': {}", what, path, std::strerror(error)));
}

void reports::print(std::string_view text, std::string_view what) {
  errno = EIO;  // a stream that has failed before sets no reason
  if (std::fwrite(text.data(), 1, text.size(), stderr) != text.size() || std::fflush(stderr) != 0)
    fail(fmt::format("{}: {}", what, std::strerror(errno)));
}

void reports::fail(std::string_view sentence) {
  failed_ = true;
  complain(sentence);
}

void expect_writable(const std::string& path, std::string_view what, std::string_view option) {
  if (path.empty()) return;
  if (path == "-")  // elsewhere it means a standard stream
    throw process::usage_error(
        fmt::format("{} '-': {} takes the name of a file; give ./- for a file of that name", what, option));
  if (process::is_closed_output(path.c_str()))
    throw process::usage_error(
        fmt::format("{} '{}': standard output is closed; give {} another file", what, path, option));
  if (const int error = cap_output_check(path.c_str()); error != 0)
    throw process::usage_error(
        fmt::format("{} '{}': {}; give {} another file", what, path, std::strerror(error), option));
}

}  // namespace sukima::cli
