// SPDX-License-Identifier: Apache-2.0
// A made-up guest: the folders of /sys and /run that the guest service uses.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include "shared/description.hpp"

namespace guests {

namespace fs = std::filesystem;

inline void write(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << text;
}

inline std::string text_in(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// A folder that goes away in the end.
class folder {
 public:
  folder() {
    std::string name = fs::temp_directory_path() / "sukima-guest-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp");
    path = name;
  }
  ~folder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  folder(const folder&) = delete;
  folder& operator=(const folder&) = delete;

  fs::path path;
};

/// CPUs 0 … n − 1, all on; CPU 0 cannot be switched, as on x86.
class fake_machine {
 public:
  explicit fake_machine(unsigned cpus) {
    for (unsigned cpu = 0; cpu < cpus; ++cpu) plug(cpu, true);
  }

  fs::path root() const { return folder_.path; }
  void plug(unsigned cpu, bool on) {
    if (cpu >= cpus_) cpus_ = cpu + 1;
    fs::create_directories(cpu_folder() / ("cpu" + std::to_string(cpu)));
    if (cpu != 0) write(switch_of(cpu), on ? "1\n" : "0\n");
    settle();
  }
  /// The kernel's reaction to a switch: the lists follow.
  void settle() {
    write(cpu_folder() / "present", cpus_ == 1 ? "0\n" : "0-" + std::to_string(cpus_ - 1) + "\n");
    write(cpu_folder() / "online", sukima::host::cpu_list_text(switched_on()) + "\n");
  }
  std::vector<std::uint32_t> switched_on() const {
    std::vector<std::uint32_t> on{0};
    for (unsigned cpu = 1; cpu < cpus_; ++cpu)
      if (text_in(switch_of(cpu)) == "1\n") on.push_back(cpu);
    return on;
  }
  std::string on() const { return sukima::host::cpu_list_text(switched_on()); }
  fs::path switch_of(unsigned cpu) const { return cpu_folder() / ("cpu" + std::to_string(cpu)) / "online"; }
  fs::path state() const { return root() / "run/sukima/guest.state"; }
  fs::path number() const { return root() / "run/sukima/host"; }

 private:
  fs::path cpu_folder() const { return root() / "sys/devices/system/cpu"; }

  folder folder_;
  unsigned cpus_ = 0;
};

}  // namespace guests
