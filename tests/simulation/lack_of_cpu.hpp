// SPDX-License-Identifier: Apache-2.0
// The ways in which the machines of Takayama and Kourai lack CPU, and the times of the kernels in them.
#pragma once

#include "barrier_program.hpp"

#include <map>
#include <string>
#include <string_view>
#include <tuple>

namespace sukima::simulation {

/// A machine with 16 vCPUs that lacks CPU in one of three ways.
struct lack {
  std::string name;
  unsigned machines = 1;  ///< number of machines that share the CPUs
  unsigned percent = 0;  ///< cap of the machine in percent of one CPU; 0: none
  unsigned cpus = 16;
  sibling_rule siblings = sibling_rule::none;
  /// Returns the number of CPUs that are left for the machine, rounded up: the number of the static rule.
  unsigned left() const noexcept;
  /// Returns the fraction of the CPUs that is left.
  double part() const noexcept;
};

lack shared_by(unsigned machines);
lack capped_at(unsigned percent);
lack with_cpus(unsigned cpus);

/// Runs each cell once, and stores its result.
class lack_of_cpu {
 public:
  static constexpr unsigned all = 16;  ///< CPUs, vCPUs and threads of a machine that lacks no CPU

  const barrier_measurement& measure(std::string_view kernel, const lack& how, unsigned vcpus,
                                     unsigned threads);
  /// Simulated milliseconds.
  double time(std::string_view kernel, const lack& how, unsigned vcpus = all, unsigned threads = all) {
    return measure(kernel, how, vcpus, threads).time * 1e-6;
  }
  /// Returns the time divided by the target time, which follows from the CPU that is left.
  double relative(std::string_view kernel, const lack& how, unsigned vcpus = all, unsigned threads = all) {
    return time(kernel, how, vcpus, threads) / (time(kernel, {}) / how.part());
  }
  /// The same with the static rule: as many vCPUs as CPUs are left. The program still has 16 threads.
  double by_rule(std::string_view kernel, const lack& how) { return relative(kernel, how, how.left()); }
  /// The same with that number of threads, and all vCPUs.
  double by_threads(std::string_view kernel, const lack& how) {
    return relative(kernel, how, all, how.left());
  }

 private:
  using key = std::tuple<std::string, unsigned, unsigned, unsigned, sibling_rule, unsigned, unsigned>;
  std::map<key, barrier_measurement> measured_;
};

}  // namespace sukima::simulation
