// SPDX-License-Identifier: Apache-2.0
// The number of threads at the start; see decision.hpp.
#include "capacity/decision.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sukima::cli {
namespace {

/// Rounding errors in a sum of doubles must not cost a thread.
constexpr double tolerance = 1e-6;
/// If the threads lack more CPUs than this, idle threads must sleep.
constexpr double spinning_slack = 0.25;

unsigned most_that_fit(const thread_policy& policy, const cpu_supply& supply) {
  const double ours = supply.usable(supply.cap) - policy.reserve;
  unsigned fitting = 1;
  for (unsigned k = 2; k <= supply.cap; ++k)
    if (std::min(supply.usable(k), ours) >= k - 0.5 - tolerance) fitting = k;
  return fitting;
}

unsigned rounded(double cpus, sukima_capacity_rounding rounding, double reserve = 0) {
  const sukima_capacity_policy rule{rounding, 1, reserve};
  return sukima_capacity_threads(cpus, &rule);
}

/// The numbers by the user's own rule, which applies to the CPU that the neighbours leave.
unsigned by_own_rule(const thread_policy& policy, const cpu_supply& supply) {
  return policy.rounding ? rounded(supply.usable(supply.cap), *policy.rounding, policy.reserve)
                         : most_that_fit(policy, supply);
}

}  // namespace

start_decision decide(const thread_policy& policy, const cpu_supply& supply) {
  start_decision decision;
  decision.reason = supply.reason;
  const auto within = [&policy](unsigned threads) {
    threads = std::max(threads, policy.minimum);
    if (policy.maximum) threads = std::min(threads, *policy.maximum);
    return std::max(threads, 1U);
  };
  const double allowed = std::min<double>(supply.cap, supply.limit);
  decision.fixed = policy.threads.has_value();
  decision.restricted = decision.fixed || policy.rounding || policy.reserve > 0 || policy.maximum;
  if (policy.threads) {
    decision.threads = decision.active = decision.slots = *policy.threads;
    decision.reason = "you gave the number";
  } else if (policy.rounding || policy.reserve > 0) {
    decision.threads = decision.active = decision.slots = within(by_own_rule(policy, supply));
  } else {
    decision.reason = supply.limit_reason;
    decision.threads = within(rounded(allowed, SUKIMA_CAPACITY_CEILING));
    decision.active = std::min(within(most_that_fit(policy, supply)), decision.threads);
    decision.slots = within(rounded(allowed, SUKIMA_CAPACITY_NEAREST));
  }
  decision.stolen = supply.stolen;
  decision.usable = supply.usable(decision.threads);
  decision.limits_allow_spinning = allowed >= decision.threads - spinning_slack && !supply.stolen;
  decision.spinning = decision.usable >= decision.threads - spinning_slack &&
                      supply.usable(supply.cap) >= allowed - spinning_slack;
  return decision;
}

}  // namespace sukima::cli
