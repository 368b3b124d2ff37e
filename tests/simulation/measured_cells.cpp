// SPDX-License-Identifier: Apache-2.0
// Predictions for the cells of docs/results-tables.md whose programs wait for CPU on two CPUs.
// measured_table.py adds the measured times.
#include "barrier_program.hpp"
#include "experiments.hpp"
#include "overcommit.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace sukima::simulation {

namespace {

constexpr unsigned cpus_of_machine = 2;
/// Not a multiple of 5: otherwise the phases of a period of 10 ms take few places relative to ticks of 4 ms.
constexpr unsigned seeds = 21;

/// Linux 6.18 with 250 ticks per second.
scheduling linux_scheduling() {
  scheduling s;
  s.rule = scheduling_rule::eevdf;
  s.slice = 1'400'000;
  s.tick = 4'000'000;
  s.period = 10'000'000;
  s.bandwidth_slice = 5'000'000;
  s.idle_exit = 17'000;
  return s;
}

struct environment {
  const char* name;
  unsigned copies = 1;
  double part = 1;  ///< fraction of the CPUs that the quota allows
  unsigned cpus = cpus_of_machine;
  unsigned left() const { return static_cast<unsigned>(std::ceil(part * cpus / copies)); }
};

constexpr environment alone{"alone"};
constexpr environment share_2{"share-2", 2};
constexpr environment share_4{"share-4", 4};
constexpr environment share_8{"share-8", 8};
constexpr environment cap_half{"cap-half", 1, 0.5};
constexpr environment cap_quarter{"cap-quarter", 1, 0.25};
constexpr environment fewer_half{"fewer-half", 1, 1, 1};

struct setting {
  const char* name;
  double for_each_cpu = 1;
  bool of_those_left = true;
};

constexpr setting all_threads{"all-threads", 1, false};
constexpr setting static_rule{"static-rule"};

unsigned threads_of(const setting& how, const environment& where) {
  return static_cast<unsigned>(
      std::round(how.for_each_cpu * (how.of_those_left ? where.left() : cpus_of_machine)));
}

std::uint64_t quota_of(const environment& where, const scheduling& how) {
  return where.part == 1 ? 0
                         : static_cast<std::uint64_t>(where.part * 100) * cpus_of_machine * how.period / 100;
}

/// Returns the seconds of a run of a kernel.
double kernel_time(const kernel_shape& kernel, const setting& how, const environment& where) {
  barrier_cell c;
  c.kernel = kernel;
  c.threads = threads_of(how, where);
  c.copies = where.copies;
  c.setup.pcpus = where.cpus;
  c.setup.hypervisor = linux_scheduling();
  c.setup.cost.pause = 10;
  c.cpus = where.cpus;
  // The vCPUs are Linux's threads. Each waits in the queue of its CPU. A single thread moves to a CPU with
  // room.
  c.guest.vcpus = c.threads;
  c.guest.pinned = c.threads >= where.cpus;
  c.guest.quota = quota_of(where, c.setup.hypervisor);
  return simulate_median(c, seeds).time * 1e-9;
}

/// Returns the seconds of a program of Sukima whose work takes `work` milliseconds.
double sukima_time(unsigned work, const setting& how, const environment& where) {
  cell c;
  c.machines = where.copies;
  c.vcpus = threads_of(how, where);
  c.search.rounds = 1;
  c.search.nodes = 2'000;
  c.search.mean_work = work * std::uint64_t{1'000'000} / c.search.nodes;
  c.setup.pcpus = where.cpus;
  c.setup.hypervisor = linux_scheduling();
  c.quota = quota_of(where, c.setup.hypervisor);
  unsetenv("SUKIMA_WAIT");
  unsetenv("SUKIMA_STEAL");
  c.runtime = settings::from_environment();
  c.runtime.workers = c.vcpus;
  c.runtime.elastic = false;
  c.runtime.pin = pin_policy::none;
  std::vector<std::uint64_t> times;
  for (unsigned i = 0; i < (c.quota == 0 ? 1 : seeds); ++i) {
    c.phase = phase_of_run(i, seeds, c.setup.hypervisor.period);
    c.setup.hypervisor.ties = i + 1;
    times.push_back(simulate(c).sum_of_times);
  }
  std::ranges::sort(times);
  // The work of the simulated search is random. The time is scaled to the work of the program.
  return static_cast<double>(times[times.size() / 2]) / where.copies * 1e-9 * work * 1e6 /
         static_cast<double>(work_of(c.search));
}

struct measured_table {
  const char* experiment;
  std::vector<setting> settings;
  std::vector<environment> environments;
};

void add(findings& found, const measured_table& cells, const char* program, auto seconds) {
  for (const setting& how : cells.settings)
    for (const environment& where : cells.environments)
      found.rows.push_back({cells.experiment, program, how.name, where.name, digits(seconds(how, where))});
}

void add_kernel(findings& found, const measured_table& cells, const char* name, unsigned times = 1,
                std::uint64_t work = 0) {
  kernel_shape kernel = nas_kernel(name);
  kernel.work = (work != 0 ? work : kernel.work) * times;
  kernel.regions *= times;
  kernel.barriers *= times;
  kernel.sweeps *= times;
  add(found, cells, name,
      [&](const setting& how, const environment& where) { return kernel_time(kernel, how, where); });
}

/// The cells of the second machine. The work of a kernel is its time with one thread there.
void add_second_machine(findings& found) {
  constexpr std::uint64_t cg = 561'000'000;
  constexpr std::uint64_t ep = 763'000'000 / 4;
  constexpr std::uint64_t lu = 1'440'000'000 / 32;
  constexpr std::uint64_t bt = 2'590'000'000 / 40;
  const measured_table slowdown{"Some cells of lack-slowdown, again",
                                {all_threads},
                                {alone, share_2, cap_half, cap_quarter, fewer_half}};
  add_kernel(found, slowdown, "cg", 1, cg);
  add_kernel(found, slowdown, "ep", 1, ep);
  add_kernel(found, slowdown, "lu", 1, lu);
  add_kernel(found, slowdown, "bt", 1, bt);
  const measured_table sharing{
      "LU of lack-slowdown, again", {all_threads, static_rule}, {alone, share_2, share_4, share_8}};
  add_kernel(found, sharing, "lu", 1, lu);
  const measured_table quotas{
      "lack-quotas with resizing", {all_threads, static_rule}, {alone, cap_half, cap_quarter}};
  add_kernel(found, quotas, "cg", 1, cg);
  add_kernel(found, quotas, "ep", 4, ep);
  add_kernel(found, quotas, "lu", 16, lu);
  add_kernel(found, quotas, "bt", 10, bt);
  const measured_table threads{
      "lack-threads with resizing", {static_rule}, {alone, fewer_half, share_2, share_4}};
  add_kernel(found, threads, "cg", 1, cg);
  add_kernel(found, threads, "ep", 4, ep);
  add_kernel(found, threads, "lu", 32, lu);
  add_kernel(found, threads, "bt", 40, bt);
}

}  // namespace

findings measured_cells() {
  findings found{{"experiment", "program", "setting", "environment", "seconds"}, {}, {}, {}};
  const measured_table slowdown{"lack-slowdown",
                                {all_threads, static_rule},
                                {alone, share_2, share_4, share_8, cap_half, cap_quarter, fewer_half}};
  for (const char* const kernel : {"cg", "ep", "lu", "bt", "sp", "ua"}) add_kernel(found, slowdown, kernel);
  for (const auto& [program, work] : {std::pair{"fib", 370u}, {"pentomino", 712u}, {"cmp", 219u}})
    add(found, slowdown, program,
        [&](const setting& how, const environment& where) { return sukima_time(work, how, where); });
  const measured_table count{
      "lack-count",
      {static_rule, {"times-1-5", 1.5}, {"times-2", 2}, {"times-3", 3}, {"times-4", 4}},
      {share_2, cap_half, fewer_half, alone}};
  for (const char* const kernel : {"cg", "ep", "lu", "bt"}) add_kernel(found, count, kernel);
  const measured_table quotas{"lack-quotas", {all_threads, static_rule}, {alone, cap_half, cap_quarter}};
  add_kernel(found, quotas, "cg");
  add_kernel(found, quotas, "lu", 16);
  add_kernel(found, quotas, "bt", 10);
  const measured_table threads{
      "lack-threads", {all_threads, static_rule}, {alone, fewer_half, cap_half, share_2, share_4}};
  for (const char* const kernel : {"cg", "ep", "lu", "bt"}) add_kernel(found, threads, kernel);
  add_second_machine(found);
  return found;
}

}  // namespace sukima::simulation
