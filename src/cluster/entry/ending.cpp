// SPDX-License-Identifier: Apache-2.0
#include "entry/ending.hpp"

#include "entry/environment.hpp"
#include "entry/inherited.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <string_view>

namespace sukima::cluster {

namespace {

struct report_place {
  std::optional<inherited_descriptor> pipe{};
  std::string mark{};
};

/// Returns the descriptor on which the launcher expects reports. The program's children do not inherit it.
const report_place& own_place_of_reports() {
  static const report_place found = [] {
    const char* const given = std::getenv(variable_report);
    const std::string_view text = given != nullptr ? given : "";
    const std::size_t colon = text.find(':');
    if (colon == text.npos) return report_place();
    const char* const files = std::getenv(variable_files);
    report_place p{.pipe = inherited_descriptor::read(text.substr(0, colon), files != nullptr ? files : ""),
                   .mark = std::string(text.substr(colon + 1))};
    if (p.pipe) static_cast<void>(p.pipe->keep());
    return p;
  }();
  return found;
}

/// Returns the descriptor for reports, or -1. The pipe is also stderr, which programs rarely close.
int descriptor_of(const report_place& place) noexcept {
  if (!place.pipe) return -1;
  for (const int descriptor : {place.pipe->number(), STDERR_FILENO})
    if (place.pipe->is(descriptor) && leads_to_launcher(descriptor)) return descriptor;
  return -1;
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
  const int descriptor = descriptor_of(to);
  if (to.mark.empty() || descriptor < 0) return false;
  const std::string line = write_report(to.mark, report);
  ssize_t put = 0;
  while ((put = write(descriptor, line.data(), line.size())) < 0 && errno == EINTR) {
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
