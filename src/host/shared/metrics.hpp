// SPDX-License-Identifier: Apache-2.0
// Metrics of the virtual machines of a host, in the text format of Prometheus: by HTTP or in a file.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "act.hpp"
#include "inbox.hpp"
#include "verdict.hpp"

namespace sukima::host {

/// One virtual machine. An empty value is unknown, and no metric.
struct vm_metrics {
  std::string name;
  std::optional<double> usable = {}, used = {}, demand = {};  ///< CPUs
  std::optional<double> ran = {}, waited = {};  ///< seconds since it started, summed over its vCPUs
  std::size_t online = 0, offline = 0;  ///< vCPUs
  std::optional<unsigned> count = {};  ///< threads or vCPUs in effect
  std::optional<optimiser_state> state = {};
};

struct host_metrics {
  std::vector<vm_metrics> vms = {};
  std::map<act_kind, act_counts> acts = {};
  std::optional<guest_inbox::counts> messages = {};
  std::optional<double> cycle_seconds = {};  ///< how long the latest cycle took
};

/// The text format of Prometheus, version 0.0.4.
std::string metrics_text(const host_metrics& all);

/// Metrics cannot be published. The message is a sentence for the user.
class metrics_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A place where metrics are published.
class metrics_output {
 public:
  metrics_output() = default;
  virtual ~metrics_output() = default;
  metrics_output(const metrics_output&) = delete;
  metrics_output& operator=(const metrics_output&) = delete;

  /// Replaces the published text. \returns why that failed, once until it succeeds again
  virtual std::optional<std::string> publish(const std::string& text) = 0;
  /// Where the metrics are, for people.
  virtual std::string place() const = 0;
};

/// Opens a place. Both kinds show nothing any more once they are destroyed.
/// \param where `9100` is a port of 127.0.0.1, `10.0.0.1:9100` or `[::1]:9100` that of another address, 0
///   a port that is free; any other text is a file, which each publication replaces by renaming
/// \throws metrics_error  the port is in use, the address is not one of this machine, or the like
std::unique_ptr<metrics_output> open_metrics(const std::string& where);

}  // namespace sukima::host
