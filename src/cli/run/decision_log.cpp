// SPDX-License-Identifier: Apache-2.0
// The log of decisions; see decision_log.hpp.
#include "run/decision_log.hpp"

#include <fmt/format.h>
#include <preload/shared/settings.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include <base/shared/system_failure.hpp>

namespace sukima::cli::run {

decision_log::decision_log() : file_(memfd_create(PRELOAD_LOG_NAME, MFD_CLOEXEC)) {
  if (!file_ && errno != ENOSYS) process::fail_by_errno("no file for the decisions that a report lists");
}

std::string decision_log::path() const {
  return file_ ? fmt::format("/proc/{}/fd/{}", getpid(), file_.get()) : std::string();
}

std::string decision_log::content() const {
  std::string content;
  std::array<char, 4096> piece{};
  for (ssize_t length = 0;
       (length = pread(file_.get(), piece.data(), piece.size(), static_cast<off_t>(content.size()))) > 0;)
    content.append(piece.data(), static_cast<std::size_t>(length));
  return content;
}

}  // namespace sukima::cli::run
