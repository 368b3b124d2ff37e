// SPDX-License-Identifier: Apache-2.0
// Reads control groups as directories; see group_tree.hpp.
#include "source/group_tree.hpp"

#include <capacity/shared/group.h>
#include <capacity/shared/mount_text.h>
#include <glob.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>

#include "shared/description.hpp"
#include "source/files.hpp"

namespace sukima::host {
namespace {

namespace fs = std::filesystem;

/// How deep the groups below a container's group are searched for its threads.
constexpr int most_depth = 6;

bool has_word(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(','), list.size());
    if (list.substr(0, end) == word) return true;
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return false;
}

/// Replaces the octal escapes in mountinfo.
std::string unescaped(std::string_view text) {
  std::string result(text);
  result.resize(cap_decode_mount_text(result.data(), result.size()));
  return result;
}

/// The number of names in a path.
std::size_t depth_of(std::string_view path) {
  return path == "/" ? 0 : static_cast<std::size_t>(std::ranges::count(path, '/'));
}

std::string parent_of(const std::string& group) {
  const std::size_t slash = group.rfind('/');
  return slash == std::string::npos || slash == 0 ? "/" : group.substr(0, slash);
}

std::vector<std::uint32_t> list_in(const std::string& path) {
  const auto text = read_text(path);
  if (!text || trimmed(*text).empty()) return {};
  try {
    return parse_cpu_list(trimmed(*text));
  } catch (const description_error&) {
    return {};
  }
}

}  // namespace

group_tree::group_tree(std::string root) : root_(std::move(root)) {
  std::string second;
  // If a hierarchy is mounted several times, use the mount that shows the largest part of it; of equal parts,
  // the mount on top.
  std::map<const std::string*, std::string> shown;
  const auto take = [&](std::string& into, const std::string& where, std::string_view part) {
    const auto [known, is_first] = shown.try_emplace(&into, part);
    if (!is_first && depth_of(part) > depth_of(known->second)) return;
    if (!is_first && depth_of(part) == depth_of(known->second) && where != into) return;
    known->second = part;
    into = where;
  };
  const std::string mounts = read_text(root_ + "/proc/self/mountinfo").value_or("");
  for (const std::string_view line : lines_of(mounts)) {
    // ID PARENT DEVICE ROOT MOUNT-POINT OPTIONS [FIELDS…] - TYPE SOURCE OPTIONS
    const auto words = words_of(line);
    const auto dash = std::ranges::find(words, "-");
    if (words.size() < 6 || words.end() - dash < 4) continue;
    const std::string where = root_ + unescaped(words[4]);
    const std::string_view options = dash[3];
    if (dash[1] == "cgroup2") {
      take(second, where, words[3]);
    } else if (dash[1] == "cgroup") {
      if (has_word(options, "cpu")) take(cpu_, where, words[3]);
      if (has_word(options, "cpuacct")) take(accounting_, where, words[3]);
      if (has_word(options, "cpuset")) take(sets_, where, words[3]);
      if (has_word(options, "freezer")) take(freezer_, where, words[3]);
    }
  }
  if (!cpu_.empty() || second.empty()) return;
  if (const auto controllers = read_text(second + "/cgroup.controllers")) {
    const auto words = words_of(*controllers);
    if (std::ranges::find(words, "cpu") == words.end()) return;
    v2_ = true;
    cpu_ = sets_ = second;
  }
}

std::string group_tree::quota_owner(const std::string& group) const {
  std::string owner;
  double least = std::numeric_limits<double>::infinity();
  for (std::string at = group;; at = parent_of(at)) {
    cap_group_facts facts;
    if (there() && cap_group_facts_read(directory(at).c_str(), nullptr, v2_, &facts) && facts.quota < least) {
      least = facts.quota;
      owner = at;
    }
    if (at == "/") return owner;
  }
}

std::optional<group_facts> group_tree::facts(const std::string& group) const {
  cap_group_facts own;
  const std::string accounting = accounting_ + group;
  if (!there() || !cap_group_facts_read(directory(group).c_str(),
                                        accounting_.empty() ? nullptr : accounting.c_str(), v2_, &own))
    return std::nullopt;
  group_facts result;
  double quota = own.quota;
  for (std::string above = group; above != "/";) {
    above = parent_of(above);
    cap_group_facts upper;
    if (cap_group_facts_read(directory(above).c_str(), nullptr, v2_, &upper))
      quota = std::min(quota, upper.quota);
  }
  if (std::isfinite(quota)) result.quota = quota;
  if (own.weight > 0) result.weight = own.weight;
  if (own.has_usage) result.usage = static_cast<double>(own.usage_ns) * 1e-9;
  if (own.has_throttling) result.throttled = static_cast<double>(own.throttled_ns) * 1e-9;
  if (own.has_pressure) result.some_waited = static_cast<double>(own.some_waited_ns) * 1e-9;
  // A group without the controller cpuset uses the CPUs of the nearest group above that has it.
  for (std::string above = group; !sets_.empty(); above = parent_of(above)) {
    for (const char* name : {"/cpuset.cpus.effective", "/cpuset.effective_cpus", "/cpuset.cpus"})
      if (result.cpus.empty()) result.cpus = list_in(sets_ + above + name);
    if (!result.cpus.empty() || above == "/") break;
  }
  return result;
}

std::vector<std::string> group_tree::match(const std::string& pattern) const {
  std::vector<std::string> groups;
  std::string quoted;  // do not treat characters of the mount point as a pattern
  for (const char c : cpu_) {
    if (std::string_view("*?[]\\").find(c) != std::string_view::npos) quoted += '\\';
    quoted += c;
  }
  glob_t found{};
  const std::string whole = quoted + (pattern.starts_with('/') ? "" : "/") + pattern;
  if (there() && glob(whole.c_str(), GLOB_ONLYDIR, nullptr, &found) == 0)
    for (std::size_t i = 0; i < found.gl_pathc; ++i) {
      std::string path(found.gl_pathv[i] + cpu_.size());
      while (path.size() > 1 && path.ends_with('/')) path.pop_back();
      std::error_code failed;
      if (fs::is_directory(found.gl_pathv[i], failed)) groups.push_back(path);
    }
  globfree(&found);
  return groups;
}

std::vector<std::string> group_tree::below(const std::string& group) const {
  std::vector<std::string> names;
  std::error_code failed;
  for (fs::directory_iterator at(directory(group), failed), end; !failed && at != end; at.increment(failed)) {
    std::error_code unknown;
    if (at->is_directory(unknown)) names.push_back(at->path().filename().string());
  }
  std::ranges::sort(names);
  return names;
}

void group_tree::add_members(const std::string& group, const char* file, std::size_t most, int depth,
                             std::vector<long>& members) const {
  const std::string text = read_text(directory(group) + file).value_or("");
  for (const std::string_view line : lines_of(text)) {
    if (members.size() >= most) return;
    if (const auto member = number_of(line); member && *member > 0 && *member < 1U << 30)
      members.push_back(static_cast<long>(*member));
  }
  if (depth == 0) return;
  for (const std::string& name : below(group))
    add_members((group == "/" ? "" : group) + "/" + name, file, most, depth - 1, members);
}

std::vector<long> group_tree::threads(const std::string& group, std::size_t most) const {
  std::vector<long> members;
  if (there()) add_members(group, v2_ ? "/cgroup.threads" : "/tasks", most, most_depth, members);
  return members;
}

std::vector<long> group_tree::processes(const std::string& group, std::size_t most) const {
  std::vector<long> members;
  if (there()) add_members(group, "/cgroup.procs", most, most_depth, members);
  std::ranges::sort(members);
  members.erase(std::ranges::unique(members).begin(), members.end());
  return members;
}

bool group_tree::frozen(const std::string& group) const {
  // Version 1 shows the state that results from this group and the groups above it.
  if (!v2_) return trimmed(read_text(freezer_ + group + "/freezer.state").value_or("")) == "FROZEN";
  // The groups above may be invisible here, but their effect is an event of this group.
  const std::string events = read_text(cpu_ + group + "/cgroup.events").value_or("");
  for (const std::string_view line : lines_of(events))
    if (words_of(line) == std::vector<std::string_view>{"frozen", "1"}) return true;
  // The event happens when the last thread has stopped; the request to freeze may be older.
  for (std::string at = group;; at = parent_of(at)) {
    if (trimmed(read_text(cpu_ + at + "/cgroup.freeze").value_or("")) == "1") return true;
    if (at == "/") return false;
  }
}

std::optional<std::string> group_tree::group_of(const std::string& text) const {
  for (const std::string_view line : lines_of(text)) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    if (v2_ ? controllers.empty() && line.starts_with("0:") : has_word(controllers, "cpu"))
      return std::string(line.substr(second + 1));
  }
  return std::nullopt;
}

}  // namespace sukima::host
