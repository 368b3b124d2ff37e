// SPDX-License-Identifier: Apache-2.0
// The lock of a recording; see recording_lock.hpp.
#include "host/recording_lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <base/shared/errors.hpp>

namespace sukima::cli::host {
namespace {

/// Whether the path still names this file: the recording that had the lock removes it at its end.
bool is_at(const descriptor& file, const std::string& path) {
  struct stat opened{};
  struct stat named{};
  return fstat(file.get(), &opened) == 0 && lstat(path.c_str(), &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

bool is_replaced_as_a_whole(const std::string& file) {
  struct stat status{};
  return lstat(file.c_str(), &status) != 0 || S_ISREG(status.st_mode);
}

}  // namespace

recording_lock::recording_lock(const std::string& file) : path_(file + ".lock") {
  if (!is_replaced_as_a_whole(file)) return;
  do {
    held_.reset(open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600));
    if (held_ && flock(held_.get(), LOCK_EX | LOCK_NB) == 0) continue;
    const int error = errno;
    held_.reset();
    throw process::usage_error(
        error == EWOULDBLOCK
            ? fmt::format("another sukima host record writes '{}'; wait for its end, or give another file",
                          file)
            : fmt::format("'{}' cannot be locked: {}; give another file", path_, std::strerror(error)));
  } while (!is_at(held_, path_));
}

recording_lock::~recording_lock() {
  struct stat status{};
  const bool is_own =
      held_ && fstat(held_.get(), &status) == 0 && S_ISREG(status.st_mode) && status.st_size == 0;
  if (is_own) unlink(path_.c_str());
}

}  // namespace sukima::cli::host
