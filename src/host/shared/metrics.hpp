// SPDX-License-Identifier: Apache-2.0
// Metrics of a host's virtual machines in the text format of Prometheus, published over HTTP or in a file.
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

/// The metrics of one virtual machine. An empty value is unknown and not published.
struct vm_metrics {
  std::string name;
  std::optional<double> usable = {}, used = {}, demand = {};  ///< CPUs
  std::optional<double> ran = {}, waited = {};  ///< seconds since it started, summed over its vCPUs
  std::size_t online = 0, offline = 0;  ///< vCPUs
  std::optional<unsigned> count = {};  ///< threads or vCPUs: the count in effect
  std::optional<optimiser_state> state = {};
};

struct host_metrics {
  std::vector<vm_metrics> vms = {};
  std::map<act_kind, act_counts> acts = {};
  std::optional<guest_inbox::counts> messages = {};
  std::optional<double> cycle_seconds = {};  ///< the duration of the latest cycle
};

/// Returns the metrics in Prometheus' text format, version 0.0.4.
std::string metrics_text(const host_metrics& all);

/// Metrics cannot be published. The message is a sentence for the user.
class metrics_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The place where metrics are published.
class metrics_output {
 public:
  metrics_output() = default;
  virtual ~metrics_output() = default;
  metrics_output(const metrics_output&) = delete;
  metrics_output& operator=(const metrics_output&) = delete;

  /// Replaces the published text. \returns why that failed; a failure that lasts is returned only once
  virtual std::optional<std::string> publish(const std::string& text) = 0;
  /// Describes where the metrics are, for messages to the user.
  virtual std::string place() const = 0;
};

/// Opens a place for metrics. After the destructor neither kind of place shows metrics any more.
/// \param where `9100` is a port of 127.0.0.1; `10.0.0.1:9100` and `[::1]:9100` are ports of other addresses;
/// port 0 means any free port. Any other text is a file, which each publication replaces by renaming.
/// \throws metrics_error  for instance, the port is in use or the address does not belong to this machine
std::unique_ptr<metrics_output> open_metrics(const std::string& where);

}  // namespace sukima::host
