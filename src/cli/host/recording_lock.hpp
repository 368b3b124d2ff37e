// SPDX-License-Identifier: Apache-2.0
// One recording of the host writes a file at a time.
#pragma once

#include <base/shared/descriptor.hpp>

#include <string>

namespace sukima::cli::host {

/// Holds FILE.lock, locked with flock(2), and removes it at the end. If the process is killed, the file stays
/// behind unlocked, and the next recording takes it.
class recording_lock {
 public:
  /// Does not wait. Devices, pipes and links, which are written in place, have no lock.
  /// \throws process::usage_error another recording holds the lock, or the lock cannot be made
  explicit recording_lock(const std::string& file);
  ~recording_lock();
  recording_lock(const recording_lock&) = delete;
  recording_lock& operator=(const recording_lock&) = delete;

 private:
  std::string path_;
  descriptor held_;
};

}  // namespace sukima::cli::host
