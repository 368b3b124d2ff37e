// SPDX-License-Identifier: Apache-2.0
// Reading the limits; see capacity_view.hpp.
#include "capacity_view.hpp"

#include <fmt/format.h>
#include <signal.h>

#include <cerrno>
#include <cmath>
#include <new>
#include <stdexcept>

#include "console.hpp"

namespace sukima::cli {

capacity_report read_capacity(pid_t process, const std::string& root) {
  if (process != 0 && root.empty() && kill(process, 0) != 0 && errno == ESRCH)
    throw usage_error(fmt::format("there is no process {}: give the number of a running one", process));
  sukima_capacity_options options{};
  options.pid = process;
  options.root = root.c_str();
  capacity_report report(sukima_capacity_explain(&options));
  if (!report) throw std::bad_alloc();
  if (report->error != nullptr) throw usage_error(report->error);
  return report;
}

const sukima_capacity_limit& binding_limit(const sukima_capacity_report& report) {
  for (std::size_t i = 0; i < report.limit_count; ++i)
    if (report.limits[i].is_binding != 0) return report.limits[i];
  static constexpr sukima_capacity_limit unknown{
      SUKIMA_CAPACITY_ONLINE,
      1,
      0,
      0,
      1,
      "",
      "nothing is known about the CPUs of this machine, so one is assumed"};
  return unknown;
}

std::string cpus_text(double cpus) {
  const double rounded = std::round(cpus * 100) / 100;
  return fmt::format("{:.4g} {}", rounded, rounded == 1 ? "CPU" : "CPUs");
}

}  // namespace sukima::cli
