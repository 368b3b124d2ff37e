// SPDX-License-Identifier: Apache-2.0
#include "control/cpu_spread.hpp"

#include "core.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>

namespace sukima::detail {

namespace {

/// What the kernel says of a thread of this process.
struct thread_state {
  char state = '?';  ///< R: it runs, or could run
  int cpu = -1;  ///< that it ran on last; -1: unknown
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
  // The name may hold blanks and brackets. Behind it stands field 3, the state; field 39 is the processor.
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

/// Could that thread run, and does not?
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

bool cpu_spread::runs(const worker& w) const noexcept {
  return w.background ? !core_.elasticity.is_surplus(w.rank) : w.inside.load(std::memory_order_relaxed);
}

bool cpu_spread::find_workers(std::vector<place>& found) const {
  for (worker& w : core_.workers.all()) {
    if (!runs(w)) continue;
    const int thread = w.thread_id.load(std::memory_order_relaxed);
    if (thread == 0) return false;  // it starts just now
    found.push_back({&w, thread, {}, -1, -1, false});
  }
  return true;
}

bool cpu_spread::choose_cpus(std::vector<place>& places) {
  for (place& p : places) {
    if (sched_getaffinity(p.thread, sizeof p.before, &p.before) != 0) return false;
    // Threads that the program placed itself, or a worker more or less than CPUs: better left to the kernel.
    if (!CPU_EQUAL(&p.before, &places.front().before)) return false;
    if (static_cast<std::size_t>(CPU_COUNT(&p.before)) != places.size()) return false;
  }
  cpu_set_t free = places.front().before;
  for (place& p : places) {
    const int cpu = state_of(p.thread).cpu;
    if (cpu < 0 || cpu >= CPU_SETSIZE || !CPU_ISSET(static_cast<std::size_t>(cpu), &free)) continue;
    p.cpu = cpu;
    CPU_CLR(static_cast<std::size_t>(cpu), &free);
  }
  int next = 0;
  for (place& p : places) {
    if (p.cpu >= 0) continue;
    while (!CPU_ISSET(static_cast<std::size_t>(next), &free)) ++next;
    p.cpu = next++;
  }
  return true;
}

void cpu_spread::free_thread(const place& p) noexcept {
  cpu_set_t now;
  if (sched_getaffinity(p.thread, sizeof now, &now) != 0) return;
  const cpu_set_t ours = only(p.now_on);
  if (CPU_EQUAL(&now, &ours)) sched_setaffinity(p.thread, sizeof p.before, &p.before);
}

cpu_spread::place* cpu_spread::find(const worker& w) noexcept {
  const auto at = std::ranges::find(places_, &w, &place::who);
  return at == places_.end() ? nullptr : &*at;
}

bool cpu_spread::hold() {
  const std::lock_guard lock(changing_);
  std::vector<place> places;
  if (!places_.empty() || !find_workers(places) || places.size() < 2 || !choose_cpus(places)) return false;
  for (const place& p : places) {
    p.who->affinity_before = p.before;
    p.who->pinned.store(true, std::memory_order_release);  // partner: free_child
  }
  stress_point();
  // Partner: enter(), which clears `inside`, changes the counts when it leaves, and reads `pinned`
  // afterwards. Either its change comes later than this one, and it sees `pinned` and waits for the lock;
  // or it came earlier, and `inside` is seen as false here.
  core_.park.order_with_counts();
  const bool all_there = std::ranges::all_of(places, [](const place& p) {
    return p.who->background || p.who->inside.load(std::memory_order_relaxed);
  });
  std::size_t moved = 0;
  if (all_there) {
    for (place& p : places) {
      if (!move(p.thread, p.cpu)) break;
      p.now_on = p.cpu;
      ++moved;
    }
  }
  if (moved == places.size()) {
    places_ = std::move(places);
    active_.store(true, std::memory_order_relaxed);
    return true;
  }
  for (std::size_t i = 0; i < moved; ++i) free_thread(places[i]);
  for (const place& p : places) p.who->pinned.store(false, std::memory_order_relaxed);
  return false;
}

bool cpu_spread::release() noexcept {
  const std::lock_guard lock(changing_);
  if (places_.empty()) return false;
  for (const place& p : places_) {
    if (p.away) continue;
    free_thread(p);
    p.who->pinned.store(false, std::memory_order_relaxed);
    p.who->shares_cpu.store(false, std::memory_order_relaxed);
  }
  places_.clear();
  active_.store(false, std::memory_order_relaxed);
  return true;
}

bool cpu_spread::is_outdated() noexcept {
  const std::lock_guard lock(changing_);
  if (places_.empty()) return false;
  std::size_t working = 0;
  for (const worker& w : core_.workers.all()) {
    const place* const its = find(w);
    const bool waits_outside = w.background && its != nullptr && its->away;
    working += runs(w) && !waits_outside;
  }
  return static_cast<std::ptrdiff_t>(working) != std::ranges::count(places_, false, &place::away);
}

void cpu_spread::come_back(worker& w) noexcept {
  const std::lock_guard lock(changing_);
  place* const mine = find(w);
  if (mine == nullptr || !mine->away) return;
  const int thread = w.thread_id.load(std::memory_order_relaxed);  // perhaps another one than before
  cpu_set_t before;
  if (sched_getaffinity(thread, sizeof before, &before) != 0 || !CPU_EQUAL(&before, &mine->before)) return;
  if (!move(thread, mine->cpu)) return;
  mine->thread = thread;
  mine->now_on = mine->cpu;
  mine->away = false;
  w.affinity_before = before;
  w.pinned.store(true, std::memory_order_release);  // partner: free_child
}

void cpu_spread::leave(worker& w) noexcept {
  const std::lock_guard lock(changing_);
  if (place* const mine = find(w)) {
    free_thread(*mine);
    mine->away = true;
  }
  w.pinned.store(false, std::memory_order_relaxed);
}

void cpu_spread::free_child() noexcept {
  const fiber* const s = running_fiber();
  if (s == nullptr || !s->on->pinned.load(std::memory_order_acquire)) return;
  sched_setaffinity(0, sizeof s->on->affinity_before, &s->on->affinity_before);
}

bool cpu_spread::give(worker& caller, worker& runner, giving how) noexcept {
  std::unique_lock lock(changing_, std::try_to_lock);
  if (!lock) return false;
  place* const own = find(caller);
  place* const other = find(runner);
  if (own == nullptr || other == nullptr || own->away || other->away) return false;
  // A guest already: it may go on with what waited for its task, and then it is here to stay.
  const bool is_here = other->now_on == own->now_on;
  if (!is_here) {
    if (!lacks_a_cpu(other->thread) || !move(other->thread, own->now_on)) return false;
    other->now_on = own->now_on;
    ++caller.statistics.cpus_lent;
  }
  if (how == giving::in_exchange) {
    std::swap(own->cpu, other->cpu);
    own->now_on = own->cpu;
  }
  const bool shared = own->now_on == other->now_on;
  caller.shares_cpu.store(shared, std::memory_order_relaxed);
  runner.shares_cpu.store(shared, std::memory_order_relaxed);
  if (how == giving::in_exchange) follow(caller, lock);
  return true;
}

void cpu_spread::part(worker& w) noexcept {
  std::unique_lock lock(changing_, std::try_to_lock);
  if (!lock) return;  // next time
  w.shares_cpu.store(false, std::memory_order_relaxed);
  const place* const mine = find(w);
  if (mine == nullptr) return;
  const int here = mine->now_on;
  for (place& p : places_) {
    if (p.away || p.now_on != here || p.now_on == p.cpu) continue;
    if (p.who != &w && !move(p.thread, p.cpu)) continue;
    p.now_on = p.cpu;
    p.who->shares_cpu.store(false, std::memory_order_relaxed);
  }
  if (mine->now_on != here) follow(w, lock);
}

void cpu_spread::follow(const worker& w, std::unique_lock<std::mutex>& lock) noexcept {
  // Whoever arrives on a busy CPU has to wait there, for milliseconds, and must not hold the lock meanwhile.
  for (const place* mine = find(w); mine != nullptr;) {
    const int target = mine->now_on;
    const cpu_set_t before = mine->before;
    lock.unlock();
    move(0, target);
    lock.lock();
    mine = find(w);
    if (mine == nullptr)
      sched_setaffinity(0, sizeof before, &before);  // all were let go, this thread before it arrived
    else if (mine->now_on == target)
      return;
  }
}

}  // namespace sukima::detail
