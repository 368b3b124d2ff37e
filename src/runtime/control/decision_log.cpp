// SPDX-License-Identifier: Apache-2.0
#include "control/decision_log.hpp"

#include "observe/trace.hpp"

#include <sukima/detail/ticks.hpp>

#include <chrono>
#include <string>

namespace sukima::detail {

namespace {

constexpr std::size_t most_decisions = 10'000;

}  // namespace

void decision_log::add(std::string_view setting, unsigned before, unsigned after,
                       std::string_view reason) noexcept {
  try {
    const std::lock_guard hold(lock_);
    if (log_.size() == most_decisions) log_.erase(log_.begin(), log_.begin() + most_decisions / 2);
    log_.push_back(
        {std::chrono::steady_clock::now(), std::string(setting), before, after, std::string(reason)});
    trace_decision(runtime_serial_, log_.back(), ticks());
  } catch (...) {  // NOLINT(bugprone-empty-catch): out of memory
  }
}

std::vector<decision> decision_log::all() const {
  const std::lock_guard hold(lock_);
  return log_;
}

}  // namespace sukima::detail
