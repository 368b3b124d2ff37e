// SPDX-License-Identifier: Apache-2.0
#include "control/monitor.hpp"

#include <base/shared/assert.hpp>
#include "constants.hpp"
#include "control/blocking_compensation.hpp"
#include "control/cpu_shortage.hpp"
#include "control/threads_beside.hpp"
#include "control/worker_controller.hpp"
#include "control/worker_placement.hpp"
#include "observe/trace.hpp"
#include "park/futex.hpp"
#include "park/park.hpp"
#include "place/hints.hpp"
#include "worker.hpp"

#include <sukima/detail/own_thread.hpp>

#include <pthread.h>

#include <algorithm>
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
    } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): as without a thread
    }
  });
}

void monitor::listen_to_others() noexcept {
  others.listen(*this);
  if (others.count() != 0) others_begin();
}

void monitor::stop() {
  others.stop_listening(*this);
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

void monitor::attend_entry(worker& entered) noexcept {
  if (comes_from_region()) entered.duties.fetch_or(duty_region, std::memory_order_relaxed);
  attend();
}

/// While a thread of a region computes or waits here, the region's other threads may wait for it. So none of
/// them count.
bool monitor::comes_from_region() noexcept {
  if (others.count() == 0 || !controller_.follows_capacity() || !is_in_parallel_region()) return false;
  lasting_.drop_to(0);
  controller_.enters_from_region();
  return true;
}

void monitor::attend() noexcept {
  if ((attention_.load(std::memory_order_seq_cst) & unused) != 0)
    attention_.fetch_and(~unused, std::memory_order_seq_cst);
  wake_if_late();
}

void monitor::wake_if_late() noexcept {
  const unsigned seen = attention_.load(std::memory_order_seq_cst);
  const unsigned now = controller_.threads_of_others();
  const unsigned followed = controller_.followed();
  const bool is_late = now < followed || (now > followed && (seen & watching) == 0);
  if ((seen & dozing) != 0 || ((seen & beside) != 0 && is_late)) wake();
}

void monitor::entry_ended(worker& left) noexcept {
  left.duties.fetch_and(static_cast<std::uint8_t>(~duty_region), std::memory_order_relaxed);
  returns_to_region();
}

void monitor::returns_to_region() noexcept {
  controller_.leaves_to_region();
  if (is_needed()) wake_if_late();
}

void monitor::others_begin() noexcept {
  if (!controller_.follows_capacity()) return;
  if ((attention_.load(std::memory_order_seq_cst) & beside) == 0)
    attention_.fetch_or(beside, std::memory_order_seq_cst);
  if (is_needed()) wake_if_late();
}

void monitor::others_end(unsigned left) noexcept {
  lasting_.drop_to(left);
  if (left < controller_.followed() && is_needed()) wake();
}

bool monitor::was_used() noexcept {
  const bool entered = (attention_.fetch_or(unused, std::memory_order_seq_cst) & unused) == 0;
  // An unannounced root (fiber/unannounced.hpp) that has begun before the last call may still compute.
  return entered || is_needed() || workers_.is_any_taken();
}

bool monitor::has_others() const noexcept { return others.count() != 0 || controller_.followed() != 0; }

/// Follows the number of threads of others, if there are some and a thread is inside. The threads inside are
/// worker 0, so one more worker stays while launched futures have not ended. \return true: call it again
/// after a moment
bool monitor::watch_others() noexcept {
  if (!controller_.follows_capacity()) return false;
  if ((attention_.load(std::memory_order_seq_cst) & beside) == 0 && !has_others()) return false;
  attention_.fetch_or(watching | beside, std::memory_order_seq_cst);
  if (is_needed())
    controller_.follow_others(
        lasting_.sample(controller_.threads_of_others(), controller_.followed(), clock::now()),
        park_.has_launched() ? 2 : 1);
  else
    controller_.follow_others(0, 1);  // no thread is inside that could run launched futures
  if ((is_needed() && has_others()) || controller_.followed() != 0) return true;
  attention_.fetch_and(has_others() ? ~watching : ~(watching | beside), std::memory_order_seq_cst);
  if (!has_others()) return false;
  attention_.fetch_or(beside, std::memory_order_seq_cst);
  return is_needed();
}

void monitor::run() {
  const own_thread here;
  pthread_setname_np(pthread_self(), "sukima-monitor");
  clock::time_point last_inside = clock::now();
  sampled_at_ = last_inside;
  for (;;) {
    // Read before `ending_`, because stop() writes that before it advances the alarm.
    const std::uint32_t seen = alarm_.load(std::memory_order_seq_cst);
    if (ending_.load(std::memory_order_seq_cst)) return;
    const bool watches = watch_others();
    if (!sleep_until_next_sample(seen, watches)) continue;
    if (is_needed()) {
      const nanoseconds before = own_cpu_time();
      try {
        sample();
      } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): it samples again in a moment
      }
      pace_.sampled(own_cpu_time() - before);
      last_inside = sampled_at_ = clock::now();
      continue;
    }
    if (controller_.followed() != 0) continue;  // first, workers for launched futures come back
    doze(seen);  // nothing that it samples matters before the next entry
    sampled_at_ = clock::now();
    if (sampled_at_ - last_inside >= nanoseconds(tuning::monitor_silence_ns)) pace_.restart();
  }
}

/// \return false: it is not yet time for the next sample
bool monitor::sleep_until_next_sample(std::uint32_t seen, bool watches) noexcept {
  const clock::time_point next =
      sampled_at_ + (tracing() ? nanoseconds(tuning::traced_sample_ns) : pace_.pause());
  nanoseconds left = next - clock::now();
  if (watches) left = std::min(left, nanoseconds(tuning::beside_sample_ns));
  if (left > nanoseconds(0)) {
    const auto whole = std::chrono::duration_cast<std::chrono::seconds>(left);
    const timespec pause{whole.count(), (left - whole).count()};
    futex(alarm_, FUTEX_WAIT, seen, &pause);
  }
  return clock::now() >= next;
}

bool monitor::is_needed() const noexcept { return park_.counts().entries != 0 || blocking_.has_outside(); }

void monitor::doze(std::uint32_t seen) noexcept {
  SUKIMA_ASSERT(controller_.followed() == 0, "no worker stays away while the monitor dozes");
  attention_.fetch_or(dozing, std::memory_order_seq_cst);
  if (!is_needed() && !ending_.load(std::memory_order_seq_cst)) futex(alarm_, FUTEX_WAIT, seen, nullptr);
  attention_.fetch_and(~dozing, std::memory_order_seq_cst);
}

void monitor::sample() {
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
