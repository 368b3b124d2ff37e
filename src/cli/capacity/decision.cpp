// SPDX-License-Identifier: Apache-2.0
// The number of threads at the start; see decision.hpp.
#include "capacity/decision.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "capacity/meter.hpp"

namespace sukima::cli {
namespace {

/// The last digit of a sum of doubles must not cost a thread.
constexpr double tolerance = 1e-6;
/// CPUs that may be lacking before idle threads have to sleep.
constexpr double spinning_slack = 0.25;
constexpr double nearly_all = 0.95;

unsigned most_that_fit(const thread_policy& policy, const cpu_supply& supply) {
  const double ours = supply.usable(supply.cap) - policy.reserve;
  unsigned fitting = 1;
  for (unsigned k = 2; k <= supply.cap; ++k)
    if (std::min(supply.usable(k), ours) >= k - 0.5 - tolerance) fitting = k;
  return fitting;
}

unsigned fewest_that_get_all(const cpu_supply& supply) {
  const double all = supply.usable(supply.cap);
  unsigned fewest = 1;
  while (fewest < supply.cap && supply.usable(fewest) < nearly_all * all) ++fewest;
  return fewest;
}

unsigned rounded(const thread_policy& policy, const cpu_supply& supply) {
  const sukima_capacity_policy rule{*policy.rounding, 1, policy.reserve};
  return sukima_capacity_threads(supply.usable(supply.cap), &rule);
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
  if (policy.threads) {
    decision.threads = *policy.threads;
    decision.fixed = true;
    decision.reason = "you gave the number";
  } else {
    decision.threads = within(policy.rounding ? rounded(policy, supply) : most_that_fit(policy, supply));
  }
  const bool is_free = !policy.threads && !policy.rounding && policy.reserve == 0;
  decision.team =
      is_free ? std::max(within(fewest_that_get_all(supply)), decision.threads) : decision.threads;
  decision.stolen = supply.stolen;
  decision.usable = supply.usable(decision.threads);
  const double allowed = std::min<double>(supply.cap, supply.limit);
  decision.spinning = decision.usable >= decision.threads - spinning_slack &&
                      supply.usable(supply.cap) >= allowed - spinning_slack;
  return decision;
}

}  // namespace sukima::cli
