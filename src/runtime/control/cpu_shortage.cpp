// SPDX-License-Identifier: Apache-2.0
#include "control/cpu_shortage.hpp"

#include "constants.hpp"
#include "control/decision_log.hpp"
#include "control/worker_controller.hpp"
#include "observe/trace.hpp"
#include "worker.hpp"

#include <sukima/detail/ticks.hpp>

#include <cstdio>

namespace sukima::detail {

namespace {

/// One window, and two thresholds, so that the judgement does not change with each sample.
constexpr cap_shortage_rule rule{1, {{tuning::shortest_judged_ns, 0.1}}, 0.05, 1};

}  // namespace

bool cpu_shortage::spinning_keeps_turn() const noexcept {
  return placement_.is_active() && !controller_.quota_binds();
}

void cpu_shortage::sample() {
  const std::uint64_t now = ticks();
  const unsigned count = all_.size();
  workers_.resize(count);
  for (unsigned i = 0; i < count; ++i) {
    const worker& w = all_[i];
    worker_times& before = workers_[i];
    worker_times times{w.thread_id.load(std::memory_order_relaxed), {}, 0};
    if (times.thread != 0 && !cap_schedstat_read(times.thread, &times.latest)) times.thread = 0;
    if (const auto since = between(before, times)) {
      cap_shortage_add(&judgement_, since->ran_ns, since->waited_ns);
      if (since->ran_ns * 10 < since->waited_ns) times.starving_ns = before.starving_ns + since->waited_ns;
      starved_ = starved_ || times.starving_ns > tuning::longest_starving_ns;
      if (since->waited_ns > tuning::shortest_traced_wait_ns)
        trace_no_cpu(runtime_serial_, w.id, sampled_at_, now, since->waited_ns);
    }
    before = times;
  }
  sampled_at_ = now;
}

void cpu_shortage::judge() {
  const bool before = is_short();
  const bool after = cap_shortage_judge(&judgement_, &rule);
  if (before == after) return;
  short_.store(after, std::memory_order_relaxed);
  char text[120];
  std::snprintf(text, sizeof text, "the workers waited for a CPU in %.0f %% of the time that they wanted one",
                100.0 * judgement_.waiting);
  decisions_.add("spinning", before ? 0 : 1, after ? 0 : 1, text);
}

}  // namespace sukima::detail
