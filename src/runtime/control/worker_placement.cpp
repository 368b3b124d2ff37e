// SPDX-License-Identifier: Apache-2.0
#include "control/worker_placement.hpp"

#include "constants.hpp"
#include "control/cpu_shortage.hpp"
#include "control/decision_log.hpp"
#include "fiber/fiber.hpp"
#include "fiber/switch.hpp"
#include "park/park.hpp"
#include "stress.hpp"
#include "worker.hpp"
#include "worker_target.hpp"

#include <pthread.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <utility>

namespace sukima::detail {

namespace {

constexpr auto not_pinned = static_cast<std::uint8_t>(~duty_unpin);

/// The kernel's information about a thread of this process.
struct thread_state {
  char state = '?';  ///< R: it runs, or could run
  int cpu = -1;  ///< the CPU on which it ran last; -1: unknown
};

thread_state state_of(int thread) noexcept {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/self/task/%d/stat", thread);
  std::FILE* const file = std::fopen(path, "re");
  if (file == nullptr) return {};
  char text[1024];
  const std::size_t length = std::fread(text, 1, sizeof text - 1, file);
  std::fclose(file);
  text[length] = '\0';
  // The name may contain blanks and brackets. After it come field 3, the state, …, and field 39, the
  // processor.
  thread_state found;
  const char* at = std::strrchr(text, ')');
  if (at == nullptr || std::sscanf(at + 1, " %c", &found.state) != 1) return {};
  for (int field = 2; at != nullptr && field < 39; ++field) at = std::strchr(at + 1, ' ');
  if (at == nullptr || std::sscanf(at, " %d", &found.cpu) != 1) return {};
  return found;
}

/// The CPU time of another thread of this process, up to now if it runs; see clock_getcpuclockid(3) and the
/// kernel's posix-cpu-timers for the number of such a clock.
long cpu_time_of(int thread) noexcept {
  constexpr unsigned of_one_thread = 4;
  constexpr unsigned as_the_scheduler_counts = 2;
  timespec t{};
  const auto clock =
      static_cast<clockid_t>((~static_cast<unsigned>(thread) << 3) | of_one_thread | as_the_scheduler_counts);
  return clock_gettime(clock, &t) == 0 ? t.tv_nsec : -1;
}

/// Whether that thread could run but does not.
bool lacks_a_cpu(int thread) noexcept {
  const long before = cpu_time_of(thread);
  if (state_of(thread).state != 'R') return false;
  return before >= 0 && cpu_time_of(thread) == before;
}

cpu_set_t only(int cpu) noexcept {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<std::size_t>(cpu), &one);
  return one;
}

bool move(int thread, int cpu) noexcept {
  const cpu_set_t one = only(cpu);
  return sched_setaffinity(thread, sizeof one, &one) == 0;
}

}  // namespace

void pin_to_cpu_of_rank(worker& self) noexcept {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  const int count = CPU_COUNT(&allowed);
  if (count <= 0) return;
  self.affinity_before = allowed;
  int wanted = static_cast<int>(self.rank) % count;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &allowed) && wanted-- == 0) {
      cpu_set_t one;
      CPU_ZERO(&one);
      CPU_SET(cpu, &one);
      sched_setaffinity(0, sizeof one, &one);
      return;
    }
}

worker_placement::worker_placement(const settings& chosen, const worker_table& workers,
                                   const worker_target& target, parking& park, cpu_shortage& shortage,
                                   decision_log& decisions)
    : chosen_(chosen),
      workers_(workers),
      target_(target),
      park_(park),
      shortage_(shortage),
      decisions_(decisions) {
  static const bool registered = [] {
    pthread_atfork(nullptr, nullptr, [] { unpin_after_fork(); });
    return true;
  }();
  static_cast<void>(registered);
}

std::uint64_t worker_placement::steals_so_far() const noexcept {
  std::uint64_t steals = 0;
  for (const worker& w : workers_.all()) steals += w.statistics.steals.get();
  return steals;
}

void worker_placement::adapt() {
  const auto now = std::chrono::steady_clock::now();
  const bool starved = shortage_.take_starved();
  if (is_active()) {
    if (starved) not_before_ = now + std::chrono::nanoseconds(tuning::rest_after_starving_ns);
    if (starved)
      unpin_all("a worker hardly runs on its CPU");
    else if (!shortage_.is_short())
      unpin_all("CPU is no longer short");
    else if (is_outdated())
      unpin_all("threads entered or left");
    return;
  }
  const worker_counts seen = park_.counts();
  // A worker that searches at this moment has found work since the last sample, or a CPU is idle anyway.
  const std::uint64_t steals = steals_so_far();
  const bool stealing = std::exchange(steals_, steals) != steals;
  if (!shortage_.is_short() || now < not_before_ || seen.parked != 0 || (seen.searching != 0 && !stealing))
    return;
  if (pin_all()) decisions_.add("assigned_cpu", 0, 1, "CPU is short, and there is a worker for each CPU");
}

void worker_placement::unpin_all(const char* reason) noexcept {
  if (release_all()) decisions_.add("assigned_cpu", 1, 0, reason);
}

bool worker_placement::runs(const worker& w) const noexcept {
  return w.background ? !target_.is_surplus(w.rank) : w.inside.load(std::memory_order_relaxed);
}

bool worker_placement::find_workers(std::vector<assigned_cpu>& found) const {
  for (worker& w : workers_.all()) {
    if (!runs(w)) continue;
    const int thread = w.thread_id.load(std::memory_order_relaxed);
    if (thread == 0) return false;  // its thread is starting at this moment
    found.push_back({&w, thread, {}, -1, -1, false});
  }
  return true;
}

bool worker_placement::choose_cpus(std::vector<assigned_cpu>& workers) {
  for (assigned_cpu& p : workers) {
    if (sched_getaffinity(p.thread, sizeof p.before, &p.before) != 0) return false;
    // The kernel places threads better if the program has pinned some, or if the numbers of workers and CPUs
    // differ.
    if (!CPU_EQUAL(&p.before, &workers.front().before)) return false;
    if (static_cast<std::size_t>(CPU_COUNT(&p.before)) != workers.size()) return false;
  }
  cpu_set_t free = workers.front().before;
  for (assigned_cpu& p : workers) {
    const int cpu = state_of(p.thread).cpu;
    if (cpu < 0 || cpu >= CPU_SETSIZE || !CPU_ISSET(static_cast<std::size_t>(cpu), &free)) continue;
    p.cpu = cpu;
    CPU_CLR(static_cast<std::size_t>(cpu), &free);
  }
  int next = 0;
  for (assigned_cpu& p : workers) {
    if (p.cpu >= 0) continue;
    while (!CPU_ISSET(static_cast<std::size_t>(next), &free)) ++next;
    p.cpu = next++;
  }
  return true;
}

void worker_placement::unpin_thread(const assigned_cpu& p) noexcept {
  cpu_set_t now;
  if (sched_getaffinity(p.thread, sizeof now, &now) != 0) return;
  const cpu_set_t ours = only(p.now_on);
  if (CPU_EQUAL(&now, &ours)) sched_setaffinity(p.thread, sizeof p.before, &p.before);
}

worker_placement::assigned_cpu* worker_placement::find(const worker& w) noexcept {
  const auto at = std::ranges::find(assigned_, &w, &assigned_cpu::of);
  return at == assigned_.end() ? nullptr : &*at;
}

bool worker_placement::pin_all() {
  const std::lock_guard lock(changing_);
  std::vector<assigned_cpu> workers;
  if (!assigned_.empty() || !find_workers(workers) || workers.size() < 2 || !choose_cpus(workers))
    return false;
  for (const assigned_cpu& p : workers) {
    p.of->affinity_before = p.before;
    p.of->duties.fetch_or(duty_unpin, std::memory_order_release);
  }
  stress_point();
  // A thread that leaves (runtime_entries::try_enter) clears `inside`, changes the counts, and then reads its
  // duties. If it changes the counts after this call, it reads the duty and waits for the lock. If it changed
  // them before, this thread reads false from `inside`.
  park_.order_with_counts();
  const bool all_there = std::ranges::all_of(workers, [](const assigned_cpu& p) {
    return p.of->background || p.of->inside.load(std::memory_order_relaxed);
  });
  std::size_t moved = 0;
  if (all_there) {
    for (assigned_cpu& p : workers) {
      if (!move(p.thread, p.cpu)) break;
      p.now_on = p.cpu;
      ++moved;
    }
  }
  if (moved == workers.size()) {
    assigned_ = std::move(workers);
    active_.store(true, std::memory_order_relaxed);
    return true;
  }
  for (std::size_t i = 0; i < moved; ++i) unpin_thread(workers[i]);
  for (const assigned_cpu& p : workers) p.of->duties.fetch_and(not_pinned, std::memory_order_relaxed);
  return false;
}

bool worker_placement::release_all() noexcept {
  const std::lock_guard lock(changing_);
  if (assigned_.empty()) return false;
  for (const assigned_cpu& p : assigned_) {
    if (p.away) continue;
    unpin_thread(p);
    p.of->duties.fetch_and(not_pinned, std::memory_order_relaxed);
    p.of->shares_cpu.store(false, std::memory_order_relaxed);
  }
  assigned_.clear();
  active_.store(false, std::memory_order_relaxed);
  return true;
}

bool worker_placement::is_outdated() noexcept {
  const std::lock_guard lock(changing_);
  if (assigned_.empty()) return false;
  std::size_t working = 0;
  for (const worker& w : workers_.all()) {
    const assigned_cpu* const its = find(w);
    const bool waits_outside = w.background && its != nullptr && its->away;
    working += runs(w) && !waits_outside;
  }
  return static_cast<std::ptrdiff_t>(working) != std::ranges::count(assigned_, false, &assigned_cpu::away);
}

void worker_placement::pin_again(worker& w) noexcept {
  const std::lock_guard lock(changing_);
  assigned_cpu* const mine = find(w);
  if (mine == nullptr || !mine->away) return;
  const int thread = w.thread_id.load(std::memory_order_relaxed);  // it may have changed since
  cpu_set_t before;
  if (sched_getaffinity(thread, sizeof before, &before) != 0 || !CPU_EQUAL(&before, &mine->before)) return;
  if (!move(thread, mine->cpu)) return;
  mine->thread = thread;
  mine->now_on = mine->cpu;
  mine->away = false;
  w.affinity_before = before;
  w.duties.fetch_or(duty_unpin, std::memory_order_release);
}

void worker_placement::unpin(worker& w) noexcept {
  const std::lock_guard lock(changing_);
  if (assigned_cpu* const mine = find(w)) {
    unpin_thread(*mine);
    mine->away = true;
  }
  w.duties.fetch_and(not_pinned, std::memory_order_relaxed);
}

void worker_placement::unpin_after_fork() noexcept {
  const fiber* const s = running_fiber_as_it_is();
  if (s == nullptr || !s->on->is_pinned()) return;
  sched_setaffinity(0, sizeof s->on->affinity_before, &s->on->affinity_before);
}

std::optional<cpu_set_t> worker_placement::affinity_before_pinning(const worker& w) noexcept {
  const std::lock_guard lock(changing_);
  const bool is_pinned_for_good = w.background && chosen_.pin == pin_policy::cpu;
  if (!is_pinned_for_good && !w.is_pinned()) return std::nullopt;
  return w.affinity_before;
}

bool worker_placement::lend(worker& caller, worker& runner, lending how) noexcept {
  std::unique_lock lock(changing_, std::try_to_lock);
  if (!lock) return false;
  assigned_cpu* const own = find(caller);
  assigned_cpu* const other = find(runner);
  if (own == nullptr || other == nullptr || own->away || other->away) return false;
  // The runner may share this CPU already. It may be continuing a fiber that waited for its task; it then
  // stays here.
  const bool is_here = other->now_on == own->now_on;
  if (!is_here) {
    if (!lacks_a_cpu(other->thread) || !move(other->thread, own->now_on)) return false;
    other->now_on = own->now_on;
    ++caller.statistics.cpus_lent;
  }
  if (how == lending::in_exchange) {
    std::swap(own->cpu, other->cpu);
    own->now_on = own->cpu;
  }
  const bool shared = own->now_on == other->now_on;
  caller.shares_cpu.store(shared, std::memory_order_relaxed);
  runner.shares_cpu.store(shared, std::memory_order_relaxed);
  if (how == lending::in_exchange) follow(caller, lock);
  return true;
}

void worker_placement::return_lent(worker& w) noexcept {
  std::unique_lock lock(changing_, std::try_to_lock);
  if (!lock) return;  // the next call tries again
  w.shares_cpu.store(false, std::memory_order_relaxed);
  const assigned_cpu* const mine = find(w);
  if (mine == nullptr) return;
  const int here = mine->now_on;
  for (assigned_cpu& p : assigned_) {
    if (p.away || p.now_on != here || p.now_on == p.cpu) continue;
    if (p.of != &w && !move(p.thread, p.cpu)) continue;
    p.now_on = p.cpu;
    p.of->shares_cpu.store(false, std::memory_order_relaxed);
  }
  if (mine->now_on != here) follow(w, lock);
}

void worker_placement::follow(const worker& w, std::unique_lock<std::mutex>& lock) noexcept {
  // A thread that arrives on a busy CPU must wait there for milliseconds, and must not hold the lock during
  // the wait.
  for (const assigned_cpu* mine = find(w); mine != nullptr;) {
    const int target = mine->now_on;
    const cpu_set_t before = mine->before;
    lock.unlock();
    move(0, target);
    lock.lock();
    mine = find(w);
    if (mine == nullptr)
      sched_setaffinity(0, sizeof before, &before);  // all were unpinned, this thread before it was moved
    else if (mine->now_on == target)
      return;
  }
}

}  // namespace sukima::detail
