// SPDX-License-Identifier: Apache-2.0
// Settings of a runtime, and the environment variables behind them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace sukima {

/// How a worker waits where it has nothing to do.
enum class wait_policy {
  adaptive,  ///< looks around for about as long as a wake-up costs, then sleeps
  block,     ///< sleeps at once
  spin,      ///< never sleeps
  pause,     ///< never sleeps, but tells the CPU so
};

/// Whether a worker stays on one CPU.
enum class pin_policy {
  none,
  cpu,  ///< worker i on the i-th CPU of the process's affinity mask; threads that enter are left alone
};

/// Settings of a runtime. Each has an environment variable, named in brackets, that `from_environment` reads.
struct settings {
  /// Workers, the entering thread included [SUKIMA_WORKERS, 1 … 1024]; 0: as many as there are usable CPUs.
  unsigned workers = 0;
  /// [SUKIMA_WAIT: adaptive, block, spin, pause]
  wait_policy wait = wait_policy::adaptive;
  /// Tasks that each worker keeps published ahead of demand, 1 … 8; 0: none, thieves ask one victim and wait
  /// for its answer [SUKIMA_STEAL: request, ready:K].
  unsigned ready = 1;
  /// [SUKIMA_PIN: none, cpu]
  pin_policy pin = pin_policy::none;
  /// Bytes of address space of a strand's C stack [SUKIMA_STACK, 16K … 64G, suffixes K, M, G]. Up to 64K
  /// strands are *small*: 100,000 of them fit into a gigabyte, forks on them cost more.
  std::size_t stack = std::size_t{256} << 20;
  /// Bytes of address space for a strand's pending forks [SUKIMA_CHOICES, 16K … 64M].
  std::size_t choices = std::size_t{64} << 20;
  /// With so many strands waiting for a join, workers take only work that ends such a wait [SUKIMA_STRANDS, 1
  /// … 1000000].
  std::size_t strands = 4096;

  /// Never run more workers than there is CPU for: affinity, cpusets and CPU quotas are looked at a few times a
  /// second, and workers beyond them sleep [SUKIMA_ELASTIC: on, off]. `workers` is then the most that run.
  bool elastic = true;

  /// The defaults, changed by the environment.
  /// \throws bad_setting naming the variable, the value and what is accepted
  static settings from_environment();
  /// Checks the ranges. \throws bad_setting
  void check() const;
  /// One line for people: "workers=2 wait=adaptive …".
  std::string text() const;
};

}  // namespace sukima
