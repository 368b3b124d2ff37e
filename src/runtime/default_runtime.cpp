// SPDX-License-Identifier: Apache-2.0
// The public class runtime, and the default runtime, which calls use that name no runtime.
#include "fiber/sanitizer.hpp"
#include "shared/bad_setting.hpp"
#include "whole_runtime.hpp"

#include <sukima/capacity.h>

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <mutex>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>

namespace sukima {

namespace {

/// Adds an object that is never freed to a list in which leak checkers find it.
void keep_for_ever(const void* kept) noexcept {
  struct item {
    const void* kept;
    item* before;
  };
  static std::atomic<item*> newest{nullptr};  // no partner: only leak checkers follow it
  auto* const one = new (std::nothrow) item{kept, newest.load(std::memory_order_relaxed)};
  while (one != nullptr && !newest.compare_exchange_weak(one->before, one, std::memory_order_relaxed)) {
  }
}

/// Reads the capacity, if these settings leave the number of workers to it now or later.
/// \returns null if not, or if there is no memory \throws bad_setting if SUKIMA_CPUS is malformed
detail::capacity_handle capacity_for(const settings& chosen) {
  if (chosen.workers == 1 || (chosen.workers > 1 && !chosen.elastic)) return nullptr;
  detail::capacity_handle capacity = detail::open_capacity();
  if (capacity != nullptr)
    if (const char* const mistake = sukima_capacity_error(capacity.get())) detail::throw_bad_setting(mistake);
  return capacity;
}

/// The default of settings::workers: the CPUs that may run at once. If the number is not adapted, it is at
/// most the CPUs that the quotas of all enclosing groups pay for, rounded up.
unsigned usable_cpus(const sukima_capacity* capacity, bool elastic) {
  if (capacity == nullptr) return 1;
  sukima_capacity_facts facts;
  sukima_capacity_latest(capacity, &facts);
  return static_cast<unsigned>(std::clamp(elastic ? facts.cap : std::ceil(facts.usable), 1.0, 1024.0));
}

/// The worker whose thread has entered and waits for the root of the task that this fiber runs; null: a
/// launched future, an object, or a task of another node, for which no thread waits.
const detail::worker* home_of_root(const detail::fiber& s) noexcept {
  const detail::fiber* runs_it = &s;
  const detail::task* t = s.running;
  for (; t != nullptr && t->parent != nullptr; t = t->parent) runs_it = t->owner;
  if (t == nullptr || t->owner != nullptr || runs_it->home != nullptr) return nullptr;
  return static_cast<const detail::root_task*>(t)->home;
}

/// Whether some entry of that runtime cannot end before the running fiber continues: the fiber is inside, or
/// runs in a call of its own runtime that was made there, on this thread or as a part of that call.
bool keeps_inside(const detail::fiber* s, const detail::runtime_core& r) noexcept {
  if (s == nullptr) return false;
  if (s->runtime == &r) return true;
  if (keeps_inside(s->on->entered_from, r)) return true;
  const detail::worker* const home = home_of_root(*s);
  return home != nullptr && home != s->on && keeps_inside(home->entered_from, r);
}

}  // namespace

runtime::runtime(const settings& chosen) {
  chosen.check();
  detail::capacity_handle capacity = capacity_for(chosen);
  const unsigned workers = chosen.workers != 0 ? chosen.workers : usable_cpus(capacity.get(), chosen.elastic);
  core_ = std::make_unique<detail::whole_runtime>(chosen, workers, std::move(capacity));
  detail::hands_over(
      &detail::parts_of<detail::runtime_parts>(*core_).entries);  // pairs with: acquire_worker in entries.cpp
}

runtime::~runtime() {
  if (core_ == nullptr) return;
  const bool inside = keeps_inside(detail::running_fiber_as_it_is(), *core_);  // a task called exit()
  // After fork() its threads and locks belong to the parent process. In either case, freeing the runtime
  // would hang.
  if (inside || core_->life.is_orphaned()) keep_for_ever(core_.release());
}

void runtime::shutdown() {
  if (keeps_inside(detail::running_fiber(), *core_))
    throw usage_error("sukima: a runtime cannot be shut down by one of its own workers");
  detail::parts_of<detail::runtime_parts>(*core_).cycle.stop();
}

unsigned runtime::workers() const noexcept { return core_->worker_limit; }

unsigned runtime::workers_now() const noexcept {
  return std::min(core_->target.count(), core_->worker_limit);
}

void runtime::limit_workers(unsigned most) {
  core_->life.refuse_orphans();
  detail::parts_of<detail::runtime_parts>(*core_).controller.limit_workers(most);
}

void runtime::visit_decisions(void (*add)(void* to, const decision&), void* to) const {
  core_->life.refuse_orphans();  // a thread of the parent may have held the lock
  for (const decision& made : detail::parts_of<detail::runtime_parts>(*core_).decisions.all()) add(to, made);
}

const settings& runtime::chosen() const noexcept { return core_->chosen; }

void runtime::enter(detail::root_task& root) {
  detail::fiber* s = detail::running_fiber();
  if (s == nullptr || s->runtime != core_.get())
    detail::parts_of<detail::runtime_parts>(*core_).entries.enter(root);
  else
    detail::enter_within(*s, root);
}

namespace detail {

/// The default runtime, which sukima_workers_set may replace while other threads are about to enter it.
///
/// A default runtime that a call started is never freed, only ended. Threads enter it uncounted, so a program
/// that never replaces it has no cost. A runtime that replaced another one is freed when it is replaced in
/// turn, so the threads that enter it are counted:
///   enters    counts itself, then reads `counted_`
///   replaces  counted_ := null, then reads the count; if a thread is counted, stores the pointer again
/// Both write before they read, so at least one sees the other's write. A thread may have read the pointer to
/// a runtime that ends before the thread enters it. That runtime refuses the entry
/// (runtime_entries::try_enter), and the thread tries again.
///
/// The slot is never destroyed: threads may still compute while the program's static objects end. A child
/// process after fork() gets a default runtime of its own.
class default_slot {
 public:
  /// Returns the default runtime; starts one if there is none.
  runtime& get() { return user(*this).get(); }
  void enter(root_task& root);
  void use(const std::function<void(runtime&)>& f);
  bool renew(const settings& chosen);

  // Called around fork(). If another thread held the lock, no thread of the child would ever release it. So
  // the forking thread takes the lock first. Counted threads do not exist in the child.
  void before_fork() { lock_.lock(); }
  void in_parent() { lock_.unlock(); }
  void in_child() {
    users_.store(0, std::memory_order_relaxed);
    forks_.store(forks_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    lock_.unlock();
  }

 private:
  /// A thread that `users_` counts.
  class counted_user {
   public:
    explicit counted_user(default_slot& of) : of_(of), forks_(of.forks_.load(std::memory_order_relaxed)) {
      of_.users_.fetch_add(1, std::memory_order_seq_cst);
    }
    counted_user(const counted_user&) = delete;
    counted_user& operator=(const counted_user&) = delete;
    /// Ends the count of the thread, except in a child process after fork(), where counting has begun again.
    ~counted_user() {
      if (forks_ == of_.forks_.load(std::memory_order_relaxed))
        of_.users_.fetch_sub(1, std::memory_order_release);
    }

   private:
    default_slot& of_;
    const unsigned forks_;
  };

  /// A thread's use of the default runtime. The runtime is not freed before the use ends.
  class user {
   public:
    explicit user(default_slot& of) : runtime_(of.uncounted_.load(std::memory_order_acquire)) {
      if (is_usable(runtime_)) [[likely]]
        return;
      counted_.emplace(of);
      runtime_ = of.counted_.load(std::memory_order_seq_cst);
      if (is_usable(runtime_)) return;
      const std::lock_guard hold(of.lock_);
      runtime_ = &of.current();
    }
    runtime& get() const noexcept { return *runtime_; }

   private:
    runtime* runtime_;
    std::optional<counted_user> counted_;
  };

  static bool is_usable(const runtime* r) noexcept { return r != nullptr && !r->core_->life.is_orphaned(); }
  /// \pre the lock is held, as for current()
  bool is_current(const runtime& r) const noexcept {
    return &r == uncounted_.load(std::memory_order_relaxed) || &r == counted_.load(std::memory_order_relaxed);
  }
  runtime& current();

  std::mutex lock_;
  // At most one of these pointers is usable. They are stored under the lock.
  std::atomic<runtime*> uncounted_{nullptr};  ///< Never freed. pairs with: current, use, user, renew
  std::atomic<runtime*> counted_{nullptr};  ///< Freed by renew(). pairs with: user, renew
  std::atomic<unsigned> users_{0};  ///< Threads that may use `counted_`. pairs with: counted_user, renew
  /// How many forks this process descends from. no partner: the child's only thread writes it
  std::atomic<unsigned> forks_{0};
  runtime* ended_ = nullptr;  ///< was `uncounted_`, and has ended; protected by the lock
};

/// Returns the usable runtime; starts one if there is none. \pre the lock is held
runtime& default_slot::current() {
  // no partner: under the lock
  for (const std::atomic<runtime*>* const where : {&uncounted_, &counted_})
    if (runtime* const r = where->load(std::memory_order_relaxed); is_usable(r)) return *r;
  auto* const fresh = new runtime;
  // This process keeps at most one for ever, besides those of the processes that it descends from.
  std::atomic<runtime*>& place = ended_ == nullptr ? uncounted_ : counted_;
  // no partner: under the lock
  if (const runtime* const orphan = place.load(std::memory_order_relaxed)) keep_for_ever(orphan);
  place.store(fresh, std::memory_order_release);  // pairs with: user
  return *fresh;
}

void default_slot::enter(root_task& root) {
  for (;;) {
    const user its(*this);
    if (parts_of<runtime_parts>(*its.get().core_).entries.try_enter(root)) return;
    // The program has shut it down; or another thread is replacing it, or has tried to.
    const std::lock_guard hold(lock_);
    if (is_current(its.get()) && parts_of<runtime_parts>(*its.get().core_).entries.are_refused())
      throw was_shut_down();
  }
}

void default_slot::use(const std::function<void(runtime&)>& f) {
  runtime* const r = uncounted_.load(std::memory_order_acquire);
  if (is_usable(r)) return f(*r);
  const std::lock_guard hold(lock_);
  f(current());
}

bool default_slot::renew(const settings& chosen) {
  const std::lock_guard hold(lock_);
  if (running_fiber_as_it_is() != nullptr) return false;
  // The old runtime ends before the new one starts, because two sets of workers would disturb each other.
  // pairs with: user
  for (std::atomic<runtime*>* const where : {&uncounted_, &counted_}) {
    runtime* const old = where->load(std::memory_order_relaxed);
    if (!is_usable(old)) continue;
    // The pointer is stored before the count is read. A user counts itself before it reads the pointer.
    where->store(nullptr, std::memory_order_seq_cst);
    if (users_.load(std::memory_order_seq_cst) != 0 ||
        !parts_of<runtime_parts>(*old->core_).cycle.stop_if_empty()) {
      where->store(old, std::memory_order_seq_cst);
      return false;
    }
    if (where == &uncounted_)
      ended_ = old;
    else
      delete old;
  }
  counted_.store(new runtime(chosen), std::memory_order_seq_cst);
  return true;
}

namespace {

static_assert(std::is_trivially_destructible_v<default_slot>);
constinit default_slot the_default;

[[maybe_unused]] const int lock_is_kept_for_children = pthread_atfork(
    [] { the_default.before_fork(); }, [] { the_default.in_parent(); }, [] { the_default.in_child(); });

}  // namespace

void enter_default(root_task& root) { the_default.enter(root); }

void use_default_runtime(const std::function<void(runtime&)>& f) { the_default.use(f); }

bool renew_default_runtime(unsigned workers) {
  settings chosen = settings::from_environment();
  chosen.workers = workers;
  return the_default.renew(chosen);
}

}  // namespace detail

runtime& default_runtime() { return detail::the_default.get(); }

int worker_id() noexcept {
  const detail::fiber* s = detail::running_fiber();
  return s == nullptr ? -1 : static_cast<int>(s->on->id);
}

}  // namespace sukima
