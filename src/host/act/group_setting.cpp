// SPDX-License-Identifier: Apache-2.0
// Finds the file that holds the cap or the weight of a control group, and the form of a value in it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "shared/act.hpp"
#include "shared/files.hpp"

namespace sukima::host {
namespace {

/// Microseconds; the kernel accepts no shorter quota.
constexpr double least_quota = 1000;
constexpr double usual_period = 100000;

bool is_there(const std::filesystem::path& file) {
  std::error_code ignored;
  return std::filesystem::exists(file, ignored);
}

double period_in(const std::optional<std::string>& text, std::size_t field) {
  if (!text) return usual_period;
  const std::string_view all = *text;
  const std::size_t at =
      field == 0 ? 0 : std::min(all.size(), all.find(' ') == all.npos ? all.size() : all.find(' ') + 1);
  const double value = std::atof(std::string(all.substr(at)).c_str());
  return value >= least_quota ? value : usual_period;
}

/// \throws act_error  always: the folder is not a control group with CPU
[[noreturn]] void refuse(const std::filesystem::path& group, const char* what) {
  throw act_error(fmt::format("{} has no {}: {}", group.string(), what,
                              is_there(group) ? "it is not a control group with CPU"
                                              : "there is no such folder; set 'cgroup' to the full path, "
                                                "including the mount point, such as /sys/fs/cgroup"));
}

}  // namespace

group_setting cap_setting(const std::filesystem::path& group, std::optional<double> cpus) {
  const bool second = is_there(group / "cpu.max");
  const auto file = group / (second ? "cpu.max" : "cpu.cfs_quota_us");
  if (!second && !is_there(file)) refuse(group, "cap");
  const double period = second ? period_in(read_small_file(file), 1)
                               : period_in(read_small_file(group / "cpu.cfs_period_us"), 0);
  const double quota = std::round(cpus.value_or(0) * period);
  if (cpus && quota < least_quota)
    throw act_error(fmt::format(
        "{} accepts no cap below {:g} CPUs: its period is {:.0f} us, and the least quota is {:.0f} us",
        file.string(), least_quota / period, period, least_quota));
  if (second)
    return {file, cpus ? fmt::format("{:.0f} {:.0f}", quota, period) : fmt::format("max {:.0f}", period)};
  return {file, cpus ? fmt::format("{:.0f}", quota) : "-1"};
}

group_setting weight_setting(const std::filesystem::path& group, unsigned weight) {
  const bool second = is_there(group / "cpu.weight");
  const auto file = group / (second ? "cpu.weight" : "cpu.shares");
  if (!second && !is_there(file)) refuse(group, "weight");
  if (second && (weight < 1 || weight > 10000))
    throw act_error(fmt::format("{} accepts weights from 1 to 10000", file.string()));
  if (!second && (weight < 2 || weight > 262144))
    throw act_error(fmt::format("{} accepts weights from 2 to 262144", file.string()));
  return {file, std::to_string(weight)};
}

}  // namespace sukima::host
