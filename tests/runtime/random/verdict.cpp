// SPDX-License-Identifier: Apache-2.0
#include "verdict.hpp"

#include <cstddef>

namespace random_programs {

namespace {

std::string text_of(const result& outcome) {
  switch (outcome.how) {
    case result::end::value:
      return "the value " + std::to_string(outcome.number);
    case result::end::failure:
      return "failure " + std::to_string(outcome.number);
    case result::end::error:
      break;
  }
  return "an error: " + outcome.text;
}

std::string text_of(const outcomes& o) {
  std::string text = o.any_value ? "any value" : std::to_string(o.values.size()) + " values:";
  for (const std::uint64_t v : o.values) text += ' ' + std::to_string(v);
  text += "; failures:";
  for (const std::uint64_t f : o.failures) text += ' ' + std::to_string(f);
  return text;
}

}  // namespace

std::string check(const program& p, const configuration& c, const expectation& expected,
                  const result& outcome, const observations& seen) {
  const auto wrong = [&](const std::string& problem) {
    return problem + "; possible: " + text_of(expected.possible) +
           "; sequentially: " + text_of(run_sequentially(p));
  };
  const outcomes& o = expected.possible;
  if (outcome.how == result::end::error) return wrong(text_of(outcome));
  if (outcome.how == result::end::value && !o.any_value && !o.values.contains(outcome.number))
    return wrong(text_of(outcome));
  if (outcome.how == result::end::failure && !o.failures.contains(outcome.number))
    return wrong(text_of(outcome));
  if (c.workers == 1 && p.in_order) {
    const result s = run_sequentially(p);
    if (s.how != outcome.how || s.number != outcome.number)
      return wrong(text_of(outcome) + " with one worker");
  }
  if (seen.captures != 0) return std::to_string(seen.captures) + " captured objects were not destroyed";
  if (p.pure && seen.leaves != expected.leaves)
    return std::to_string(seen.leaves) + " leaves were evaluated instead of " +
           std::to_string(expected.leaves);
  return {};
}

sukima::settings settings_of(const configuration& c) {
  sukima::settings s;
  s.workers = c.workers;
  s.published_tasks = c.ready;
  s.request_interval_us = c.interval_us;
  s.wait = static_cast<sukima::wait_policy>(c.wait);
  s.clones_ns = c.clones_ns;
  s.placement = static_cast<sukima::placement_policy>(c.placement);
  s.hint_threshold_ns = c.threshold_ns;
  s.stack = std::size_t{1} << 20;
  s.choices = std::size_t{1} << 18;
  s.elastic = false;  // more workers than CPUs are wanted
  if (c.few_fibers) s.fibers = 2;
  return s;
}

}  // namespace random_programs
