// SPDX-License-Identifier: Apache-2.0
// The C++ interface of sukima::capacity: the functions of <sukima/capacity.h>, with owners and exceptions.
#pragma once

#include <sukima/capacity.h>

#include <cerrno>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <system_error>

/// \file
/// How many CPUs this process may use, and how much CPU it gets. <sukima/capacity.h> and
/// <sukima/capacity/estimate.h> define all numbers. A malformed `SUKIMA_CPUS` becomes a
/// std::invalid_argument with the sentence that names it.

namespace sukima::capacity {
/// \addtogroup capacity
/// @{

using facts = sukima_capacity_facts;  ///< numbers of CPUs, and the limit from which they come
using limit = sukima_capacity_limit;  ///< one limit, for people to read
using note = sukima_capacity_note;  ///< something that was ignored
using load = sukima_capacity_load;  ///< measurements
using estimate = sukima_capacity_estimate;  ///< the CPU that a number of threads would get
using policy = sukima_capacity_policy;  ///< how to round a number of CPUs to a number of threads

/// The process and machine to read; see sukima_capacity_options.
struct options {
  std::string root{};                          ///< of a recorded tree; empty: the running machine
  std::optional<std::string> override_text{};  ///< instead of the environment variable
  pid_t pid = 0;                               ///< 0: the caller
  sukima_capacity_affinity affinity = SUKIMA_CAPACITY_OF_PROCESS;  ///< the affinity mask that counts

  /// Returns the options in the form of the C interface, valid as long as this object.
  [[nodiscard]] sukima_capacity_options plain() const {
    sukima_capacity_options result{};
    result.root = root.c_str();
    result.override_text = override_text ? override_text->c_str() : nullptr;
    result.pid = pid;
    result.affinity = affinity;
    return result;
  }
};

/// The numbers, and the reasons for them. Its data is valid as long as the object.
class report {
 public:
  /// Takes over a report.
  /// \throws std::bad_alloc if it is null, std::invalid_argument if the override in it is malformed
  explicit report(sukima_capacity_report* given) : report_(given) {
    if (!report_) throw std::bad_alloc();
    if (report_->error != nullptr) throw std::invalid_argument(report_->error);
  }

  /// Returns the numbers.
  [[nodiscard]] const capacity::facts& facts() const noexcept { return report_->facts; }
  /// Returns all limits: online, affinity, cpuset, then each group from the process's upwards.
  [[nodiscard]] std::span<const limit> limits() const noexcept {
    return {report_->limits, report_->limit_count};
  }
  /// Returns what was ignored or could not be read.
  [[nodiscard]] std::span<const note> notes() const noexcept { return {report_->notes, report_->note_count}; }

 private:
  struct free_report {
    void operator()(sukima_capacity_report* one) const noexcept { sukima_capacity_report_free(one); }
  };
  std::unique_ptr<sukima_capacity_report, free_report> report_;
};

/// Reads everything once.
/// \throws std::invalid_argument if the override is malformed; std::system_error or std::bad_alloc if `root`
///         is too long or there is no memory
/// \par Complexity as sukima_capacity_read()
inline facts read(const options& chosen = {}) {
  const sukima_capacity_options plain = chosen.plain();
  facts result{};
  const int error = sukima_capacity_read(&plain, &result);
  if (error == EINVAL)
    static_cast<void>(report(sukima_capacity_explain(&plain)));  // throws with the sentence
  if (error != 0) throw std::system_error(error, std::generic_category(), "capacity");
  return result;
}

/// Reads everything once and says where each number comes from.
/// \throws std::invalid_argument if the override is malformed; std::bad_alloc if there is no memory or `root`
///         is too long
/// \par Complexity as sukima_capacity_read()
inline report explain(const options& chosen = {}) {
  const sukima_capacity_options plain = chosen.plain();
  return report(sukima_capacity_explain(&plain));
}

/// Returns a number of threads, at least 1, for a number of CPUs; see sukima_capacity_threads().
inline unsigned threads(double cpus, const policy& rounding = {}) noexcept {
  return sukima_capacity_threads(cpus, &rounding);
}

/// Measures the CPU that the threads get now, and estimates what a number of threads would get. Only one
/// thread may use an estimator at a time.
class estimator {
 public:
  /// \throws std::invalid_argument if the override is malformed; std::bad_alloc if there is no memory or
  ///         `root` is too long
  explicit estimator(const options& chosen = {}) {
    const sukima_capacity_options plain = chosen.plain();
    estimator_.reset(sukima_capacity_estimator_open(&plain));
    if (!estimator_) throw std::bad_alloc();
    if (const char* const error = sukima_capacity_estimator_error(estimator_.get()); error != nullptr) {
      throw std::invalid_argument(error);
    }
  }

  /// Takes a sample. Call it ten times a second; see sukima_capacity_estimator_sample().
  /// \param time_ns the time of the sample in nanoseconds, for recorded trees; 0 is now
  void sample(std::uint64_t time_ns = 0) noexcept {
    sukima_capacity_estimator_sample(estimator_.get(), time_ns);
  }
  /// Returns the facts at the latest sample, or up to a second before it.
  [[nodiscard]] capacity::facts facts() const noexcept {
    capacity::facts result{};
    sukima_capacity_estimator_facts(estimator_.get(), &result);
    return result;
  }
  /// Returns the measurements up to the latest sample.
  [[nodiscard]] capacity::load load() const noexcept {
    capacity::load result{};
    sukima_capacity_estimator_load(estimator_.get(), &result);
    return result;
  }
  /// Returns the CPU that this many always runnable threads would get; 0: as many as may run at once. See
  /// sukima_capacity_estimator_usable().
  [[nodiscard]] estimate usable(double threads = 0) noexcept {
    estimate result{};
    sukima_capacity_estimator_usable(estimator_.get(), threads, &result);
    return result;
  }
  /// Begins an experiment: the process runs this many always runnable threads from now on, to measure what
  /// they get. See sukima_capacity_estimator_experiment_begin().
  void begin_experiment(double threads) noexcept {
    sukima_capacity_estimator_experiment_begin(estimator_.get(), threads);
  }
  /// Ends the experiment. \returns what its threads got; empty if no experiment is running, or it was too
  /// short
  std::optional<estimate> end_experiment() noexcept {
    estimate result{};
    if (sukima_capacity_estimator_experiment_end(estimator_.get(), &result) != 0) return std::nullopt;
    return result;
  }
  /// Explains the estimates in words, as sukima_capacity_estimator_explain(). \throws std::bad_alloc
  [[nodiscard]] report explain() { return report(sukima_capacity_estimator_explain(estimator_.get())); }

 private:
  struct close {
    void operator()(sukima_capacity_estimator* one) const noexcept { sukima_capacity_estimator_close(one); }
  };
  std::unique_ptr<sukima_capacity_estimator, close> estimator_;
};

/// @}
}  // namespace sukima::capacity
