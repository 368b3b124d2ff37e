// SPDX-License-Identifier: Apache-2.0
// Reads the pCPUs of this machine, and how long each was busy.
#include <base/shared/clock.hpp>

#include <filesystem>
#include <map>
#include <unordered_set>

#include "shared/source.hpp"
#include "source/files.hpp"

namespace sukima::host {
namespace {

/// Ticks of /proc/stat per second. In user space the value is the same on all Linux machines.
constexpr double ticks = 100;

/// The busy seconds in a line "cpu3 user nice system idle iowait irq softirq steal …". User and nice include
/// the guests' time. Stolen time counts as busy, because no machine here can use it.
double busy_of(const std::vector<std::string_view>& words) {
  double sum = 0;
  for (const std::size_t field : {1U, 2U, 3U, 6U, 7U, 8U})
    if (field < words.size()) sum += static_cast<double>(number_of(words[field]).value_or(0));
  return sum / ticks;
}

/// The ids in a file's list such as "0-3,8"; nothing if the file is missing, empty or malformed.
std::optional<std::vector<std::uint32_t>> read_list(const std::string& path) {
  const auto text = read_text(path);
  if (!text || trimmed(*text).empty()) return std::nullopt;
  try {
    return parse_cpu_list(trimmed(*text));
  } catch (const description_error&) {
    return std::nullopt;
  }
}

std::map<std::uint32_t, std::uint32_t> read_nodes(const std::string& root) {
  std::map<std::uint32_t, std::uint32_t> nodes;
  const std::string folder = root + "/sys/devices/system/node";
  for (const std::uint32_t node : read_list(folder + "/online").value_or(std::vector<std::uint32_t>{}))
    for (const std::uint32_t cpu : read_list(folder + "/node" + std::to_string(node) + "/cpulist")
                                       .value_or(std::vector<std::uint32_t>{}))
      nodes[cpu] = node;
  return nodes;
}

}  // namespace

snapshot read_machine(const std::string& root) {
  snapshot result;
  const auto stat = read_text(root + "/proc/stat");
  result.clock = steady_seconds();
  result.taken = wall_seconds();
  if (!stat) throw source_error(root + "/proc/stat cannot be read; the host must run Linux");
  const auto nodes = read_nodes(root);
  std::unordered_set<std::uint32_t> seen;
  for (const std::string_view line : lines_of(*stat)) {
    const auto words = words_of(line);
    if (words.size() < 5 || !words[0].starts_with("cpu")) continue;
    const auto id = number_of(words[0].substr(3));
    if (!id || *id > most_id || result.pcpus.size() == most_pcpus) continue;
    pcpu one;
    one.id = static_cast<std::uint32_t>(*id);
    if (!seen.insert(one.id).second) continue;  // of a CPU that is there twice, the first line counts
    if (const auto found = nodes.find(one.id); found != nodes.end()) one.node = found->second;
    // A core is identified by the first of its hardware threads, because each socket may have a core with the
    // same number.
    const auto siblings = read_list(root + "/sys/devices/system/cpu/cpu" + std::to_string(one.id) +
                                    "/topology/thread_siblings_list");
    if (siblings) one.core = siblings->front();
    result.pcpus.push_back(std::move(one));
    result.busy.push_back(busy_of(words));
  }
  if (result.pcpus.empty()) throw source_error(root + "/proc/stat names no CPU; the host must run Linux");
  return result;
}

}  // namespace sukima::host
