// SPDX-License-Identifier: Apache-2.0
#include "entry/ending.hpp"

#include "entry/environment.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>

namespace sukima::cluster {

namespace {

struct report_place {
  int descriptor = -1;
  std::string mark{};
  /// The file of the descriptor at the start. The program may close the descriptor, and open a pipe of its
  /// own.
  struct stat file{};
};

/// Returns the descriptor on which the launcher expects reports. The program's children do not inherit it.
const report_place& own_place_of_reports() {
  static const report_place found = [] {
    report_place p;
    const char* const text = std::getenv(variable_report);
    if (text == nullptr) return p;
    const char* const end = text + std::strlen(text);
    const auto [colon, error] = std::from_chars(text, end, p.descriptor);
    if (error != std::errc{} || colon == end || *colon != ':') return report_place();
    p.mark.assign(colon + 1, end);
    fcntl(p.descriptor, F_SETFD, FD_CLOEXEC);
    fstat(p.descriptor, &p.file);
    return p;
  }();
  return found;
}

bool is_still_there(const report_place& place) noexcept {
  struct stat now{};
  return fstat(place.descriptor, &now) == 0 && now.st_dev == place.file.st_dev &&
         now.st_ino == place.file.st_ino;
}

/// Flushes only stdout: a thread that waits for input holds the lock of its own stream.
void write_stdout() {
  if (ftrylockfile(stdout) != 0) return;
  fflush_unlocked(stdout);
  funlockfile(stdout);
}

}  // namespace

bool leads_to_launcher(int descriptor) noexcept {
  struct stat s{};
  return descriptor >= 0 && fstat(descriptor, &s) == 0 && (S_ISFIFO(s.st_mode) || S_ISSOCK(s.st_mode));
}

bool send_report(const node_report& report) {
  const report_place& to = own_place_of_reports();
  if (to.mark.empty() || !leads_to_launcher(to.descriptor) || !is_still_there(to)) return false;
  const std::string line = write_report(to.mark, report);
  ssize_t put = 0;
  while ((put = write(to.descriptor, line.data(), line.size())) < 0 && errno == EINTR) {
  }
  return put == static_cast<ssize_t>(line.size());
}

void end_process(const run_failure& why) {
  write_stdout();
  const bool is_reported =
      send_report({.kind = why.differs ? node_report::type::differs : node_report::type::fails,
                   .status = why.status,
                   .lost = why.lost,
                   .sentence = why.sentence});
  if (!is_reported) std::fprintf(stderr, "sukima: %s\n", why.sentence.c_str());
  std::_Exit(why.status);
}

void end_process_that_left() {
  std::cout.flush();  // no task runs here any more that could hold the lock of std::cout
  write_stdout();
  std::_Exit(0);
}

}  // namespace sukima::cluster
