// SPDX-License-Identifier: Apache-2.0
// The monitor that adapts the number of workers, and making up for workers that wait outside.
#include "control/elastic.hpp"

#include "core.hpp"
#include "own_thread.hpp"
#include "park/futex.hpp"

#include <sukima/capacity.h>
#include <sukima/blocking.hpp>
#include <sukima/detail/loop.hpp>

#include <pthread.h>
#include <unistd.h>

#include <fcntl.h>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <utility>

namespace sukima::detail {

namespace {

using namespace std::chrono_literals;

/// A few times a second, and multiples of the usual quota period of 100 ms: while CPU is short or the facts
/// change, and while nothing happens.
constexpr std::chrono::nanoseconds sampling = 200ms;
constexpr std::chrono::nanoseconds calm_sampling = 400ms;
/// The first sample after a silence, for programs that do not run for long; the next ones wait ever longer.
constexpr std::chrono::nanoseconds first_sampling = 25ms;
/// So finely a trace shows when workers had no CPU.
constexpr auto sampling_for_trace = 10ms;
/// After so much silence the monitor sleeps until the next entry.
constexpr auto silence = 500ms;
/// Workers are made up for up to this number; more would be a thread for each of a crowd of waits.
constexpr unsigned most_blocked = 256;
/// Pieces of work that a blocking fiber gives away first.
constexpr unsigned most_given = 64;
constexpr std::size_t most_decisions = 10'000;
/// Shorter waits for a CPU are not drawn: every wake-up has one.
constexpr std::uint64_t shortest_traced_wait_ns = 200'000;
/// Whoever wanted a CPU for less than this says nothing about whether CPU is short.
constexpr std::uint64_t least_to_judge_ns = 20'000'000;
/// A worker that got less than a tenth of its CPU for so long is better off where the kernel puts it.
/// (Shorter waits are common: a group that has just arrived on a busy CPU weighs little there.)
constexpr std::uint64_t most_in_vain_ns = 300'000'000;
constexpr auto rest_after_starving = 5s;

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
    if (core_.chosen.neighbours) neighbours_.open();
  }
  unsigned first = core_.worker_limit;
  std::string reason = "as many as were asked for";
  if (capacity_ != nullptr) {
    sukima_capacity_facts facts;
    sukima_capacity_latest(capacity_, &facts);
    const unsigned allowed = take(facts);
    if (allowed < first) reason = reason_of(facts);
    first = std::min(first, allowed);
  }
  const std::lock_guard hold(deciding_);
  allowed_ = first;
  adjust(reason);
  if (capacity_ == nullptr && !tracing()) return;
  const signals_blocked here;
  thread_ = std::thread([this] { monitor(); });
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
  futex(alarm_, FUTEX_WAKE, 1, nullptr);
}

void elastic::monitor() {
  pthread_setname_np(pthread_self(), "sukima-monitor");
  using clock = std::chrono::steady_clock;
  clock::time_point last_inside = clock::now();
  patience_ = first_sampling;
  while (!ending_.load()) {
    const std::uint32_t seen = alarm_.load();
    if (core_.park.counts().entries != 0) last_inside = clock::now();
    if (clock::now() - last_inside < silence) {
      const std::chrono::nanoseconds each = tracing() ? sampling_for_trace : patience_;
      const timespec pause{0, each.count()};
      futex(alarm_, FUTEX_WAIT, seen, &pause);
      if (core_.park.counts().entries == 0) continue;
    } else {
      dozing_.store(true);
      // Partner: entry_begins, which counts the entry first and then looks whether the monitor dozes.
      if (core_.park.counts().entries == 0 && !ending_.load()) futex(alarm_, FUTEX_WAIT, seen, nullptr);
      dozing_.store(false);
      last_inside = clock::now();
      patience_ = first_sampling;
      if (ending_.load()) return;
      continue;
    }
    if (capacity_ != nullptr) look_at_facts();
    look_at_delays();
  }
}

unsigned elastic::take(const sukima_capacity_facts& facts) noexcept {
  const unsigned allowed = workers_for(facts);
  capped_.store(facts.quota <= allowed, std::memory_order_relaxed);
  return allowed;
}

void elastic::look_at_facts() {
  sukima_capacity_facts facts;
  const bool changed = sukima_capacity_refresh(capacity_, &facts) != 0;
  const unsigned by_facts = std::min(core_.worker_limit, take(facts));
  const unsigned allowed = neighbours_.is_open() ? neighbours_.worth_running(by_facts) : by_facts;
  if (changed) patience_ = std::min(patience_, sampling);
  const std::lock_guard hold(deciding_);
  const bool beside_others = neighbours_.is_open() && allowed != allowed_ && !changed;
  allowed_ = allowed;
  if (beside_others)
    adjust(neighbours_.reason());
  else
    adjust(changed ? reason_of(facts) : "workers that waited outside are back");
}

void elastic::look_at_delays() {
  const std::uint64_t now = ticks();
  std::uint64_t ran = 0;
  std::uint64_t waited = 0;
  const unsigned count = core_.workers.size();
  delays_.resize(count);
  for (unsigned i = 0; i < count; ++i) {
    const worker& who = core_.workers[i];
    const int thread = who.thread_id.load(std::memory_order_relaxed);
    delay& seen = delays_[i];
    delay latest{thread, 0, 0, 0};
    if (thread != 0 && !read_delays(thread, latest.ran_ns, latest.waited_ns)) latest.thread = 0;
    if (latest.thread != 0 && latest.thread == seen.thread) {
      const std::uint64_t ran_here = latest.ran_ns - seen.ran_ns;
      const std::uint64_t waited_here = latest.waited_ns - seen.waited_ns;
      ran += ran_here;
      waited += waited_here;
      if (ran_here * 10 < waited_here) latest.in_vain_ns = seen.in_vain_ns + waited_here;
      starved_ = starved_ || latest.in_vain_ns > most_in_vain_ns;
      if (waited_here > shortest_traced_wait_ns)
        trace_no_cpu(core_.serial, who.id, looked_at_, now, waited_here);
    }
    seen = latest;
  }
  looked_at_ = now;
  judge(ran, waited);
  if (core_.chosen.pin == pin_policy::adaptive) spread_workers();
}

void elastic::spread_workers() {
  const auto now = std::chrono::steady_clock::now();
  const bool starved = std::exchange(starved_, false);
  if (core_.spread.active()) {
    if (starved) no_spread_before_ = now + rest_after_starving;
    if (starved)
      release_spread("a worker hardly runs on its CPU");
    else if (!cpu_is_short())
      release_spread("CPU is no longer short");
    else if (core_.spread.is_outdated())
      release_spread("threads entered or left");
    return;
  }
  const worker_counts seen = core_.park.counts();
  // A worker that searches at this moment has found something since the last sample, or a CPU is idle anyway.
  const std::uint64_t steals = steals_so_far();
  const bool stealing = std::exchange(steals_, steals) != steals;
  if (!cpu_is_short() || now < no_spread_before_ || seen.parked != 0 || (seen.searching != 0 && !stealing))
    return;
  if (!core_.spread.hold()) return;
  const std::lock_guard hold(deciding_);
  record("placement", 0, 1, "CPU is short, and there is a worker for each CPU");
}

bool elastic::keeps_turns() const noexcept {
  return core_.spread.active() && !capped_.load(std::memory_order_relaxed);
}

std::uint64_t elastic::steals_so_far() const noexcept {
  std::uint64_t steals = 0;
  for (const worker& w : core_.workers.all()) steals += w.statistics.steals.get();
  return steals;
}

void elastic::release_spread(const char* reason) noexcept {
  if (!core_.spread.release()) return;
  try {
    const std::lock_guard hold(deciding_);
    record("placement", 1, 0, reason);
  } catch (...) {  // NOLINT(bugprone-empty-catch): out of memory for the log; what was decided holds
  }
}

void elastic::judge(std::uint64_t ran_ns, std::uint64_t waited_ns) {
  ran_ns_ += ran_ns;
  waited_ns_ += waited_ns;
  const auto now = std::chrono::steady_clock::now();
  if (now - judged_at_ < patience_) return;
  judged_at_ = now;
  patience_ = std::min(2 * patience_, cpu_is_short() ? sampling : calm_sampling);
  if (ran_ns_ + waited_ns_ < least_to_judge_ns) return;
  const double share = static_cast<double>(waited_ns_) / static_cast<double>(ran_ns_ + waited_ns_);
  ran_ns_ = 0;
  waited_ns_ = 0;
  // Two thresholds, so that it does not change at each sample.
  const bool before = cpu_is_short();
  const bool after = before ? share > 0.05 : share > 0.1;
  if (before == after) return;
  short_.store(after, std::memory_order_relaxed);
  char text[120];
  std::snprintf(text, sizeof text, "the workers waited for a CPU in %.0f %% of the time that they wanted one",
                100.0 * share);
  const std::lock_guard hold(deciding_);
  record("spinning", before ? 0 : 1, after ? 0 : 1, text);
}

void elastic::record(const char* what, unsigned before, unsigned after, const std::string& reason) {
  if (log_.size() == most_decisions) log_.erase(log_.begin(), log_.begin() + most_decisions / 2);
  log_.push_back({std::chrono::steady_clock::now(), what, before, after, reason});
  trace_decision(core_.serial, log_.back(), ticks());
}

unsigned elastic::wanted() const noexcept {
  const unsigned base = limit_ != 0 ? std::min(allowed_, limit_) : allowed_;
  return base + std::min(blocked_.load(), most_blocked);
}

void elastic::adjust(const std::string& reason) {
  const unsigned next = wanted();
  const unsigned before = target_.load();
  if (!log_.empty() && next == before) return;
  record("workers", log_.empty() ? next : before, next, reason);
  // Stored before the flags: a worker clears its flag first and reads this afterwards (background_main).
  target_.store(next);
  if (core_.life.is_closed()) return;
  unsigned background = 0;
  for (worker& w : core_.workers.all()) {
    if (!w.background) continue;
    ++background;
    if (w.rank >= next) {
      w.flags.fetch_or(flag_leave);
      stress_point();
      if (fiber* s = w.current.load()) s->limit.request_poll();
      unpark(w);
    } else if (w.rank >= before) {
      unpark(w);  // from its sleep at home
    }
  }
  while (background + 1 < next) core_.workers.start_thread(++background);
}

void elastic::blocking_begins() {
  blocked_.fetch_add(1);
  const std::lock_guard hold(deciding_);
  // Workers made up for earlier stay until the monitor's next look: short waits in a row cost little.
  if (wanted() > target_.load()) adjust("a worker waits outside");
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
  fiber* s = running_fiber();
  if (s == nullptr) return false;
  runtime_core& r = *s->runtime;
  inject_published(*s);
  if (top == nullptr) top = s->ambient->top;
  if (top != nullptr) give_work_away(*s, reinterpret_cast<choice_point*>(top), most_given);
  if (s->on->pinned.load(std::memory_order_relaxed)) r.spread.leave(*s->on);
  r.elasticity.blocking_begins();
  return true;
}

void blocking_ends() noexcept {
  const fiber* const s = running_fiber();
  if (s->runtime->spread.active()) s->runtime->spread.come_back(*s->on);
  s->runtime->elasticity.blocking_ends();
}

}  // namespace sukima::detail
