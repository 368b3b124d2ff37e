// SPDX-License-Identifier: Apache-2.0
// Programs with the structure of OpenMP programs in the laboratory: a team of threads works in phases, and
// waits at a barrier after each phase. They are scripts, so no code of the runtime runs in them.
#pragma once

#include "laboratory.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sukima::simulation {

/// The shape of a kernel. docs/simulation.md states where the numbers come from.
struct kernel_shape {
  std::string_view name;
  std::uint64_t work;  ///< total work for one thread, in nanoseconds
  unsigned regions;  ///< number of parallel regions; each has two barriers, at its beginning and at its end
  unsigned barriers;  ///< number of other barriers
  // Phases in which each thread waits for its neighbour before each plane, by polling without a limit.
  unsigned sweeps = 0;
  unsigned planes = 0;
  double swept = 0;  ///< fraction of the work in these phases
  /// Largest deviation of a thread's work in a phase from the mean, as a fraction of the mean.
  double imbalance = 0.05;

  unsigned phases() const noexcept { return regions + barriers; }
  /// Returns the same kernel with about that number of phases, each with the same work as before.
  kernel_shape of_length(unsigned phases) const noexcept;
};

/// The kernels of bench-npb-gcc, with the classes of docs/results.md.
const std::vector<kernel_shape>& nas_kernels();
/// \throws std::invalid_argument there is no kernel of that name
const kernel_shape& nas_kernel(std::string_view name);

enum class openmp_wait : std::uint8_t { unset, active, passive };
/// Returns how long a thread of libgomp polls at a barrier.
patience libgomp_patience(openmp_wait policy, unsigned threads, unsigned cpus, const costs& cost) noexcept;

/// Several copies of a program that share pCPUs, each in its own guest.
struct barrier_cell {
  kernel_shape kernel;
  unsigned threads = 1;
  unsigned copies = 1;
  guest_shape guest;  ///< the guest of each copy
  openmp_wait policy = openmp_wait::unset;
  unsigned cpus = 0;  ///< number of CPUs that the program sees; 0: the vCPUs of its guest
  laboratory_setup setup;
  std::uint64_t seed = 1;  ///< of the imbalance, of the copies' start times, and of ties between CPUs
  std::uint64_t spread = 1'000'000;  ///< time within which the copies begin
  std::uint64_t serial =
      5'000'000;  ///< work of the first thread before it starts the others; not part of the time
  std::uint64_t limit = 60'000'000'000;  ///< time at which the run is stopped
};

/// Times are simulated nanoseconds.
struct barrier_measurement {
  double time = 0;  ///< mean over the copies; the limit, if the run was stopped
  bool stopped = false;
  std::uint64_t work = 0;
  std::uint64_t polled = 0;
  std::uint64_t used = 0;
  std::uint64_t sleeps = 0;
  std::uint64_t exits = 0;  ///< number of exits from loops of pauses
  std::uint64_t most_in_a_period = 0;
  trace steps;
  friend bool operator==(const barrier_measurement&, const barrier_measurement&) = default;
};

/// Runs a cell in a separate process. \throws std::runtime_error the run failed; the message has the reason
barrier_measurement simulate(const barrier_cell& c);
/// Returns the median time over that many seeds, beginning with the seed of the cell. The periods of
/// quotas have another phase with each (phase_of_run).
barrier_measurement simulate_median(barrier_cell c, unsigned seeds);

}  // namespace sukima::simulation
