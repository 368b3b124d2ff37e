// SPDX-License-Identifier: Apache-2.0
// The actions of `sukima host` that change something: optimise, act and revert.
#pragma once

#include <string>
#include <vector>

#include "host/print_line.hpp"

namespace sukima::cli::host {

/// Their options.
struct act_options {
  std::vector<std::string> arguments;  ///< the arguments after the action
  std::string config, journal, by;
  std::string connect;  ///< libvirt's connection for the machines of optimise; empty: they are in `config`
  std::string metrics;  ///< destination of the metrics of optimise; empty: none
  bool dry_run = false;
  line_format format;
};

/// Optimises the machines that the arguments name, or all that have `act`, until a signal stops it.
/// \returns the exit code \throws usage_error
int optimise(const act_options& options);

/// Sets the cap or the weight of a machine's control group until `revert`, or plugs in virtual CPUs. With
/// dry_run it only prints what it would set.
/// \returns and \throws as `optimise`
int set_value(const act_options& options);

/// Undoes the acts in the journal, or only those on the machines that the arguments name.
/// \returns and \throws as `optimise`
int revert(const act_options& options);

}  // namespace sukima::cli::host
