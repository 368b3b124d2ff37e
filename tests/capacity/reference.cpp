// SPDX-License-Identifier: Apache-2.0
// A second way to compute the facts: regular expressions, std::set and std::filesystem.
#include "reference.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <vector>

namespace sukima_test {
namespace {

namespace fs = std::filesystem;
using cpus = std::set<unsigned>;

std::optional<std::string> slurp(const fs::path& path) {
  if (!fs::is_regular_file(path)) return std::nullopt;
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

std::vector<std::string> lines_of(const fs::path& path) {
  std::istringstream in(slurp(path).value_or(""));
  std::vector<std::string> result;
  for (std::string line; std::getline(in, line);) result.push_back(line);
  return result;
}

// Nothing if the list is malformed.
std::optional<cpus> parse_list(const std::optional<std::string>& text) {
  static const std::regex whole(R"(\s*(\d+(-\d+)?(,\d+(-\d+)?)*)?\s*)");
  static const std::regex range(R"((\d+)(?:-(\d+))?)");
  if (!text || !std::regex_match(*text, whole)) return std::nullopt;
  cpus result;
  for (std::sregex_iterator at(text->begin(), text->end(), range), end; at != end; ++at) {
    const unsigned long first = std::stoul((*at)[1]);
    const unsigned long last = (*at)[2].matched ? std::stoul((*at)[2]) : first;
    if (last < first) return std::nullopt;
    for (unsigned long cpu = first; cpu <= last; cpu++) result.insert(static_cast<unsigned>(cpu));
  }
  return result;
}

cpus common(const cpus& a, const cpus& b) {
  cpus result;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::inserter(result, result.end()));
  return result;
}

std::string unescape(const std::string& text) {
  static const std::regex octal(R"(\\([0-3][0-7][0-7]))");
  std::string result;
  auto last = text.begin();
  for (std::sregex_iterator at(text.begin(), text.end(), octal), end; at != end; ++at) {
    result.append(last, text.begin() + at->position());
    result += static_cast<char>(std::stoi((*at)[1], nullptr, 8));
    last = text.begin() + at->position() + at->length();
  }
  return result.append(last, text.end());
}

bool has_word(const std::string& list, const std::string& word) {
  return std::regex_search(list, std::regex("(^|,)" + word + "(,|$)"));
}

// The folders from the process's group up to the mount.
using levels = std::vector<fs::path>;

std::optional<levels> find_levels(const std::string& root, const std::string& type,
                                  const std::string& controller) {
  static const std::regex group_line(R"((\d+):([^:]*):(/.*))");
  static const std::regex mount_line(R"(\S+ \S+ \S+ (\S+) (\S+) (?:\S+ )+?- (\S+) \S+ (.*))");
  std::optional<std::string> group;
  for (const std::string& line : lines_of(root + "/proc/self/cgroup")) {
    std::smatch part;
    if (group || !std::regex_match(line, part, group_line)) continue;
    if (type == "cgroup2" ? part[1] == "0" && part[2] == ""
                          : part[1] != "0" && has_word(part[2], controller)) {
      group = part[3];
    }
  }
  if (!group) return std::nullopt;
  std::optional<levels> best;
  std::size_t best_length = 0;
  for (const std::string& line : lines_of(root + "/proc/self/mountinfo")) {
    std::smatch part;
    if (!std::regex_match(line, part, mount_line) || part[3] != type) continue;
    if (type == "cgroup" && !has_word(part[4], controller)) continue;
    const std::string mount_root = unescape(part[1]);
    const fs::path below = fs::path(*group).lexically_relative(mount_root);
    if (below.empty() || *below.begin() == "..") continue;
    fs::path folder = root + unescape(part[2]);
    levels found = {folder};
    for (const fs::path& name : below) {
      if (name != ".") found.push_back(folder /= name);
    }
    if (!fs::is_directory(folder) || (best && mount_root.length() >= best_length)) continue;
    best = levels(found.rbegin(), found.rend());
    best_length = mount_root.length();
  }
  return best.value_or(levels{});
}

struct quota_value {
  double cpus;
  unsigned long long period_us;
};

std::optional<quota_value> read_quota(const fs::path& folder, bool v2) {
  static const std::regex number(R"(\s*(0*[1-9]\d{0,17})\s*)");
  static const std::regex both(R"(\s*(0*[1-9]\d{0,17}) (?:\s*)(0*[1-9]\d{0,17})\s*)");
  std::smatch part;
  if (v2) {
    const std::string text = slurp(folder / "cpu.max").value_or("");
    if (!std::regex_match(text, part, both)) return std::nullopt;
    return quota_value{std::stod(part[1]) / std::stod(part[2]), std::stoull(part[2])};
  }
  const std::string text = slurp(folder / "cpu.cfs_quota_us").value_or("");
  const std::string period_text = slurp(folder / "cpu.cfs_period_us").value_or("");
  std::smatch period;
  if (!std::regex_match(text, part, number) || !std::regex_match(period_text, period, number))
    return std::nullopt;
  return quota_value{std::stod(part[1]) / std::stod(period[1]), std::stoull(period[1])};
}

}  // namespace

reference_facts compute_reference(const std::string& root) {
  reference_facts result;
  const cpus online = parse_list(slurp(root + "/sys/devices/system/cpu/online")).value_or(cpus{});
  cpus allowed;
  for (const std::string& line : lines_of(root + "/proc/self/status")) {
    static const std::string key = "Cpus_allowed_list:";
    if (line.compare(0, key.size(), key) == 0) allowed = parse_list(line.substr(key.size())).value_or(cpus{});
  }
  const std::optional<levels> v1 = find_levels(root, "cgroup", "cpu");
  const std::optional<levels> v2 = find_levels(root, "cgroup2", "");
  cpus set_of_groups;
  const auto take_cpuset = [&](const levels& folders, const std::vector<std::string>& names) {
    for (const fs::path& folder : folders) {
      for (const std::string& name : names) {
        if (set_of_groups.empty()) set_of_groups = parse_list(slurp(folder / name)).value_or(cpus{});
      }
    }
  };
  take_cpuset(find_levels(root, "cgroup", "cpuset").value_or(levels{}),
              {"cpuset.effective_cpus", "cpuset.cpus"});
  take_cpuset(v2.value_or(levels{}), {"cpuset.cpus.effective"});

  // A list 0 to n-1 that lacks CPUs of a cpuset, or is as long as the mask and lacks some of it, is made up.
  const auto is_inside = [](const cpus& a, const cpus& b) { return common(a, b) == a; };
  const bool made_up =
      !online.empty() && *online.rbegin() + 1 == online.size() && !is_inside(allowed, online) &&
      (set_of_groups.empty() ? allowed.size() == online.size()
                             : !common(allowed, set_of_groups).empty() && !is_inside(set_of_groups, online));
  if (!made_up && !common(allowed, online).empty()) allowed = common(allowed, online);

  result.online = static_cast<unsigned>(online.size());
  result.affinity = static_cast<unsigned>(allowed.size());
  result.cpuset = static_cast<unsigned>(set_of_groups.size());
  cpus left = !allowed.empty() ? allowed : !set_of_groups.empty() ? set_of_groups : online;
  if (!common(left, set_of_groups).empty()) left = common(left, set_of_groups);
  result.cap = static_cast<unsigned>(left.size());
  if (!online.empty()) result.cap = std::min(result.cap, result.online);
  result.cap = std::max(result.cap, 1U);

  result.quota = std::numeric_limits<double>::infinity();
  const levels& folders = v1 ? *v1 : v2 ? *v2 : levels{};
  for (const fs::path& folder : folders) {
    const std::optional<quota_value> quota = read_quota(folder, !v1);
    if (quota && quota->cpus < result.quota) {
      result.quota = quota->cpus;
      result.period_us = quota->period_us;
    }
  }
  if (!folders.empty()) {
    static const std::regex number(R"(\s*(0*[1-9]\d{0,17})\s*)");
    const std::string text = slurp(folders.front() / (v1 ? "cpu.shares" : "cpu.weight")).value_or("");
    std::smatch part;
    if (std::regex_match(text, part, number)) result.weight = std::stod(part[1]) / (v1 ? 1024 : 100);
    static const std::regex idle(R"(\s*0+\s*)");  // what version 2 shows for an idle group
    if (!v1 && std::regex_match(text, idle)) result.weight = 3.0 / 1024;
  }
  result.usable = std::min<double>(result.cap, result.quota);
  return result;
}

}  // namespace sukima_test
