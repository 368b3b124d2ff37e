// SPDX-License-Identifier: Apache-2.0
// The surroundings of a process; see warnings.hpp.
#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <system_error>

#include "probe/warnings.hpp"

namespace sukima::cli::probe {
namespace {

/// Returns "0-1,4" as numbers, up to the first part that is not a number.
std::set<unsigned> numbers_of(const std::string& list) {
  constexpr unsigned most = 65536;
  std::set<unsigned> numbers;
  std::istringstream parts(list);
  for (std::string part; std::getline(parts, part, ',');) {
    std::istringstream range(part);
    unsigned first = 0;
    unsigned last = 0;
    if (!(range >> first)) break;
    if (range.get() != '-' || !(range >> last)) last = first;
    for (unsigned n = first; n <= last && n < most; ++n) numbers.insert(n);
  }
  return numbers;
}

std::set<unsigned> memory_nodes_of(const std::string& folder) {
  std::ifstream status(folder + "/status");
  for (std::string line; std::getline(status, line);) {
    constexpr std::string_view name = "Mems_allowed_list:";
    if (line.starts_with(name)) return numbers_of(line.substr(name.size()));
  }
  return {};
}

/// Returns the variables with which a process was started.
std::map<std::string, std::string> variables_of(const std::string& folder) {
  std::ifstream stream(folder + "/environ", std::ios::binary);
  std::map<std::string, std::string> variables;
  for (std::string entry; std::getline(stream, entry, '\0');) {
    const std::size_t equals = entry.find('=');
    if (equals != std::string::npos) variables.emplace(entry.substr(0, equals), entry.substr(equals + 1));
  }
  return variables;
}

}  // namespace

surroundings surroundings_of(pid_t process, const sukima_capacity_facts& facts) {
  surroundings place;
  place.facts = facts;
  place.usable = facts.usable;
  place.machine = read_topology();
  const std::string folder = process == 0 ? "/proc/self" : fmt::format("/proc/{}", process);
  try {
    place.allowed = allowed_cpus(process);
  } catch (const std::system_error&) {
    // It is another user's process, or it has just ended. Without the mask some warnings are omitted.
  }
  place.memory_nodes = memory_nodes_of(folder);
  if (process == 0) {
    place.variable = [](const std::string& name) -> std::optional<std::string> {
      const char* const value = std::getenv(name.c_str());
      return value == nullptr ? std::nullopt : std::optional<std::string>(value);
    };
  } else {
    place.variable = [variables =
                          variables_of(folder)](const std::string& name) -> std::optional<std::string> {
      const auto found = variables.find(name);
      return found == variables.end() ? std::nullopt : std::optional(found->second);
    };
  }
  return place;
}

}  // namespace sukima::cli::probe
