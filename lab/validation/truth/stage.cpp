// SPDX-License-Identifier: Apache-2.0
// Runs one cell.
#include "truth/stage.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <ctime>
#include <limits>
#include <memory>
#include <new>
#include <numeric>
#include <system_error>

#include "truth/load.hpp"
#include "truth/observer.hpp"

namespace sukima::truth {

namespace {

/// Largest standard error, as a part of the true value.
constexpr double most_standard_error = 0.03;

/// The shared memory of a cell's processes.
struct shared_memory {
  orders order;
  notebook tree;
  notebook blind;
};

struct unmap {
  void operator()(shared_memory* memory) const {
    std::destroy_at(memory);
    munmap(memory, sizeof *memory);
  }
};

std::unique_ptr<shared_memory, unmap> make_shared_memory() {
  void* const memory =
      mmap(nullptr, sizeof(shared_memory), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
  return std::unique_ptr<shared_memory, unmap>(new (memory) shared_memory);
}

double seconds_of(clockid_t clock) {
  timespec used{};
  clock_gettime(clock, &used);
  return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

/// The processes of a cell. The destructor ends them, and then removes the groups.
class cell_processes {
 public:
  explicit cell_processes(control_groups& groups) : groups_(groups) {}
  ~cell_processes() {
    for (const pid_t process : processes_) end_process(process);
    groups_.remove();
  }
  cell_processes(const cell_processes&) = delete;
  cell_processes& operator=(const cell_processes&) = delete;

  pid_t add(pid_t process) {
    processes_.push_back(process);
    return process;
  }

  /// Seconds of CPU time used by all other processes so far.
  [[nodiscard]] double foreign_seconds() const {
    double own = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
    for (const pid_t process : processes_) {
      clockid_t clock{};
      if (clock_getcpuclockid(process, &clock) == 0) own += seconds_of(clock);
    }
    return static_cast<double>(groups_.machine_use()) * 1e-9 - own;
  }

 private:
  control_groups& groups_;
  std::vector<pid_t> processes_;
};

/// The groups of a cell: that of our program, and that of each hog; "" is the root group.
struct homes {
  std::string own;
  std::vector<std::string> hogs;
};

homes make_homes(const cell& one, control_groups& groups) {
  homes result;
  const auto count = static_cast<std::size_t>(one.hogs);
  switch (one.where) {
    case place::same_group:
      groups.make("all", 1, one.quota);
      result.own = "all";
      result.hogs.assign(count, "all");
      break;
    case place::two_groups:
      groups.make("ours", one.own_weight, one.quota);
      if (one.hogs != 0) groups.make("hogs", one.hog_weight, 0);
      result.own = "ours";
      result.hogs.assign(count, "hogs");
      break;
    case place::own_groups:
      groups.make("ours", one.own_weight, one.quota);
      result.own = "ours";
      for (int i = 0; i < one.hogs; i++) {
        result.hogs.push_back(fmt::format("hog{}", i));
        groups.make(result.hogs.back(), one.hog_weight, 0);
      }
      break;
    case place::below_one_parent:
      groups.make("pod", 1, one.quota, true);
      groups.make("pod/ours", one.own_weight, 0);
      groups.make("pod/hogs", one.hog_weight, 0);
      result.own = "pod/ours";
      result.hogs.assign(count, "pod/hogs");
      break;
    case place::root_group:
    case place::own_sessions:
      result.hogs.assign(count, "");
      break;
  }
  return result;
}

/// Readings of a process's CPU time.
class meter {
 public:
  meter(pid_t process, std::uint64_t begin_ns) : begin_ns_(begin_ns) {
    if (const int error = clock_getcpuclockid(process, &clock_); error != 0) {
      throw std::system_error(error, std::generic_category(), "the CPU clock of a process");
    }
  }

  /// Sleeps until the given seconds after the begin, and reads the clock.
  void read_at(double seconds) {
    sleep_until_ns(begin_ns_ + static_cast<std::uint64_t>(seconds * 1e9));
    const std::uint64_t now = monotonic_ns();
    points_.push_back({static_cast<double>(now - begin_ns_) * 1e-9, seconds_of(clock_)});
  }

  /// CPUs between two times, both close to readings of the clock.
  [[nodiscard]] double mean(double from, double to) const {
    const point first = nearest(from);
    const point last = nearest(to);
    return (last.used - first.used) / (last.time - first.time);
  }

 private:
  struct point {
    double time;
    double used;
  };

  [[nodiscard]] point nearest(double time) const {
    return *std::ranges::min_element(points_, {},
                                     [&](const point& one) { return std::abs(one.time - time); });
  }

  clockid_t clock_{};
  std::uint64_t begin_ns_;
  std::vector<point> points_;
};

/// The last record that was written before a time, in seconds after the begin.
const observation& record_before(const notebook& book, std::uint64_t begin_ns, double seconds) {
  const int count = book.count.load(std::memory_order_acquire);  // partner: take_record()
  const std::uint64_t end = begin_ns + static_cast<std::uint64_t>(seconds * 1e9);
  const observation* found = book.records.data();
  for (int i = 0; i < count; i++) {
    const observation& record = book.records[static_cast<std::size_t>(i)];
    if (record.time_ns < end) found = &record;
  }
  return *found;
}

estimates estimates_in(const observation& record) {
  estimates result;
  for (std::size_t i = 0; i < result.size(); i++) {
    result[i] = {record.usable[i].low, record.usable[i].usable, record.usable[i].high};
  }
  return result;
}

/// A running cell.
struct scene {
  const cell& one;
  const timing& times;
  shared_memory& memory;
  std::uint64_t begin_ns;
  meter ours;
  cell_result result{};
};

/// Measures the CPU of our threads from a time on. \return the time at which it is known well enough
double measure_got(scene& now, double from, double least_seconds) {
  constexpr double block_seconds = 0.2;  // a multiple of the quotas' period
  std::vector<double> blocks;
  double to = from;
  now.ours.read_at(from);
  while (to - from < now.times.most_truth_seconds) {
    to += block_seconds;
    now.ours.read_at(to);
    blocks.push_back(now.ours.mean(to - block_seconds, to));
    if (to - from > least_seconds - block_seconds / 2 && standard_error(blocks) < most_standard_error) break;
  }
  now.result.got = now.ours.mean(from, to);
  return to;
}

void run_steady(scene& now) {
  const double run_at = now.times.idle_seconds;
  const bool moves_slowly = now.one.where == place::below_one_parent;
  const double from = run_at + (moves_slowly ? now.times.balance_seconds : now.times.settle_seconds);
  const bool is_unsteady = now.one.threads == 1 && now.one.hogs > 1;
  double windows_seconds = now.times.truth_seconds + (now.one.quota > 0 ? 0.25 : 0);
  now.ours.read_at(run_at);
  now.memory.order.active_threads = now.one.threads;
  double to = measure_got(now, from, is_unsteady ? now.times.unsteady_seconds : windows_seconds);
  if (now.one.purpose == purpose::cost) {
    // The cost is that of the last 6 s; the first search for groups is not part of it.
    windows_seconds = 8;
    to = std::max(to, from + windows_seconds);
    now.ours.read_at(to);
  }
  const notebook& book = now.memory.tree;
  for (int i = 0; i < book.count.load(std::memory_order_acquire); i++) {  // partner: take_record()
    const observation& record = book.records[static_cast<std::size_t>(i)];
    const double time = static_cast<double>(record.time_ns - now.begin_ns) * 1e-9;
    // The same number for each cell, because cells that are measured for longer are the least steady ones.
    if (time >= from + 0.5 && time <= from + windows_seconds) now.result.windows.push_back(record.now);
  }
  now.result.tree_idle = estimates_in(record_before(now.memory.tree, now.begin_ns, run_at));
  now.result.blind_idle = estimates_in(record_before(now.memory.blind, now.begin_ns, run_at));
  now.result.tree = estimates_in(record_before(now.memory.tree, now.begin_ns, to));
  now.result.blind = estimates_in(record_before(now.memory.blind, now.begin_ns, to));
}

void run_change(scene& now) {
  const double phase = now.times.phase_seconds;
  now.memory.order.active_threads = now.one.threads;
  const int ticks = static_cast<int>(std::lround(30 * phase));
  for (int tick = 1; tick <= ticks; tick++) {
    const double time = 0.1 * tick;
    now.ours.read_at(time);
    now.memory.order.hogs_run = time > phase - 0.05 && time < 2 * phase - 0.05 ? 1 : 0;
  }
  now.result.got = now.ours.mean(0.1, phase);
  for (const double change : {phase, 2 * phase}) {
    for (const double after : {0.5, 1.0}) {
      // The sample due at that time is taken a moment later.
      const observation& record = record_before(now.memory.tree, now.begin_ns, change + after + 0.05);
      const double end = std::min(change + after + 0.5, change + phase);
      now.result.changes.push_back({after, record.now_short, now.ours.mean(change + after, end)});
    }
  }
}

void run_experiment(scene& now) {
  const double phase = now.times.phase_seconds;
  now.memory.order.active_threads = now.one.threads;
  now.ours.read_at(0.5);
  now.ours.read_at(phase);
  now.memory.order.active_threads = now.one.experiment_threads;
  now.ours.read_at(phase + 0.2);
  now.ours.read_at(2 * phase);
  now.result.got = now.ours.mean(0.5, phase);
  now.result.experiment_got = now.ours.mean(phase + 0.2, 2 * phase);
  now.result.experiment_estimate = now.memory.blind.experiment_usable;
}

void wait_for(const notebook& book, const char* which) {
  for (int i = 0; i < 400 && book.ready.load(std::memory_order_acquire) == 0; i++) {  // partner: observe()
    sleep_until_ns(monotonic_ns() + 5'000'000);
  }
  if (book.ready.load(std::memory_order_acquire) != 1) {
    throw no_groups(fmt::format("the observer {} cannot create its namespaces; run as root", which));
  }
}

}  // namespace

double standard_error(const std::vector<double>& values) {
  const auto count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  if (values.size() < 2 || !(mean > 0)) return std::numeric_limits<double>::infinity();
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / (count - 1) / count) / mean;
}

cell_result run_cell(const cell& one, control_groups& groups, const timing& times) {
  const auto memory = make_shared_memory();
  cell_processes processes(groups);
  const homes where = make_homes(one, groups);
  const bool sessions = one.where == place::own_sessions;
  const int most_threads = std::max(one.threads, one.experiment_threads);
  const behaviour own_way = one.purpose == purpose::blocked ? behaviour::blocking : behaviour::always;
  const behaviour hog_way = one.purpose == purpose::on_off ? behaviour::on_off : behaviour::always;

  const pid_t ours = processes.add(start_program(memory->order, most_threads, own_way, sessions));
  if (!where.own.empty()) groups.place(ours, where.own);
  for (const std::string& home : where.hogs) {
    const pid_t hog = processes.add(start_hog(memory->order, hog_way, one.hog_nice, sessions));
    if (!home.empty()) groups.place(hog, home);
  }
  // Our own orders must be on time.
  const sched_param priority{.sched_priority = 11};
  sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &priority);

  const std::uint64_t begin = monotonic_ns() + 300'000'000;
  experiment_plan experiment;
  if (one.purpose == purpose::experiment) {
    experiment.begin_ns = begin + static_cast<std::uint64_t>(times.phase_seconds * 1e9);
    experiment.end_ns = experiment.begin_ns + 300'000'000 - 10'000'000;
    experiment.threads = one.experiment_threads;
  }
  const sight narrow = where.own.empty() ? sight::no_groups_file : sight::own_group;
  processes.add(start_observer(memory->tree, groups, "", sight::all, ours, begin, {}));
  // Observers that sampled at the same moments would count each other among the machine's runnable threads.
  // An experiment has its own sampling times.
  const std::uint64_t apart = experiment.threads == 0 ? sampling_ns / 2 : 0;
  processes.add(start_observer(memory->blind, groups, where.own, narrow, ours, begin + apart, experiment));
  wait_for(memory->tree, "that sees all groups");
  wait_for(memory->blind, "in a namespace");
  if (one.purpose != purpose::change) memory->order.hogs_run = 1;

  scene now{one, times, *memory, begin, meter(ours, begin)};
  const double foreign = processes.foreign_seconds();
  const std::uint64_t started = monotonic_ns();
  now.result.name = one.name();
  switch (one.purpose) {
    case purpose::change:
      run_change(now);
      break;
    case purpose::experiment:
      run_experiment(now);
      break;
    default:
      run_steady(now);
  }
  const double seconds = static_cast<double>(monotonic_ns() - started) * 1e-9;
  now.result.foreign = (processes.foreign_seconds() - foreign) / seconds;
  now.result.shielded = groups.shielded();
  now.result.cost = memory->tree.cost;
  return now.result;
}

}  // namespace sukima::truth
