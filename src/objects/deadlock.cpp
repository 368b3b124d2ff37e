// SPDX-License-Identifier: Apache-2.0
// Deadlocks: objects that wait for streams which nobody alive can move.
//
// Every second the watch notes which objects wait, and for what; a tenth of a second later it looks again. An
// object that has waited all that time, for streams alone and without a time, is suspected. Every other
// one is alive. Then, repeatedly, whatever an object that is alive can free is alive, too: who receives
// from a stream of which it holds a sending end, who waits for room in one of which it holds a
// receiving end. What remains is deadlocked: nobody who could end its wait will ever run.
#include "program.hpp"

#include <sukima/detail/own_thread.hpp>

#include <pthread.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace sukima::objects::detail {

namespace {

/// What an object waits for, if it does nothing else.
struct suspect {
  std::uint64_t count = 0;  ///< object_core::wait_count
  std::vector<std::uintptr_t> streams;
};

/// False: it runs, has ended, or its wait may end by something else than a stream.
bool read_wait(const object_core& o, suspect& found) {
  found.count = o.wait_count.load(std::memory_order_acquire);
  if (found.count % 2 == 0 || o.over.load(std::memory_order_acquire)) return false;
  const std::uint32_t waits = o.waits.load(std::memory_order_acquire);
  if (waits > object_core::most_waits) return false;
  const std::uint64_t number = o.suspension.load(std::memory_order_acquire);
  found.streams.clear();
  for (std::uint32_t i = 0; i < waits; ++i)
    found.streams.push_back(o.waits_for[i].load(std::memory_order_acquire));
  if (o.wait_count.load(std::memory_order_acquire) != found.count) return false;
  return number == 0 || sukima::detail::is_suspended(*o.self, number);
}

stream_core& stream_of(std::uintptr_t word) noexcept {
  return *reinterpret_cast<stream_core*>(word & ~std::uintptr_t{1});
}

/// Who is deadlocked: indices of objects.
std::vector<std::size_t> find_dead(program_core& p, const std::vector<suspect>& before) {
  struct waiters {
    std::vector<std::size_t> receivers;
    std::vector<std::size_t> senders;
    std::size_t known_outs = 0;
    std::size_t known_ins = 0;
  };
  std::unordered_map<const stream_core*, waiters> at;
  std::vector<bool> suspected(p.objects.size());
  const std::lock_guard hold(p.ends_lock);
  for (std::size_t i = 0; i < p.objects.size(); ++i) {
    suspect now;
    if (before[i].count % 2 == 0 || !read_wait(*p.objects[i], now) || now.count != before[i].count) continue;
    suspected[i] = true;
    for (const std::uintptr_t w : now.streams) {
      waiters& there = at[&stream_of(w)];
      ((w & 1) != 0 ? there.receivers : there.senders).push_back(i);
    }
  }
  for (const auto& o : p.objects)
    for (const held_end& e : o->ends) ++(e.out ? at[e.stream].known_outs : at[e.stream].known_ins);
  std::vector<std::size_t> alive;
  const auto free = [&](std::vector<std::size_t>& waiting) {
    for (const std::size_t i : std::exchange(waiting, {}))
      if (suspected[i]) {
        suspected[i] = false;
        alive.push_back(i);
      }
  };
  for (std::size_t i = 0; i < p.objects.size(); ++i)
    if (!suspected[i]) alive.push_back(i);
  // An end that no object has used yet may be anybody's.
  for (auto& [s, there] : at) {
    if (s->outs.load() > there.known_outs) free(there.receivers);
    if (s->ins.load() > there.known_ins) free(there.senders);
  }
  while (!alive.empty()) {
    const object_core& o = *p.objects[alive.back()];
    alive.pop_back();
    for (const held_end& e : o.ends) {
      waiters& there = at[e.stream];
      free(e.out ? there.receivers : there.senders);
    }
  }
  std::vector<std::size_t> dead;
  for (std::size_t i = 0; i < suspected.size(); ++i)
    if (suspected[i]) dead.push_back(i);
  return dead;
}

std::string describe(const program_core& p, const std::vector<std::size_t>& dead) {
  constexpr std::size_t most = 20;
  std::string text;
  std::string larger;
  for (std::size_t k = 0; k < std::min(dead.size(), most); ++k) {
    const object_core& o = *p.objects[dead[k]];
    suspect now;
    if (!read_wait(o, now)) continue;
    for (const std::uintptr_t w : now.streams) {
      const stream_core& s = stream_of(w);
      const bool receives = (w & 1) != 0;
      text += (text.empty() ? "" : "; ") + o.name +
              (receives ? " waits for a message from " : " waits for room in ") + s.name + " (" +
              std::to_string(s.words->tail.load() - s.words->head.load()) + " of " +
              std::to_string(s.capacity) + ")";
      if (!receives && larger.empty()) larger = s.name;
    }
  }
  if (dead.size() > most) text += "; and " + std::to_string(dead.size() - most) + " more";
  if (!larger.empty()) text += ". With a larger capacity of " + larger + " its sender would go on";
  return text;
}

}  // namespace

deadlock_watch::deadlock_watch(program_core& of) : of_(of) {
  const sukima::detail::signals_blocked here;
  thread_ = std::thread([this] { run(); });
}

deadlock_watch::~deadlock_watch() {
  {
    const std::lock_guard hold(lock_);
    ends_ = true;
  }
  ended_.notify_all();
  thread_.join();
}

bool deadlock_watch::sleep(std::chrono::milliseconds time) {
  std::unique_lock hold(lock_);
  return !ended_.wait_for(hold, time, [this] { return ends_; });
}

void deadlock_watch::run() {
  pthread_setname_np(pthread_self(), "sukima-watch");
  while (sleep(std::chrono::milliseconds(1000))) look();
}

void deadlock_watch::look() {
  if (of_.aborting.load()) return;
  std::vector<suspect> before(of_.objects.size());
  bool any = false;
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (read_wait(*of_.objects[i], before[i]))
      any = true;
    else
      before[i].count = 0;
  }
  if (!any || !sleep(std::chrono::milliseconds(100))) return;
  const std::vector<std::size_t> dead = find_dead(of_, before);
  if (dead.empty()) return;
  const bool all =
      std::all_of(of_.objects.begin(), of_.objects.end(), [&, next = dead.begin()](const auto& o) mutable {
        if (next != dead.end() && of_.objects[*next] == o) {
          ++next;
          return true;
        }
        return o->over.load(std::memory_order_acquire);
      });
  const std::string text = std::string("sukima: ") + (all ? "all" : "some") +
                           " objects wait for one another: " + describe(of_, dead);
  const char* const wish = std::getenv("SUKIMA_DEADLOCK");
  if (all || (wish != nullptr && std::strcmp(wish, "end") == 0)) {
    of_.note_error(std::make_exception_ptr(deadlock(text)), text, false);
    of_.abort();
  } else if (text != reported_) {
    std::fprintf(stderr, "%s\n", text.c_str());
    reported_ = text;
  }
}

}  // namespace sukima::objects::detail
