// SPDX-License-Identifier: Apache-2.0
// The CPU that a process may use, in C++: the limits with their reasons, and what the neighbours leave.
#pragma once

#include <sukima/capacity.h>
#include <sukima/capacity/estimate.h>
#include <sys/types.h>

#include <map>
#include <memory>
#include <set>
#include <string>

namespace sukima::cli {

struct report_freer {
  void operator()(sukima_capacity_report* report) const { sukima_capacity_report_free(report); }
};
using capacity_report = std::unique_ptr<sukima_capacity_report, report_freer>;

struct estimator_closer {
  void operator()(sukima_capacity_estimator* estimator) const { sukima_capacity_estimator_close(estimator); }
};

/// Measures what a process gets, and estimates what k threads of it would get beside its neighbours.
class capacity_meter {
 public:
  /// \param process 0 is this one
  /// \throws usage_error if the user's `SUKIMA_CPUS` is no number, or if there is no such process
  /// \throws std::bad_alloc
  explicit capacity_meter(pid_t process = 0);

  /// Takes samples for so many seconds, sleeping in between: at least two.
  void measure(double seconds);
  /// Measures until the neighbours are known: 30 ms if there are none, otherwise 130 ms, more than one period
  /// of the usual quota.
  void measure_quickly();
  /// The same while a program waits for its start: 10 ms if no neighbour is seen, otherwise 25 ms.
  void measure_briefly();
  /// Probes for steal time: reads a clock on each of these CPUs at once, for so many seconds, and counts the
  /// gaps as taken. For virtual machines whose hypervisor does not report steal time.
  /// \return the part of the time that was taken from each; not-a-number where that cannot be known
  std::map<unsigned, double> probe_steal(const std::set<unsigned>& cpus, double seconds);
  /// Takes one sample now.
  void sample() { sukima_capacity_estimator_sample(estimator_.get(), 0); }

  sukima_capacity_facts facts() const;
  sukima_capacity_load load() const;
  /// What this many always runnable threads would get; 0: as many as may run at the same moment.
  sukima_capacity_estimate usable(double threads = 0) const;
  /// The limits and the other reasons of the estimates, as text.
  capacity_report explain() const;

 private:
  std::unique_ptr<sukima_capacity_estimator, estimator_closer> estimator_;
};

/// Why this much can be used, in one sentence with the file that it comes from: the limit that decides, or
/// the neighbour that uses most.
std::string reason_for(const sukima_capacity_report& report, const sukima_capacity_estimate& estimate);

/// The limit that the number of usable CPUs comes from; never null.
const sukima_capacity_limit& binding_limit(const sukima_capacity_report& report);

/// "1.5 CPUs", "1 CPU".
std::string cpus_text(double cpus);

}  // namespace sukima::cli
