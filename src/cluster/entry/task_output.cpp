// SPDX-License-Identifier: Apache-2.0
#include "entry/task_output.hpp"

#include "entry/ending.hpp"
#include "entry/environment.hpp"
#include "entry/inherited.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <optional>

namespace sukima::cluster {

namespace {

/// Returns the descriptor where the launcher expects the output of tasks, or -1. The program's children do
/// not inherit it.
int own_pipe() {
  static const auto found = [] {
    const char* const text = std::getenv(variable_output);
    const char* const files = std::getenv(variable_files);
    const auto pipe =
        text != nullptr ? inherited_descriptor::read(text, files != nullptr ? files : "") : std::nullopt;
    if (pipe) static_cast<void>(pipe->keep());
    return pipe;
  }();
  return found && found->is(found->number()) && leads_to_launcher(found->number()) ? found->number() : -1;
}

/// Whether stdout is still the /dev/null of the launcher. The launcher opens it with O_APPEND, which a
/// program has no reason to do.
bool is_dropped_by_launcher() noexcept {
  struct stat s{};
  constexpr unsigned major_of_null = 1;
  constexpr unsigned minor_of_null = 3;
  return fstat(STDOUT_FILENO, &s) == 0 && S_ISCHR(s.st_mode) &&
         s.st_rdev == makedev(major_of_null, minor_of_null) &&
         (fcntl(STDOUT_FILENO, F_GETFL) & O_APPEND) != 0;
}

bool are_one_file(int a, int b) noexcept {
  struct stat of_a{};
  struct stat of_b{};
  return fstat(a, &of_a) == 0 && fstat(b, &of_b) == 0 && of_a.st_dev == of_b.st_dev &&
         of_a.st_ino == of_b.st_ino;
}

void write_buffers() {
  std::cout.flush();
  std::fflush(stdout);
}

}  // namespace

task_output::task_output() {
  const int pipe = own_pipe();
  if (pipe < 0 || !is_dropped_by_launcher()) return;
  write_buffers();
  outside_ = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  if (outside_ < 0) return;
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  dup2(pipe, STDOUT_FILENO);
}

task_output::~task_output() {
  if (outside_ < 0) return;
  write_buffers();
  if (are_one_file(own_pipe(), STDOUT_FILENO)) dup2(outside_, STDOUT_FILENO);
  close(outside_);
}

}  // namespace sukima::cluster
