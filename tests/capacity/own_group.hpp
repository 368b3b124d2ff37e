// SPDX-License-Identifier: Apache-2.0
// Control groups made by the tests on the running machine, if that is possible.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <utility>

namespace sukima_test {

namespace fs = std::filesystem;

struct hierarchy {
  fs::path mount_point;
  bool v2 = false;
};

inline bool write_file(const fs::path& path, const std::string& text) {
  std::ofstream out(path);
  out << text;
  out.flush();
  return out.good();
}

inline std::string read_file(const fs::path& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

// Returns a hierarchy in which new groups at the top can get quotas: the first one in /proc/mounts.
inline std::optional<hierarchy> find_hierarchy(const std::string& controller) {
  std::ifstream mounts("/proc/mounts");
  std::string device, mount_point, type, options, rest;
  while (mounts >> device >> mount_point >> type >> options && std::getline(mounts, rest)) {
    if (type == "cgroup" && ("," + options + ",").find("," + controller + ",") != std::string::npos) {
      return hierarchy{mount_point, false};
    }
    if (type == "cgroup2") {
      const std::string enabled = " " + read_file(mount_point + "/cgroup.subtree_control") + " ";
      if (enabled.find(" " + controller + " ") != std::string::npos ||
          enabled.find(" " + controller + "\n") != std::string::npos) {
        return hierarchy{mount_point, true};
      }
    }
  }
  return std::nullopt;
}

// A group of the test, removed at the end.
class group {
 public:
  explicit group(fs::path path) : path_(std::move(path)) { made_ = ::mkdir(path_.c_str(), 0755) == 0; }
  ~group() {
    // A group cannot be removed before the kernel has released its last process.
    while (made_ && ::rmdir(path_.c_str()) != 0 && errno == EBUSY)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  group(const group&) = delete;
  group& operator=(const group&) = delete;

  [[nodiscard]] bool made() const { return made_; }
  [[nodiscard]] const fs::path& path() const { return path_; }

  [[nodiscard]] bool set_quota(bool v2, int quota_us, int period_us) const {
    if (v2) return write_file(path_ / "cpu.max", std::to_string(quota_us) + " " + std::to_string(period_us));
    return write_file(path_ / "cpu.cfs_period_us", std::to_string(period_us)) &&
           write_file(path_ / "cpu.cfs_quota_us", std::to_string(quota_us));
  }

 private:
  fs::path path_;
  bool made_ = false;
};

}  // namespace sukima_test
