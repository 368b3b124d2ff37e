// SPDX-License-Identifier: Apache-2.0
// A control group for a test: made in the group of the test's process, and removed together with the object.
#pragma once

#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>
#include <thread>

namespace support {

/// Whether a list such as "rw,cpu,cpuacct" contains this word.
inline bool has_word(const std::string& list, const std::string& word) {
  std::istringstream words(list);
  for (std::string one; std::getline(words, one, ',');)
    if (one == word) return true;
  return false;
}

/// Returns the folder of this process's group in the hierarchy of that version with a controller ("cpu",
/// "cpuset"). Nothing: the hierarchy is not mounted, or the mount does not include this group.
inline std::optional<std::filesystem::path> folder_of_own_group(int version, const std::string& controller) {
  std::optional<std::filesystem::path> mounted;
  std::ifstream mounts("/proc/self/mounts");
  for (std::string line; std::getline(mounts, line);) {
    std::istringstream words(line);
    std::string source, point, type, options;
    words >> source >> point >> type >> options;
    if (version == 1 ? type == "cgroup" && has_word(options, controller) : type == "cgroup2") mounted = point;
  }
  if (!mounted) return std::nullopt;
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const bool is_it = version == 2 ? line.starts_with("0::")
                                    : has_word(line.substr(first + 1, second - first - 1), controller);
    if (is_it) return mounted->string() + line.substr(second + 1);
  }
  return std::nullopt;
}

/// A group below the group of this process.
class own_group {
 public:
  /// If the group cannot be made, the object converts to false.
  own_group(int version, const std::string& controller) {
    const auto parent = folder_of_own_group(version, controller);
    if (!parent) return;
    folder_ = *parent / ("sukima-test-" + std::to_string(getpid()));
    std::error_code problem;
    exists_ = std::filesystem::create_directory(folder_, problem);
  }
  ~own_group() {
    // A process that has just ended may still be counted for a moment.
    for (int tries = 0; exists_ && rmdir(folder_.c_str()) != 0 && tries < 1000; ++tries)
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  own_group(const own_group&) = delete;
  own_group& operator=(const own_group&) = delete;

  explicit operator bool() const { return exists_; }

  /// \returns false: there is no such file, or the value was refused
  bool set(const std::string& file, const std::string& value) const {
    if (!std::filesystem::exists(folder_ / file)) return false;
    std::ofstream stream(folder_ / file);
    stream << value << std::flush;
    return stream.good();
  }
  /// \param cpus  2.0: the time of two CPUs
  bool set_quota(int version, double cpus) const {
    const std::string quota = std::to_string(static_cast<long>(cpus * 100'000));
    return version == 2 ? set("cpu.max", quota + " 100000")
                        : set("cpu.cfs_period_us", "100000") && set("cpu.cfs_quota_us", quota);
  }
  /// Sets a tenth of the default weight.
  bool set_small_weight(int version) const {
    return version == 2 ? set("cpu.weight", "10") : set("cpu.shares", "102");
  }
  bool add_process(pid_t process) const { return set("cgroup.procs", std::to_string(process)); }

 private:
  std::filesystem::path folder_;
  bool exists_ = false;
};

}  // namespace support
