// SPDX-License-Identifier: Apache-2.0
#include "cpu_spread.hpp"

#include "core.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace sukima::detail {

namespace {

/// The CPU that a thread of this process ran on last; -1: unknown.
int last_cpu_of(int thread) noexcept {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/self/task/%d/stat", thread);
  std::FILE* const file = std::fopen(path, "re");
  if (file == nullptr) return -1;
  char text[1024];
  const std::size_t length = std::fread(text, 1, sizeof text - 1, file);
  std::fclose(file);
  text[length] = '\0';
  // The name may hold blanks and brackets; behind it stands field 3, and the processor is field 39.
  const char* at = std::strrchr(text, ')');
  for (int field = 2; at != nullptr && field < 39; ++field) at = std::strchr(at + 1, ' ');
  int cpu = -1;
  if (at == nullptr || std::sscanf(at, " %d", &cpu) != 1) return -1;
  return cpu;
}

cpu_set_t only(int cpu) noexcept {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<std::size_t>(cpu), &one);
  return one;
}

}  // namespace

bool cpu_spread::runs(const worker& w) const noexcept {
  return w.background ? !core_.elasticity.is_surplus(w.rank) : w.inside.load(std::memory_order_relaxed);
}

bool cpu_spread::find_workers(std::vector<place>& found) const {
  const unsigned count = core_.worker_count.load(std::memory_order_acquire);
  for (unsigned i = 0; i < count; ++i) {
    worker& w = *core_.workers[i].load(std::memory_order_relaxed);
    if (!runs(w)) continue;
    const int thread = w.thread_id.load(std::memory_order_relaxed);
    if (thread == 0) return false;  // it starts just now
    found.push_back({&w, thread, {}, -1});
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
    const int cpu = last_cpu_of(p.thread);
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
  const cpu_set_t ours = only(p.cpu);
  if (CPU_EQUAL(&now, &ours)) sched_setaffinity(p.thread, sizeof p.before, &p.before);
}

bool cpu_spread::hold() {
  const std::lock_guard lock(changing_);
  std::vector<place> places;
  if (!places_.empty() || !find_workers(places) || places.size() < 2 || !choose_cpus(places)) return false;
  for (const place& p : places) p.who->held.store(true, std::memory_order_relaxed);
  stress_point();
  // Partner: enter(), which clears `inside`, changes the census when it leaves, and reads `held` afterwards.
  // Either its change comes later than this one, and it sees `held` and waits for the lock; or it came
  // earlier, and `inside` is seen as false here.
  core_.touch_census();
  const bool all_there = std::ranges::all_of(places, [](const place& p) {
    return p.who->background || p.who->inside.load(std::memory_order_relaxed);
  });
  std::size_t moved = 0;
  if (all_there) {
    for (const place& p : places) {
      const cpu_set_t one = only(p.cpu);
      if (sched_setaffinity(p.thread, sizeof one, &one) != 0) break;
      ++moved;
    }
  }
  if (moved == places.size()) {
    places_ = std::move(places);
    active_.store(true, std::memory_order_relaxed);
    return true;
  }
  for (std::size_t i = 0; i < moved; ++i) free_thread(places[i]);
  for (const place& p : places) p.who->held.store(false, std::memory_order_relaxed);
  return false;
}

bool cpu_spread::release() noexcept {
  const std::lock_guard lock(changing_);
  if (places_.empty()) return false;
  for (const place& p : places_) {
    free_thread(p);
    p.who->held.store(false, std::memory_order_relaxed);
  }
  places_.clear();
  active_.store(false, std::memory_order_relaxed);
  return true;
}

bool cpu_spread::is_outdated() noexcept {
  const std::lock_guard lock(changing_);
  if (places_.empty()) return false;
  std::size_t working = 0;
  const unsigned count = core_.worker_count.load(std::memory_order_acquire);
  for (unsigned i = 0; i < count; ++i) {
    const worker& w = *core_.workers[i].load(std::memory_order_relaxed);
    working += runs(w);
  }
  return working != places_.size();
}

void cpu_spread::leave(worker& w) noexcept {
  const std::lock_guard lock(changing_);
  const auto mine = std::ranges::find(places_, &w, &place::who);
  if (mine != places_.end()) {
    free_thread(*mine);
    places_.erase(mine);
    if (places_.empty()) active_.store(false, std::memory_order_relaxed);
  }
  w.held.store(false, std::memory_order_relaxed);
}

}  // namespace sukima::detail
