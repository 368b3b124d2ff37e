// SPDX-License-Identifier: Apache-2.0
// The monitor that adapts the number of workers, and making up for workers that wait outside.
#include "elastic.hpp"

#include "core.hpp"

#include <sukima/capacity.h>
#include <sukima/blocking.hpp>

#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <fcntl.h>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>

namespace sukima::detail {

namespace {

using namespace std::chrono_literals;

/// A few times a second, and multiples of the usual quota period of 100 ms.
constexpr auto sampling = 200ms;
/// After so much silence the monitor sleeps until the next entry.
constexpr auto silence = 400ms;
/// Workers are made up for up to this number; more would be a thread for each of a crowd of waits.
constexpr unsigned most_blocked = 256;
/// Pieces of work that a blocking strand gives away first.
constexpr unsigned most_given = 64;
constexpr std::size_t most_decisions = 10'000;

void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t seen, const timespec* timeout) noexcept {
  syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAIT_PRIVATE, seen, timeout, nullptr, 0);
}

/// Time that a thread of this process ran and waited for a CPU, in nanoseconds. False: it is not to be had.
bool read_delays(int thread, std::uint64_t& ran, std::uint64_t& waited) noexcept {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/self/task/%d/schedstat", thread);
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  char text[96];
  const ssize_t length = read(file, text, sizeof text - 1);
  close(file);
  if (length <= 0) return false;
  text[length] = '\0';
  unsigned long long r = 0;
  unsigned long long w = 0;
  if (std::sscanf(text, "%llu %llu", &r, &w) != 2) return false;
  ran = r;
  waited = w;
  return true;
}

/// The number of workers for these facts.
unsigned workers_for(const sukima_capacity_facts& facts) noexcept {
  return static_cast<unsigned>(std::clamp(std::ceil(facts.usable - 1e-6), 1.0, 1e6));
}

std::string reason_of(const sukima_capacity_facts& facts) {
  char text[120];
  std::snprintf(text, sizeof text, "%.3g CPUs are usable (limit: %s)", facts.usable,
                sukima_capacity_kind_name(facts.binding));
  return text;
}

}  // namespace

elastic::~elastic() {
  if (capacity_ != nullptr) sukima_capacity_close(capacity_);
}

void elastic::start() {
  if (core_.chosen.elastic && core_.worker_limit > 1) {
    sukima_capacity_options options{};
    options.affinity = SUKIMA_CAPACITY_AT_OPEN;
    capacity_ = sukima_capacity_open(&options);
  }
  unsigned first = core_.worker_limit;
  std::string reason = "as many as were asked for";
  if (capacity_ != nullptr) {
    sukima_capacity_facts facts;
    sukima_capacity_latest(capacity_, &facts);
    const unsigned allowed = workers_for(facts);
    if (allowed < first) reason = reason_of(facts);
    first = std::min(first, allowed);
  }
  const std::lock_guard hold(deciding_);
  allowed_ = first;
  adjust(reason);
  if (capacity_ != nullptr) thread_ = std::thread([this] { monitor(); });
}

void elastic::stop() {
  ending_.store(true);
  wake();
  if (thread_.joinable()) thread_.join();
}

void elastic::abandon() {
  if (thread_.joinable()) thread_.detach();
}

void elastic::wake() noexcept {
  alarm_.fetch_add(1);
  syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&alarm_), FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

void elastic::monitor() {
  pthread_setname_np(pthread_self(), "sukima-monitor");
  using clock = std::chrono::steady_clock;
  clock::time_point last_inside = clock::now();
  while (!ending_.load()) {
    const std::uint32_t seen = alarm_.load();
    if (core_.counts.load().active != 0) last_inside = clock::now();
    if (clock::now() - last_inside < silence) {
      const timespec pause{0, std::chrono::nanoseconds(sampling).count()};
      futex_wait(alarm_, seen, &pause);
      if (core_.counts.load().active == 0) continue;
    } else {
      dozing_.store(true);
      // Partner: entry_begins, which counts the entry first and then looks whether the monitor dozes.
      if (core_.counts.load().active == 0 && !ending_.load()) futex_wait(alarm_, seen, nullptr);
      dozing_.store(false);
      last_inside = clock::now();
      if (ending_.load()) return;
    }
    look_at_facts();
    look_at_delays();
  }
}

void elastic::look_at_facts() {
  sukima_capacity_facts facts;
  const bool changed = sukima_capacity_refresh(capacity_, &facts) != 0;
  const unsigned allowed = std::min(core_.worker_limit, workers_for(facts));
  const std::lock_guard hold(deciding_);
  allowed_ = allowed;
  adjust(changed ? reason_of(facts) : "workers that waited outside are back");
}

void elastic::look_at_delays() {
  std::uint64_t ran = 0;
  std::uint64_t waited = 0;
  const unsigned count = core_.worker_count.load(std::memory_order_acquire);
  for (unsigned i = 0; i < count; ++i) {
    const int thread =
        core_.workers[i].load(std::memory_order_relaxed)->thread_id.load(std::memory_order_relaxed);
    std::uint64_t r = 0;
    std::uint64_t w = 0;
    if (thread == 0 || !read_delays(thread, r, w)) continue;
    ran += r;
    waited += w;
  }
  // A thread that has left may take its times with it: such a sample says nothing.
  if (ran >= ran_ns_ && waited >= waited_ns_) {
    const std::uint64_t more_ran = ran - ran_ns_;
    const std::uint64_t more_waited = waited - waited_ns_;
    const bool now_short = more_waited * 10 > more_ran + more_waited;
    if (more_ran + more_waited > 1'000'000 && now_short != short_.load(std::memory_order_relaxed)) {
      short_.store(now_short, std::memory_order_relaxed);
      char text[120];
      std::snprintf(text, sizeof text, "workers waited for a CPU in %.0f %% of the time that they wanted one",
                    100.0 * static_cast<double>(more_waited) / static_cast<double>(more_ran + more_waited));
      const std::lock_guard hold(deciding_);
      record(now_short ? 1 : 0, now_short ? 0 : 1, text);
      log_.back().what = "spinning";
    }
  }
  ran_ns_ = ran;
  waited_ns_ = waited;
}

void elastic::record(unsigned before, unsigned after, const std::string& reason) {
  if (log_.size() == most_decisions) log_.erase(log_.begin(), log_.begin() + most_decisions / 2);
  log_.push_back({std::chrono::steady_clock::now(), "workers", before, after, reason});
}

void elastic::adjust(const std::string& reason) {
  unsigned wanted = limit_ != 0 ? std::min(allowed_, limit_) : allowed_;
  wanted += std::min(blocked_.load(), most_blocked);
  const unsigned before = target_.load();
  if (!log_.empty() && wanted == before) return;
  record(log_.empty() ? wanted : before, wanted, reason);
  // Stored before the flags: a worker clears its flag first and reads this afterwards (background_main).
  target_.store(wanted);
  if (core_.closed.load()) return;
  const unsigned count = core_.worker_count.load(std::memory_order_acquire);
  unsigned background = 0;
  for (unsigned i = 0; i < count; ++i) {
    worker& w = *core_.workers[i].load(std::memory_order_relaxed);
    if (!w.background) continue;
    ++background;
    if (w.rank >= wanted) {
      w.flags.fetch_or(flag_leave);
      stress_point();
      if (strand* s = w.current.load()) s->raise();
      core_.ring(w);
    } else if (w.rank >= before) {
      core_.ring(w);  // from its sleep at home
    }
  }
  while (background + 1 < wanted) core_.start_worker(++background);
}

void elastic::blocking_begins() {
  const unsigned blocked = blocked_.fetch_add(1) + 1;
  const std::lock_guard hold(deciding_);
  // Workers that were made up for earlier stay until the monitor's next look: short waits in a row cost little.
  const unsigned base = limit_ != 0 ? std::min(allowed_, limit_) : allowed_;
  if (base + std::min(blocked, most_blocked) > target_.load()) adjust("a worker waits outside");
}

void elastic::blocking_ends() noexcept {
  if (blocked_.fetch_sub(1) != 1 || capacity_ != nullptr) return;  // the monitor sees to it
  try {
    const std::lock_guard hold(deciding_);
    adjust("no worker waits outside any more");
  } catch (...) {  // NOLINT(bugprone-empty-catch): out of memory for the log; a worker more stays for a while
  }
}

void elastic::limit_workers(unsigned most) {
  const std::lock_guard hold(deciding_);
  limit_ = most;
  adjust(most != 0 ? "the program set a limit" : "the program took its limit back");
}

std::vector<decision> elastic::decisions() const {
  const std::lock_guard hold(deciding_);
  return log_;
}

bool blocking_begins(char* top) {
  strand* s = running_strand();
  if (s == nullptr) return false;
  runtime_core& r = *s->runtime;
  r.drain_slots(*s);
  if (top == nullptr) top = s->kept->top;
  if (top != nullptr) give_work_away(*s, reinterpret_cast<record*>(top), most_given);
  r.elasticity.blocking_begins();
  return true;
}

void blocking_ends() noexcept { running_strand()->runtime->elasticity.blocking_ends(); }

}  // namespace sukima::detail
