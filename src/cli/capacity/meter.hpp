// SPDX-License-Identifier: Apache-2.0
// Measures the CPU that a process may use, in C++: the limits with their reasons, and the part that the
// neighbours leave.
#pragma once

#include <sukima/capacity.h>
#include <sukima/capacity/estimate.h>
#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
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

/// The process or recorded tree that a meter observes.
struct meter_place {
  pid_t process = 0;  ///< 0: this process
  std::string root{};  ///< a prefix for /proc and /sys; "": the running machine
  bool is_recorded = false;  ///< the root is a recorded tree, and the process belongs to it
  std::optional<std::string> override_text{};  ///< replaces the value of `SUKIMA_CPUS`
};

/// Returns whether the process exists and has not ended; 0: this process.
bool is_there(pid_t process);

/// Measures what a process gets, and estimates what k threads of it would get beside its neighbours.
class capacity_meter {
 public:
  /// \param process 0: this process
  /// \throws usage_error if the user's `SUKIMA_CPUS` is not a number, or if there is no such process
  /// \throws std::bad_alloc
  explicit capacity_meter(pid_t process = 0) : capacity_meter(meter_place{.process = process}) {}
  explicit capacity_meter(const meter_place& place);

  /// Takes samples for this number of seconds and sleeps in between; at least two samples.
  void measure(double seconds);
  /// Measures until the neighbours are known. It takes 30 ms if there are none, otherwise 130 ms, which is
  /// longer than one period of the usual quota.
  void measure_quickly();
  /// The same while a program waits for its start: 10 ms if no neighbour is found, otherwise 25 ms.
  void measure_briefly();
  /// Probes for steal time: reads a clock on each of these CPUs at once for this number of seconds, and
  /// counts the gaps as taken. For virtual machines whose hypervisor does not report steal time.
  /// \return the part of the time that was taken from each CPU; not-a-number if it is unknown
  std::map<unsigned, double> probe_steal(const std::set<unsigned>& cpus, double seconds);
  /// Takes one sample now.
  void sample() { sample_at(0); }
  /// The same for a recorded tree. \param time_ns later than that of the previous sample; 0: now
  void sample_at(std::uint64_t time_ns) { sukima_capacity_estimator_sample(estimator_.get(), time_ns); }

  sukima_capacity_facts facts() const;
  sukima_capacity_load load() const;
  /// The CPU that this many always runnable threads would get; 0: as many as can run at the same moment.
  sukima_capacity_estimate usable(double threads = 0) const;
  /// The cause of the largest loss.
  sukima_capacity_kind cause(const sukima_capacity_estimate& estimate) const;
  /// The limits and the other reasons of the estimates, as text.
  capacity_report explain() const;

 private:
  std::unique_ptr<sukima_capacity_estimator, estimator_closer> estimator_;
};

/// Returns the reason for the number of usable CPUs, in one sentence with its file. The reason is the cause
/// of the largest loss. If that is a limit within which others take a part, the sentence names them, too.
/// \param root the folder before the names of files; the text omits it
std::string reason_for(const sukima_capacity_report& report, const sukima_capacity_estimate& estimate,
                       const std::string& root = {});

/// The same by the facts alone, without neighbours and hypervisors: the smallest limit.
std::string reason_for_limits(const sukima_capacity_report& report);

/// Returns the limit that determines the number of usable CPUs; never null.
const sukima_capacity_limit& binding_limit(const sukima_capacity_report& report);

/// "1.5 CPUs", "1 CPU".
std::string cpus_text(double cpus);

}  // namespace sukima::cli
