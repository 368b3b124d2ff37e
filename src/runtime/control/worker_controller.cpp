// SPDX-License-Identifier: Apache-2.0
#include "control/worker_controller.hpp"

#include <base/shared/assert.hpp>
#include "control/blocking_compensation.hpp"
#include "control/capacity_handle.hpp"
#include "control/decision_log.hpp"
#include "control/threads_beside.hpp"
#include "control/worker_threads.hpp"
#include "end_state.hpp"
#include "fiber/fiber.hpp"
#include "park/call_home.hpp"
#include "park/park.hpp"
#include "stress.hpp"
#include "worker.hpp"
#include "worker_target.hpp"

#include <sukima/capacity.h>
#include <sukima/capacity/estimate.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <utility>

namespace sukima::detail {

namespace {

/// The number of workers for this capacity.
unsigned workers_for(const sukima_capacity_facts& facts) noexcept {
  return static_cast<unsigned>(std::clamp(std::ceil(facts.usable - 1e-6), 1.0, 1e6));
}

/// The number of workers for the CPU that the host of this virtual machine advertises: the nearest number, as
/// in the host's own count of threads for a machine (docs/host.md, `fit`). No limit if the host advertises
/// none.
unsigned workers_by_host(double advertised) noexcept {
  if (std::isnan(advertised)) return 1000000;
  return static_cast<unsigned>(std::clamp(std::floor(advertised + 0.5), 1.0, 1e6));
}

std::string host_reason_of(double advertised) {
  char text[120];
  std::snprintf(text, sizeof text, "the host of this machine advertises %.3g CPUs", advertised);
  return text;
}

std::string reason_of(const sukima_capacity_facts& facts) {
  char text[120];
  std::snprintf(text, sizeof text, "%.3g CPUs are usable (limit: %s)", facts.usable,
                sukima_capacity_kind_name(facts.binding));
  return text;
}

}  // namespace

void worker_controller::start(capacity_handle opened) {
  meet_preload_library();
  if (chosen_.elastic && worker_limit_ > 1) {
    capacity_ = opened != nullptr ? std::move(opened) : open_capacity();
    if (chosen_.neighbours) neighbours_.open();
  }
  unsigned first = worker_limit_;
  unsigned cpus = first;
  std::string reason = "the settings allow that many";
  if (capacity_ != nullptr) {
    sukima_capacity_facts facts;
    sukima_capacity_latest(capacity_.get(), &facts);
    const unsigned allowed = take(facts);
    if (allowed < first) reason = reason_of(facts);
    first = std::min(first, allowed);
    const double advertised = sukima_capacity_advertised(nullptr);
    if (workers_by_host(advertised) < first) reason = host_reason_of(advertised);
    first = std::min(first, workers_by_host(advertised));
    cpus = std::min(allowed, workers_by_host(advertised));
  }
  const std::lock_guard hold(deciding_);
  cpus_ = cpus;
  allowed_ = first;
  adjust(reason);
}

unsigned worker_controller::take(const sukima_capacity_facts& facts) noexcept {
  const unsigned allowed = workers_for(facts);
  quota_binds_.store(facts.quota <= allowed, std::memory_order_relaxed);
  return allowed;
}

bool worker_controller::look_at_capacity() {
  if (capacity_ == nullptr) return false;
  sukima_capacity_facts facts;
  const bool changed = sukima_capacity_refresh(capacity_.get(), &facts) != 0;
  const unsigned by_facts = take(facts);
  const unsigned by_capacity = std::min(worker_limit_, by_facts);
  const unsigned worth = neighbours_.is_open() ? neighbours_.worth_running(by_capacity) : by_capacity;
  const double advertised = sukima_capacity_advertised(nullptr);
  const unsigned allowed = std::min(worth, workers_by_host(advertised));
  const std::lock_guard hold(deciding_);
  cpus_ = std::min(by_facts, workers_by_host(advertised));
  const bool beside_others = neighbours_.is_open() && allowed != allowed_ && !changed;
  allowed_ = allowed;
  const bool did_bind = std::exchange(host_binds_, allowed < worth);
  if (host_binds_)
    adjust(host_reason_of(advertised));
  else if (did_bind)
    adjust("the host of this machine no longer advertises fewer CPUs");
  else if (beside_others)
    adjust(neighbours_.reason());
  else
    adjust(changed ? reason_of(facts) : "blocked workers have resumed");
  return changed;
}

unsigned worker_controller::wanted() const noexcept {
  const unsigned allowed = limit_ != 0 ? std::min(allowed_, limit_) : allowed_;
  const unsigned others_compute = followed();
  const unsigned left = others_compute < cpus_ ? cpus_ - others_compute : 0;
  const unsigned base = others_compute == 0 ? allowed : std::min(allowed, std::max(left, least_beside_));
  return base + blocking_.workers();
}

void worker_controller::adjust(std::string_view reason) noexcept {
  const unsigned next = wanted();
  const unsigned before = target_.count_.load(std::memory_order_seq_cst);
  if (decided_ && next == before) return;
  // Stored before the calls: background_main answers its call first and reads this afterwards.
  target_.count_.store(next, std::memory_order_seq_cst);
  if (life_.is_closed()) return;
  for (worker& w : workers_.all()) {
    if (!w.background) continue;
    if (w.rank >= next) {
      call_home(w);
    } else if (w.rank >= before) {
      unpark(w);  // from its sleep at home
    }
  }
  bool refused = false;
  while (!refused && threads_.count() + 1 < next) refused = !threads_.start_one();
  const unsigned reached = refused ? threads_.count() + 1 : next;
  // No worker has a rank above this number.
  if (refused) target_.count_.store(reached, std::memory_order_seq_cst);
  if (!decided_ || reached != before || refused != refused_)
    decisions_.add(
        "workers", decided_ ? before : reached, reached,
        refused ? "no thread can be started for another one, or there is no memory for its fiber" : reason);
  decided_ = true;
  refused_ = refused;
  SUKIMA_ASSERT(threads_.count() + 1 >= target_.count_.load(std::memory_order_seq_cst),
                "there is a thread for each worker that may run");
}

bool worker_controller::compensate(const char* reason) noexcept {
  const std::lock_guard hold(deciding_);
  // Workers added for earlier waits stay until the monitor's next sample, so that short waits in a row cost
  // little.
  if (wanted() > target_.count_.load(std::memory_order_seq_cst)) adjust(reason);
  return wanted() <= target_.count_.load(std::memory_order_seq_cst);
}

unsigned worker_controller::background_workers() noexcept {
  const std::lock_guard hold(deciding_);
  return threads_.count();
}

void worker_controller::end_compensation() noexcept {
  if (capacity_ == nullptr) reconsider("blocked workers have resumed");  // otherwise the monitor does it
}

void worker_controller::reconsider(std::string_view reason) noexcept {
  const std::lock_guard hold(deciding_);
  adjust(reason);
}

unsigned worker_controller::threads_of_others() const noexcept {
  const unsigned count = others.count();
  return count != 0 && entries_from_regions_.load(std::memory_order_seq_cst) != 0 ? 0 : count;
}

void worker_controller::follow_others(unsigned threads, unsigned least) noexcept {
  if ((threads == followed() && least == least_beside_) || !follows_capacity()) return;
  const std::lock_guard hold(deciding_);
  least_beside_ = least;
  const unsigned before = followed_.exchange(threads, std::memory_order_seq_cst);
  adjust(threads > before ? "threads of another runtime compute" : "fewer threads of other runtimes compute");
}

void worker_controller::enters_from_region() noexcept {
  entries_from_regions_.fetch_add(1, std::memory_order_seq_cst);
}

void worker_controller::leaves_to_region() noexcept {
  entries_from_regions_.fetch_sub(1, std::memory_order_seq_cst);
}

void worker_controller::close() noexcept { const std::lock_guard hold(deciding_); }

void worker_controller::limit_workers(unsigned most) {
  const std::lock_guard hold(deciding_);
  limit_ = most;
  adjust(most != 0 ? "the program set a limit" : "the program removed its limit");
}

}  // namespace sukima::detail
