// SPDX-License-Identifier: Apache-2.0
#include "barrier_program.hpp"

#include "../runtime/random/numbers.hpp"
#include "isolated.hpp"
#include "shared_result.hpp"

#include <algorithm>
#include <deque>
#include <memory>
#include <stdexcept>
#include <utility>

namespace sukima::simulation {

namespace {

/// A run of a program. Its scripts refer to this object.
struct team {
  laboratory& lab;
  const kernel_shape& kernel;
  unsigned threads;
  patience at_barriers;
  std::uint64_t seed;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  unsigned left = 0;  ///< number of threads that have not ended
  unsigned arrived = 0;  ///< number of threads at the barrier
  counter generation{};  ///< of the barrier
  std::deque<counter> planes{};  ///< by thread: number of planes that it has swept

  /// Whether the phase is the first one of a part, if the phases are divided into that number of parts.
  bool begins_part(unsigned phase, unsigned parts) const noexcept {
    const std::uint64_t all = kernel.phases();
    return phase == 0 ? parts != 0
                      : phase * std::uint64_t{parts} / all != (phase - 1) * std::uint64_t{parts} / all;
  }
  /// Returns the work of a thread in a phase.
  std::uint64_t work(unsigned phase, unsigned self, bool is_sweep) const noexcept {
    const double part =
        is_sweep ? kernel.swept / kernel.sweeps : (1 - kernel.swept) / (kernel.phases() - kernel.sweeps);
    random_programs::numbers random((seed * 1'000'003 + phase) * 1'000'003 + self);
    constexpr std::uint64_t most = 1'000'000;
    const double off = 2 * static_cast<double>(random.below(most)) / most - 1;
    return static_cast<std::uint64_t>(static_cast<double>(kernel.work) * part / threads *
                                      (threads == 1 ? 1 : 1 + kernel.imbalance * off));
  }
  /// Called when a thread arrives at the barrier. \returns whether it is the last one, which continues
  bool arrive() {
    if (++arrived != threads) return false;
    arrived = 0;
    lab.raise(generation, true);
    return true;
  }
  void ends() {
    if (--left == 0) end = lab.now();
  }
};

/// The coroutine keeps copies of its parameters.
script thread_of(team& all, unsigned self) {
  laboratory& lab = all.lab;
  std::uint64_t passed = 0;  // number of barriers
  std::uint64_t sweep = 0;
  for (unsigned phase = 0; phase < all.kernel.phases(); ++phase) {
    if (all.begins_part(phase, all.kernel.regions)) {
      ++passed;
      if (!all.arrive()) co_await lab.reaches(all.generation, passed, all.at_barriers);
    }
    if (all.begins_part(phase, all.kernel.sweeps)) {
      const std::uint64_t work = all.work(phase, self, true) / all.kernel.planes;
      const unsigned before = sweep % 2 == 0 ? self - 1 : self + 1;
      for (unsigned plane = 1; plane <= all.kernel.planes; ++plane) {
        if (before < all.threads)
          co_await lab.reaches(all.planes[before], sweep * all.kernel.planes + plane,
                               {patience::endless, false});
        co_await lab.works(work);
        lab.raise(all.planes[self], false);
      }
      ++sweep;
    } else {
      co_await lab.works(all.work(phase, self, false));
    }
    ++passed;
    if (!all.arrive()) co_await lab.reaches(all.generation, passed, all.at_barriers);
  }
  all.ends();
}

/// The script of the first thread, which starts the others.
script program_of(team& all, std::uint64_t serial) {
  co_await all.lab.works(serial);
  all.begin = all.lab.now();
  for (unsigned self = 0; self < all.threads; ++self) all.lab.start_script(thread_of(all, self));
}

std::string run_cell(const barrier_cell& c, barrier_measurement& result) {
  laboratory& lab = the_laboratory();
  const unsigned cpus = c.cpus != 0 ? c.cpus : c.guest.vcpus;
  std::vector<std::size_t> guests;
  std::deque<team> teams;
  random_programs::numbers random(c.seed);
  std::vector<std::uint64_t> begins;
  for (unsigned i = 0; i < c.copies; ++i) {
    guest_shape shape = c.guest;
    shape.shift += i;  // the first threads of the programs are on different CPUs
    guests.push_back(lab.add_guest(shape));
    begins.push_back(c.spread == 0 ? 0 : random.below(c.spread));
  }
  std::ranges::sort(begins);
  for (unsigned i = 0; i < c.copies; ++i) {
    lab.wait(wait_kind::time, nullptr, begins[i]);
    team& one = teams.emplace_back(team{
        lab, c.kernel, c.threads, libgomp_patience(c.policy, c.threads, cpus, c.setup.cost), c.seed + i});
    one.left = c.threads;
    one.planes.resize(c.threads);
    lab.start_threads_in(guests[i]);
    lab.start_script(program_of(one, c.serial));
  }
  lab.wait_for_scripts();
  for (unsigned i = 0; i < c.copies; ++i) {
    const account& spent = lab.account_of(guests[i]);
    result.time += static_cast<double>(teams[i].end - teams[i].begin) / c.copies;
    result.work += spent.work;
    result.polled += spent.pauses;
    result.sleeps += spent.sleeps;
    result.exits += spent.exits;
    result.used += lab.pcpus().used(guests[i]);
    result.most_in_a_period = std::max(result.most_in_a_period, lab.pcpus().most_in_a_period(guests[i]));
  }
  return {};
}

}  // namespace

kernel_shape kernel_shape::of_length(unsigned count) const noexcept {
  const auto scaled = [&](std::uint64_t number) { return number * count / phases(); };
  kernel_shape shape = *this;
  shape.work = scaled(work);
  shape.regions = static_cast<unsigned>(std::max(scaled(regions), std::uint64_t{1}));
  shape.barriers = count - shape.regions;
  shape.sweeps = static_cast<unsigned>(scaled(sweeps));
  return shape;
}

const std::vector<kernel_shape>& nas_kernels() {
  static const std::vector<kernel_shape> all{
      {"cg", 1'050'000'000, 45, 1890},
      {"ep", 191'000'000, 1, 1},
      {"lu", 39'700'000, 100, 450, 100, 10, 0.7},
      {"bt", 56'300'000, 360, 420},
      {"sp", 28'000'000, 800, 700},
      {"ua", 115'000'000, 2923, 0},
  };
  return all;
}

const kernel_shape& nas_kernel(std::string_view name) {
  for (const kernel_shape& k : nas_kernels())
    if (k.name == name) return k;
  throw std::invalid_argument("there is no kernel '" + std::string(name) + "'");
}

patience libgomp_patience(openmp_wait policy, unsigned threads, unsigned cpus, const costs& cost) noexcept {
  const std::uint64_t poll = cost.pause + cost.of_step[static_cast<std::size_t>(step_kind::atomic)];
  const bool crowded = threads > cpus;
  if (policy == openmp_wait::passive) return {0};
  const bool active = policy == openmp_wait::active;
  if (crowded) return {(active ? 1'000 : 100) * poll};
  return {(active ? 30'000'000'000 : 300'000) * poll};
}

barrier_measurement simulate(const barrier_cell& c) {
  shared_result<barrier_measurement> result;
  limits most;
  most.steps = 20'000'000'000;
  most.nanoseconds = c.limit;
  laboratory_setup setup = c.setup;
  // In Linux the ticks of all CPUs occur at the same time, and a race between the CPUs decides which is
  // first.
  if (setup.hypervisor.bandwidth_slice != 0) setup.hypervisor.ties = c.seed;
  const machine_maker make = [&](const limits& l, hang_handler hangs) {
    return std::make_unique<laboratory>(setup, l, std::move(hangs));
  };
  const outcome ended = run_isolated(make, [&] { return run_cell(c, *result); }, most);
  if (ended.how == outcome::end::hanging && ended.text.starts_with("so much time")) {
    result->time = static_cast<double>(c.limit);
    result->stopped = true;
  } else if (ended.how != outcome::end::as_expected) {
    throw std::runtime_error(ended.text);
  }
  result->steps = ended.steps;
  return *result;
}

barrier_measurement simulate_median(barrier_cell c, unsigned seeds) {
  std::vector<barrier_measurement> all;
  for (unsigned i = 0; i < seeds; ++i, ++c.seed) {
    c.guest.phase = phase_of_run(i, seeds, c.setup.hypervisor.period);
    all.push_back(simulate(c));
  }
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(seeds / 2);
  std::ranges::nth_element(all, middle, {}, &barrier_measurement::time);
  return *middle;
}

}  // namespace sukima::simulation
