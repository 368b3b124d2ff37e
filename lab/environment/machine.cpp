// SPDX-License-Identifier: Apache-2.0
// The machine's description from /proc and uname; see machine.hpp.
#include "shared/machine.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sukima/capacity.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <base/shared/clock.hpp>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <fstream>

#include <base/shared/errors.hpp>

namespace sukima::lab {
namespace {

/// The value of the first line `KEY : VALUE` of a file in /proc; empty if there is none.
std::string proc_value(const char* file, std::string_view key) {
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t colon = line.find(':');
    if (!line.starts_with(key) || colon == std::string::npos) continue;
    const std::size_t value = line.find_first_not_of(" \t", colon + 1);
    return value == std::string::npos ? std::string() : line.substr(value);
  }
  return {};
}

}  // namespace

int usable_cpus() {
  sukima_capacity_facts facts{};
  if (sukima_capacity_read(nullptr, &facts) == EINVAL) {
    const char* setting = std::getenv("SUKIMA_CPUS");
    throw process::usage_error(
        fmt::format("SUKIMA_CPUS is '{}', which is not a number of CPUs: set it to a number above 0, "
                    "such as 2 or 1.5, or unset it",
                    setting == nullptr ? "" : setting));
  }
  return static_cast<int>(sukima_capacity_threads(facts.usable, nullptr));
}

machine_facts describe_machine() {
  machine_facts facts;
  const auto add = [&](const char* name, std::string value) {
    if (!value.empty()) facts.emplace_back(name, std::move(value));
  };
  utsname system{};
  uname(&system);
  std::string model = proc_value("/proc/cpuinfo", "model name");
  add("cpu", model.empty() ? system.machine : model);
  add("cpus", fmt::format("{} usable of {} online", usable_cpus(), sysconf(_SC_NPROCESSORS_ONLN)));
  add("memory", fmt::format("{:.1f} GiB", static_cast<double>(sysconf(_SC_PHYS_PAGES)) *
                                              static_cast<double>(sysconf(_SC_PAGE_SIZE)) / (1 << 30)));
  add("kernel", fmt::format("{} {}", system.sysname, system.release));
  add("date", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", whole_wall_seconds()));
  return facts;
}

std::string one_line(const machine_facts& facts) {
  std::string line;
  for (const auto& [name, value] : facts) {
    if (!line.empty()) line += "; ";
    line += name == "cpu" ? value : fmt::format("{} {}", name, value);
  }
  return line;
}

}  // namespace sukima::lab
