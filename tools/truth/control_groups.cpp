// SPDX-License-Identifier: Apache-2.0
// Control groups of our own.
#include "truth/control_groups.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <fstream>
#include <ranges>
#include <sstream>
#include <thread>

namespace sukima::truth {

namespace {

bool write_file(const std::string& path, const std::string& text) {
  std::ofstream out(path);
  out << text;
  out.flush();
  return out.good();
}

std::string read_file(const std::string& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

constexpr int most_weight = 100;

bool has_word(const std::string& list, char separator, const std::string& word) {
  return (separator + list + separator).find(separator + word + separator) != std::string::npos;
}

}  // namespace

control_groups::control_groups(bool shielded)
    : shielded_(shielded), prefix_(fmt::format("sukima-truth-{}", getpid())) {
  find_mounts();
  make("", 1, 0);
  remove();
  if (!shielded) return;
  make("shield", most_weight, 0, true);
  made_.clear();  // it stays until the end
}

void control_groups::find_mounts() {
  std::ifstream mounts("/proc/mounts");
  std::string device, mount, type, options, rest, v2_mount;
  while (mounts >> device >> mount >> type >> options && std::getline(mounts, rest)) {
    const bool cpu = type == "cgroup" && has_word(options, ',', "cpu");
    const bool use = type == "cgroup" && has_word(options, ',', "cpuacct");
    if (type == "cgroup2") v2_mount = mount;
    if (!cpu && !use) continue;
    if (cpu && !mounts_.empty()) {
      mounts_.insert(mounts_.begin(), mount);
      options_.insert(options_.begin(), "cpu");
    } else {
      mounts_.push_back(mount);
      options_.push_back(cpu && use ? "cpu,cpuacct" : (cpu ? "cpu" : "cpuacct"));
    }
  }
  if (mounts_.empty() && !v2_mount.empty()) {
    std::string enabled = read_file(v2_mount + "/cgroup.subtree_control");
    std::ranges::replace(enabled, '\n', ' ');
    if (!has_word(enabled, ' ', "cpu")) {
      throw no_groups(fmt::format(
          "{}/cgroup.subtree_control does not give the controller cpu to groups below", v2_mount));
    }
    v2_ = true;
    mounts_ = {v2_mount};
    options_ = {""};
  }
  if (mounts_.empty()) throw no_groups("no hierarchy of control groups with the controller cpu is mounted");
}

control_groups::~control_groups() {
  remove();
  if (!shielded_) return;
  made_ = {"shield"};
  remove();
}

std::string control_groups::folder(const std::string& mount, const std::string& name) const {
  if (name == "shield") return mount + "/" + prefix_ + "-shield";
  const std::string top = shielded_ && !name.empty() ? prefix_ + "-shield/" : prefix_ + "-";
  // A name with a slash stands below its first part, which is a group of ours, too.
  return mount + "/" + (name.empty() ? prefix_ : top + name);
}

void control_groups::make(const std::string& name, int weight, double quota, bool inner) {
  constexpr int period_us = 100'000;
  for (const std::string& mount : mounts_) {
    const std::string path = folder(mount, name);
    if (mkdir(path.c_str(), 0755) != 0) {
      throw no_groups(fmt::format("the group {} cannot be made: {}", path, std::strerror(errno)));
    }
    if (mount == mounts_.front()) made_.push_back(name);
  }
  const std::string path = folder(mounts_.front(), name);
  const long quota_us = std::lround(quota * period_us);
  bool done = true;
  if (v2_) {
    done = write_file(path + "/cpu.weight", std::to_string(100 * weight));
    if (quota > 0) done = done && write_file(path + "/cpu.max", fmt::format("{} {}", quota_us, period_us));
    if (inner) done = done && write_file(path + "/cgroup.subtree_control", "+cpu");
  } else {
    done = write_file(path + "/cpu.shares", std::to_string(1024 * weight));
    if (quota > 0) {
      done = done && write_file(path + "/cpu.cfs_period_us", std::to_string(period_us)) &&
             write_file(path + "/cpu.cfs_quota_us", std::to_string(quota_us));
    }
  }
  if (!done) throw no_groups(fmt::format("weight and quota of the group {} cannot be set", path));
}

void control_groups::place(pid_t process, const std::string& name) const {
  for (const std::string& mount : mounts_) {
    const std::string path = (name.empty() ? mount : folder(mount, name)) + "/cgroup.procs";
    if (!write_file(path, std::to_string(process))) {
      throw no_groups(fmt::format("a process cannot be moved into the group of {}", path));
    }
  }
}

std::uint64_t control_groups::machine_use() const {
  if (!v2_) return std::stoull(read_file(mounts_.back() + "/cpuacct.usage"));
  std::ifstream in(mounts_.front() + "/cpu.stat");
  std::string word;
  std::uint64_t value = 0;
  while (in >> word >> value) {
    if (word == "usage_usec") return value * 1000;
  }
  throw no_groups(mounts_.front() + "/cpu.stat does not tell what the machine uses");
}

void control_groups::remove() {
  using namespace std::chrono_literals;
  for (const std::string& name : std::views::reverse(made_)) {
    for (const std::string& mount : mounts_) {
      const std::string path = folder(mount, name);
      for (int i = 0; i < 200 && rmdir(path.c_str()) != 0 && errno == EBUSY; i++) {
        std::this_thread::sleep_for(10ms);
      }
    }
  }
  made_.clear();
}

}  // namespace sukima::truth
