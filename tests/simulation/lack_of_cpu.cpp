// SPDX-License-Identifier: Apache-2.0
#include "lack_of_cpu.hpp"

#include <algorithm>
#include <utility>

namespace sukima::simulation {

namespace {

/// Time of a kernel in a machine that lacks no CPU, in nanoseconds: six periods of a cap.
constexpr std::uint64_t length = 60'000'000;

}  // namespace

unsigned lack::left() const noexcept {
  if (percent != 0) return (percent + 99) / 100;
  return (cpus + machines - 1) / machines;
}

double lack::part() const noexcept {
  return (percent != 0 ? percent / 100.0 : static_cast<double>(cpus) / machines) / lack_of_cpu::all;
}

lack shared_by(unsigned machines) { return {std::to_string(machines) + " machines", machines}; }
lack capped_at(unsigned percent) { return {std::to_string(percent) + " %", 1, percent}; }
lack with_cpus(unsigned cpus) { return {std::to_string(cpus) + " CPUs", 1, 0, cpus}; }

const barrier_measurement& lack_of_cpu::measure(std::string_view kernel, const lack& how, unsigned vcpus,
                                                unsigned threads) {
  key which{std::string(kernel), how.machines, how.percent, how.cpus, how.siblings, vcpus, threads};
  if (const auto found = measured_.find(which); found != measured_.end()) return found->second;
  barrier_cell c;
  c.kernel = nas_kernel(kernel);
  // Each of 16 threads works as long between two barriers as each of two threads in the measured classes.
  c.kernel.work *= all / 2;
  if (c.kernel.planes != 0) c.kernel.planes = 4 * all;
  const std::uint64_t alone = c.kernel.work / all;
  c.kernel = c.kernel.of_length(
      static_cast<unsigned>(std::max(std::uint64_t{c.kernel.phases()} * length / alone, std::uint64_t{2})));
  c.threads = threads;
  c.copies = how.machines;
  c.setup.pcpus = how.cpus;
  c.setup.hypervisor = credit2_scheduling();
  c.setup.hypervisor.siblings = how.siblings;
  c.guest.vcpus = vcpus;
  c.guest.quota = c.setup.hypervisor.period * how.percent / 100;
  c.limit = 200'000'000'000;
  return measured_.emplace(std::move(which), simulate(c)).first->second;
}

}  // namespace sukima::simulation
