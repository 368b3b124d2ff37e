// SPDX-License-Identifier: Apache-2.0
// Control groups of our own.
#include "truth/control_groups.hpp"

#include <fmt/format.h>
#include <unistd.h>
#include <base/shared/read_text.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace sukima::truth {

namespace {

using lab::has_word;

std::string read_file(const std::string& path) { return read_file_text(path).value_or(""); }

constexpr int most_weight = 100;

}  // namespace

control_groups::control_groups(bool shielded)
    : shielded_(shielded), prefix_(fmt::format("sukima-truth-{}", getpid())) {
  find_mounts();
  make("", 1, 0);
  remove();
  if (!shielded) return;
  make("shield", most_weight, 0, true);
  shield_ = std::move(made_);
  made_.clear();
}

void control_groups::find_mounts() {
  std::ifstream mounts("/proc/mounts");
  std::string device, mount, type, options, rest, v2_mount;
  while (mounts >> device >> mount >> type >> options && std::getline(mounts, rest)) {
    const bool cpu = type == "cgroup" && has_word(options, "cpu", ',');
    const bool use = type == "cgroup" && has_word(options, "cpuacct", ',');
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
    if (!has_word(enabled, "cpu", ' ')) {
      throw no_groups(fmt::format(
          "{}/cgroup.subtree_control does not enable the controller cpu for groups below", v2_mount));
    }
    v2_ = true;
    mounts_ = {v2_mount};
    options_ = {""};
  }
  if (mounts_.empty()) throw no_groups("no hierarchy of control groups with the controller cpu is mounted");
}

control_groups::~control_groups() { remove(); }

std::string control_groups::folder(const std::string& mount, const std::string& name) const {
  if (name == "shield") return mount + "/" + prefix_ + "-shield";
  const std::string top = shielded_ && !name.empty() ? prefix_ + "-shield/" : prefix_ + "-";
  // A name with a slash is below its first part, which is a group of ours, too.
  return mount + "/" + (name.empty() ? prefix_ : top + name);
}

void control_groups::make(const std::string& name, int weight, double quota, bool inner) {
  try {
    const std::size_t first = made_.size();
    for (const std::string& mount : mounts_) {
      const std::filesystem::path path = folder(mount, name);
      made_.push_back(std::make_unique<lab::cpu_group>(path.parent_path(), path.filename().string(),
                                                       v2_ ? 2 : 1, lab::group_removal::at_end));
    }
    const lab::cpu_group& group = *made_[first];  // in the hierarchy with the controller cpu
    group.set_weight(weight);
    if (quota > 0) group.set_quota(quota);
    if (inner) group.allow_groups_below();
  } catch (const std::system_error& error) {
    throw no_groups(error.what());
  }
}

void control_groups::place(pid_t process, const std::string& name) const {
  try {
    for (const std::string& mount : mounts_)
      lab::move_into_group(name.empty() ? mount : folder(mount, name), process);
  } catch (const std::system_error& error) {
    throw no_groups(error.what());
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
  throw no_groups(mounts_.front() + "/cpu.stat has no usage_usec");
}

void control_groups::remove() {
  while (!made_.empty()) made_.pop_back();  // those below others were made after them
}

}  // namespace sukima::truth
