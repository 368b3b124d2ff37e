// SPDX-License-Identifier: Apache-2.0
// Records the data of an answer in a folder, and answers from such a folder on another machine.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <base/shared/descriptor.hpp>
#include <base/shared/interruption.hpp>
#include <base/shared/temporary_directory.hpp>
#include "capacity/meter.hpp"

namespace sukima::cli::probe {

/// The files of one sample: path under the root → content.
using recorded_files = std::map<std::string, std::string>;

/// The data that was read, as it is stored, without private data that is not needed:
///  - of mountinfo the lines of control groups, and the places of mounts that may hide some;
///  - of /proc/stat the sum; of status the masks of CPUs and memory nodes; of /proc/PID/stat the name, the
///    state, the nice value and the scheduling policy;
///  - of other processes only those that used CPU during the measurement.
class recorded_samples {
 public:
  struct sample {
    std::uint64_t time_ns = 0;
    recorded_files changed;  ///< since the sample before
  };

  /// Begins a sample. The files added next belong to it.
  void begin(std::uint64_t time_ns) { samples_.push_back({time_ns, {}}); }
  /// Stores that a file under /proc or /sys has this content. Other files are omitted.
  void add(const std::string& path, const std::string& content);
  /// Stores that a file exists, even if its content was not read.
  void add_name(const std::string& path);
  /// Removes the processes that used no CPU, and their numbers from the lists of groups.
  void remove_idle_processes();

  const std::vector<sample>& all() const { return samples_; }

 private:
  std::vector<sample> samples_;
  recorded_files latest_;
};

/// Measures a process for some seconds and stores the data that was read. Only one object may exist at a
/// time, and it must be made before the meter.
class recording {
 public:
  /// \param folder is created; it may exist if it is empty
  /// \throws usage_error if it cannot be made or is not empty, or another recording writes there
  recording(const std::filesystem::path& folder, pid_t process);
  ~recording();
  recording(const recording&) = delete;
  recording& operator=(const recording&) = delete;

  /// Returns the place that the meter must measure.
  meter_place place() const;
  /// Measures. Afterwards the meter can answer.
  void measure(capacity_meter& meter);
  /// Stores all data that was read, with the user's override and the host's number.
  /// \throws std::runtime_error if a file cannot be written; then the folder is empty
  void store(const capacity_meter& meter);

 private:
  struct watching;

  void write_files(const capacity_meter& meter) const;

  std::filesystem::path folder_;
  descriptor lock_;  ///< of the folder, which is locked
  pid_t process_;
  recorded_samples samples_;
  std::unique_ptr<watching> watching_;
  std::optional<process::removed_on_signal> cleanup_;  ///< until all is stored
};

/// A folder with a recording, or with a plain copy of /proc and /sys.
class recorded_tree {
 public:
  /// \throws usage_error if the folder is neither
  explicit recorded_tree(const std::filesystem::path& folder);

  meter_place place(pid_t process) const;
  /// Passes the samples to the meter: all of a recording, or the only one of a plain copy.
  void replay(capacity_meter& meter) const;

 private:
  void apply(std::size_t sample) const;

  std::filesystem::path folder_;
  std::vector<std::uint64_t> times_;  ///< empty: a plain copy
  /// The folder in which the files of a recording are changed from sample to sample.
  std::optional<process::temporary_directory> moving_;
  std::optional<process::removed_on_signal> cleanup_;
};

}  // namespace sukima::cli::probe
