// SPDX-License-Identifier: Apache-2.0
#include "control/monitor.hpp"

#include "constants.hpp"
#include "control/blocking_compensation.hpp"
#include "control/cpu_shortage.hpp"
#include "control/worker_controller.hpp"
#include "control/worker_placement.hpp"
#include "observe/trace.hpp"
#include "park/futex.hpp"
#include "park/park.hpp"
#include "place/hints.hpp"

#include <sukima/detail/own_thread.hpp>

#include <pthread.h>

#include <ctime>
#include <new>
#include <system_error>

namespace sukima::detail {

using std::chrono::nanoseconds;

namespace {

/// The CPU time of the calling thread.
nanoseconds own_cpu_time() noexcept {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return std::chrono::seconds(t.tv_sec) + nanoseconds(t.tv_nsec);
}

}  // namespace

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
  for (;;) {
    // Read before `ending_`, because stop() writes that before it advances the alarm.
    const std::uint32_t seen = alarm_.load(std::memory_order_seq_cst);
    if (ending_.load(std::memory_order_seq_cst)) return;
    sleep_until_next_look(seen);
    if (is_needed()) {
      const nanoseconds before = own_cpu_time();
      try {
        look();
      } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): it looks again in a moment
      }
      pace_.looked(own_cpu_time() - before);
      last_inside = clock::now();
      continue;
    }
    doze(seen);  // nothing that it looks at matters before the next entry
    if (clock::now() - last_inside >= nanoseconds(tuning::monitor_silence_ns)) pace_.restart();
  }
}

void monitor::sleep_until_next_look(std::uint32_t seen) noexcept {
  const nanoseconds each = tracing() ? nanoseconds(tuning::traced_sample_ns) : pace_.pause();
  const auto whole = std::chrono::duration_cast<std::chrono::seconds>(each);
  const timespec pause{whole.count(), (each - whole).count()};
  futex(alarm_, FUTEX_WAIT, seen, &pause);
}

bool monitor::is_needed() const noexcept { return park_.counts().entries != 0 || blocking_.has_outside(); }

void monitor::doze(std::uint32_t seen) noexcept {
  dozing_.store(true, std::memory_order_seq_cst);
  if (!is_needed() && !ending_.load(std::memory_order_seq_cst)) futex(alarm_, FUTEX_WAIT, seen, nullptr);
  dozing_.store(false, std::memory_order_seq_cst);
}

void monitor::look() {
  if (controller_.look_at_capacity()) pace_.hurry();
  shortage_.sample();
  const clock::time_point now = clock::now();
  if (now - judged_at_ >= pace_.interval()) {
    judged_at_ = now;
    pace_.lengthen(shortage_.is_short());
    shortage_.judge();
  }
  if (chosen_.pin == pin_policy::adaptive) placement_.adapt();
  if (hints_.in_use()) hints_.remind();
}

}  // namespace sukima::detail
