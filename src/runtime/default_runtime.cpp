// SPDX-License-Identifier: Apache-2.0
// The public class runtime, and the one that calls without a runtime use.
#include "core.hpp"

#include <sukima/capacity.h>

#include <pthread.h>

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

namespace sukima {

namespace {

/// The default of settings::workers: the CPUs that may run at once; if the number is not adapted, at most
/// what the quotas of all groups above pay for, rounded up.
unsigned usable_cpus(const sukima_capacity* capacity, bool elastic) {
  if (capacity == nullptr) return 1;
  if (const char* const mistake = sukima_capacity_error(capacity)) throw bad_setting(mistake);
  sukima_capacity_facts facts;
  sukima_capacity_latest(capacity, &facts);
  return static_cast<unsigned>(std::clamp(elastic ? facts.cap : std::ceil(facts.usable), 1.0, 1024.0));
}

}  // namespace

runtime::runtime(const settings& chosen) {
  chosen.check();
  detail::capacity_handle capacity;
  if (chosen.workers == 0) capacity = detail::open_capacity();
  const unsigned workers = chosen.workers != 0 ? chosen.workers : usable_cpus(capacity.get(), chosen.elastic);
  core_ = std::make_unique<detail::runtime_core>(chosen, workers, std::move(capacity));
}

runtime::~runtime() {
  if (core_ == nullptr) return;
  const detail::fiber* s = detail::running_fiber();
  const bool inside = s != nullptr && s->runtime == core_.get();  // one of its tasks called exit()
  // After fork() its threads and locks belong to the parent process. In either case freeing it could only
  // hang.
  if (inside || core_->life.is_orphaned()) static_cast<void>(core_.release());
}

void runtime::shutdown() {
  detail::fiber* s = detail::running_fiber();
  if (s != nullptr && s->runtime == core_.get())
    throw usage_error("sukima: a runtime cannot be shut down by one of its own workers");
  core_->life.stop();
}

unsigned runtime::workers() const noexcept { return core_->worker_limit; }

unsigned runtime::workers_now() const noexcept {
  return std::min(core_->controller.target(), core_->worker_limit);
}

void runtime::limit_workers(unsigned most) { core_->controller.limit_workers(most); }

std::vector<decision> runtime::decisions() const { return core_->decisions.all(); }

const settings& runtime::chosen() const noexcept { return core_->chosen; }

void runtime::enter(detail::root_task& root) {
  detail::fiber* s = detail::running_fiber();
  if (s == nullptr || s->runtime != core_.get())
    core_->life.enter(root);
  else
    detail::enter_within(*s, root);
}

namespace {

// Never destroyed: threads may still compute while the program's static objects end. A child process after
// fork() gets one of its own.
struct default_slot {
  std::mutex lock;
  std::atomic<runtime*> current{nullptr};  ///< stored under the lock
};
static_assert(std::is_trivially_destructible_v<default_slot>);
constinit default_slot the_default;

/// fork() while another thread starts the default runtime: in the child nobody would ever release the lock.
/// So it belongs to the forking thread meanwhile.
[[maybe_unused]] const int lock_is_kept_for_children = pthread_atfork(
    [] { the_default.lock.lock(); }, [] { the_default.lock.unlock(); }, [] { the_default.lock.unlock(); });

}  // namespace

runtime& default_runtime() {
  default_slot& slot = the_default;
  runtime* r = slot.current.load(std::memory_order_acquire);
  if (r != nullptr && !r->core_->life.is_orphaned()) return *r;
  const std::lock_guard hold(slot.lock);
  r = slot.current.load(std::memory_order_relaxed);
  if (r == nullptr || r->core_->life.is_orphaned()) {
    r = new runtime;
    slot.current.store(r, std::memory_order_release);
  }
  return *r;
}

namespace detail {

bool renew_default_runtime(unsigned workers) {
  settings chosen = settings::from_environment();
  chosen.workers = workers;
  default_slot& slot = the_default;
  const std::lock_guard hold(slot.lock);
  runtime* const old = slot.current.load(std::memory_order_relaxed);
  const bool orphaned = old != nullptr && old->core_->life.is_orphaned();
  if (running_fiber() != nullptr || (old != nullptr && !orphaned && old->core_->park.counts().entries != 0))
    return false;
  // The old one ends first: two sets of workers would disturb each other.
  if (old != nullptr && !orphaned) {
    slot.current.store(nullptr, std::memory_order_release);
    delete old;
  }
  slot.current.store(new runtime(chosen), std::memory_order_release);
  return true;
}

}  // namespace detail

int worker_id() noexcept {
  const detail::fiber* s = detail::running_fiber();
  return s == nullptr ? -1 : static_cast<int>(s->on->id);
}

namespace detail {

void enter_default(root_task& root) { default_runtime().enter(root); }

}  // namespace detail

}  // namespace sukima
