// SPDX-License-Identifier: Apache-2.0
#include "control/monitor.hpp"

#include "control/blocking_compensation.hpp"
#include "control/cpu_shortage.hpp"
#include "control/worker_controller.hpp"
#include "control/worker_placement.hpp"
#include "observe/trace.hpp"
#include "park/futex.hpp"
#include "park/park.hpp"
#include "place/hints.hpp"
#include "tuning.hpp"

#include <sukima/detail/own_thread.hpp>

#include <pthread.h>

#include <algorithm>
#include <new>
#include <system_error>

namespace sukima::detail {

using std::chrono::nanoseconds;

void monitor::start() {
  std::call_once(started_, [this] {
    const signals_blocked here;
    try {
      thread_ = std::thread([this] { run(); });
    } catch (const std::system_error&) {  // NOLINT(bugprone-empty-catch): then the number of workers stays
    }
  });
}

void monitor::stop() {
  ending_.store(true, std::memory_order_seq_cst);
  wake();
  if (thread_.joinable()) thread_.join();
}

void monitor::forget_thread() {
  if (thread_.joinable()) thread_.detach();
}

void monitor::wake() noexcept {
  alarm_.fetch_add(1, std::memory_order_seq_cst);
  futex(alarm_, FUTEX_WAKE, 1, nullptr);
}

void monitor::run() {
  pthread_setname_np(pthread_self(), "sukima-monitor");
  clock::time_point last_inside = clock::now();
  interval_ = nanoseconds(tuning::first_sample_ns);
  for (;;) {
    // Read before `ending_`, because stop() writes that before it advances the alarm.
    const std::uint32_t seen = alarm_.load(std::memory_order_seq_cst);
    if (ending_.load(std::memory_order_seq_cst)) return;
    const nanoseconds each = tracing() ? nanoseconds(tuning::traced_sample_ns) : interval_;
    const timespec pause{0, each.count()};
    futex(alarm_, FUTEX_WAIT, seen, &pause);
    if (is_needed()) {
      try {
        look();
      } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): it looks again in a moment
      }
      last_inside = clock::now();
      continue;
    }
    doze(seen);  // nothing that it looks at matters before the next entry
    if (clock::now() - last_inside >= nanoseconds(tuning::monitor_silence_ns))
      interval_ = nanoseconds(tuning::first_sample_ns);
  }
}

bool monitor::is_needed() const noexcept { return park_.counts().entries != 0 || blocking_.has_outside(); }

void monitor::doze(std::uint32_t seen) noexcept {
  dozing_.store(true, std::memory_order_seq_cst);
  if (!is_needed() && !ending_.load(std::memory_order_seq_cst)) futex(alarm_, FUTEX_WAIT, seen, nullptr);
  dozing_.store(false, std::memory_order_seq_cst);
}

void monitor::look() {
  if (controller_.look_at_capacity()) interval_ = std::min(interval_, nanoseconds(tuning::busy_sample_ns));
  shortage_.sample();
  const clock::time_point now = clock::now();
  if (now - judged_at_ >= interval_) {
    judged_at_ = now;
    const auto longest = shortage_.is_short() ? tuning::busy_sample_ns : tuning::calm_sample_ns;
    interval_ = std::min(2 * interval_, nanoseconds(longest));
    shortage_.judge();
  }
  if (chosen_.pin == pin_policy::adaptive) placement_.adapt();
  if (hints_.in_use()) hints_.remind();
}

}  // namespace sukima::detail
