// SPDX-License-Identifier: Apache-2.0
// Programs of OpenMP's kind in the laboratory: a team of threads works in phases, and waits for all its
// threads at a barrier after each. They are scripts: no code of the runtime is in them.
#pragma once

#include "laboratory.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sukima::simulation {

/// The shape of a kernel. docs/simulation.md says where the numbers come from.
struct kernel_shape {
  std::string_view name;
  std::uint64_t work;  ///< nanoseconds of one thread, for all of it
  unsigned regions;  ///< parallel regions, with two barriers each: at the begin and at the end
  unsigned barriers;  ///< other barriers
  // Phases in which each thread waits for its neighbour before each plane, by polling without an end.
  unsigned sweeps = 0;
  unsigned planes = 0;
  double swept = 0;  ///< the part of the work that is in them
  /// By how much a thread's work in a phase differs from the mean, at most, as a part of it.
  double imbalance = 0.05;

  unsigned phases() const noexcept { return regions + barriers; }
  /// The same with so many phases, nearly, each with as much work.
  kernel_shape of_length(unsigned phases) const noexcept;
};

/// The kernels of bench-npb-gcc, with the classes that docs/results.md has.
const std::vector<kernel_shape>& nas_kernels();
/// \throws std::invalid_argument
const kernel_shape& nas_kernel(std::string_view name);

enum class openmp_wait : std::uint8_t { unset, active, passive };
/// How long a thread of libgomp polls at a barrier.
patience libgomp_patience(openmp_wait policy, unsigned threads, unsigned cpus, const costs& cost) noexcept;

/// Several copies of a program that share pCPUs, each in a guest of its own.
struct barrier_cell {
  kernel_shape kernel;
  unsigned threads = 1;
  unsigned copies = 1;
  guest_shape guest;  ///< of each copy
  openmp_wait policy = openmp_wait::unset;
  unsigned cpus = 0;  ///< that the program sees; 0: its guest's vCPUs
  laboratory_setup setup;
  std::uint64_t seed = 1;  ///< of the imbalance, of when the copies begin, and of the periods' phase
  std::uint64_t spread = 1'000'000;  ///< the copies begin within that time
  std::uint64_t serial =
      5'000'000;  ///< work of the first thread before it starts the others; not in the time
  std::uint64_t limit = 60'000'000'000;  ///< the run stops then
};

/// Simulated nanoseconds.
struct barrier_measurement {
  double time = 0;  ///< mean over the copies; of the limit, for a run that was stopped
  bool stopped = false;
  std::uint64_t work = 0;
  std::uint64_t polled = 0;
  std::uint64_t used = 0;
  std::uint64_t sleeps = 0;
  std::uint64_t exits = 0;  ///< of loops of pauses
  std::uint64_t most_in_a_period = 0;
  trace steps;
  friend bool operator==(const barrier_measurement&, const barrier_measurement&) = default;
};

/// Runs a cell in a process of its own. \throws std::runtime_error with what went wrong
barrier_measurement simulate(const barrier_cell& c);
/// The median time of that many seeds, from the cell's own one on.
barrier_measurement simulate_median(barrier_cell c, unsigned seeds);

}  // namespace sukima::simulation
