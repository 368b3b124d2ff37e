// SPDX-License-Identifier: Apache-2.0
#include "recording/time_off_cpu.hpp"

#include <sys/resource.h>
#include <sukima/detail/ticks.hpp>

namespace sukima::objects::detail {

namespace {

/// Ticks, about 10 µs.
constexpr std::uint64_t most_between_clocks = 30'000;

}  // namespace

thread_clocks read_thread_clocks() noexcept {
  thread_clocks read;
  for (int tries = 0; tries < 3; ++tries) {
    rusage used{};
    getrusage(RUSAGE_THREAD, &used);
    read = {read_clocks(sukima::detail::ticks()), nanoseconds_of(CLOCK_PROCESS_CPUTIME_ID), used.ru_nvcsw};
    // Unless the kernel ran another program between the readings, they belong to one moment.
    if (sukima::detail::ticks() - read.ticks < most_between_clocks) break;
  }
  return read;
}

}  // namespace sukima::objects::detail
