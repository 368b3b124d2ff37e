// SPDX-License-Identifier: Apache-2.0
// What a process may use, read once, in C++: the limits with their reasons.
#pragma once

#include <sukima/capacity.h>
#include <sys/types.h>

#include <memory>
#include <string>

namespace sukima::cli {

struct report_freer {
  void operator()(sukima_capacity_report* report) const { sukima_capacity_report_free(report); }
};
using capacity_report = std::unique_ptr<sukima_capacity_report, report_freer>;

/// Reads the limits of a process.
/// \param process 0 is this one; for another one the environment (`SUKIMA_CPUS`) is not read
/// \param root    put before every path of /proc and /sys; "" is the running machine
/// \throws usage_error if the user's `SUKIMA_CPUS` is no number, or if there is no such process
/// \throws std::bad_alloc
capacity_report read_capacity(pid_t process = 0, const std::string& root = {});

/// The limit that the number of usable CPUs comes from; never null.
const sukima_capacity_limit& binding_limit(const sukima_capacity_report& report);

/// "1.5 CPUs", "1 CPU".
std::string cpus_text(double cpus);

}  // namespace sukima::cli
