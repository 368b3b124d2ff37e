// SPDX-License-Identifier: Apache-2.0
// Replaces the C library's functions for clocks, sleeping and the number of the CPU, for threads of the
// simulated machine. The definitions apply to the whole program, including its shared libraries.
#include "clocks.hpp"

#include "machine.hpp"
#include "real_calls.hpp"
#include "stress.hpp"

#include <sched.h>

namespace sukima::simulation {

namespace {

constexpr std::uint64_t second = 1'000'000'000;
/// The first reading of the clocks. It is not 0, because programs may use 0 for "never".
constexpr std::uint64_t first_reading = 1000 * second;

timespec reading() noexcept {
  const std::uint64_t shown = first_reading + the_machine().now();
  return {static_cast<time_t>(shown / second), static_cast<long>(shown % second)};
}

std::uint64_t nanoseconds_of(const timespec& t) noexcept {
  return static_cast<std::uint64_t>(t.tv_sec) * second + static_cast<std::uint64_t>(t.tv_nsec);
}

}  // namespace

std::uint64_t after(const timespec* length) noexcept {
  return length == nullptr ? never : the_machine().now() + nanoseconds_of(*length);
}

std::uint64_t moment(const timespec* shown) noexcept {
  if (shown == nullptr) return never;
  const std::uint64_t at = nanoseconds_of(*shown);
  return at < first_reading ? 0 : at - first_reading;
}

}  // namespace sukima::simulation

namespace sukima::detail {

void stress_point() noexcept {
  if (simulation::this_thread() != nullptr) simulation::the_machine().step(simulation::step_kind::protocol);
}

}  // namespace sukima::detail

using namespace sukima::simulation;

extern "C" {

int clock_gettime(clockid_t clock, timespec* shown) noexcept {
  if (this_thread() == nullptr) {
    static auto* const call = real<decltype(clock_gettime)>("clock_gettime");
    return call(clock, shown);
  }
  the_machine().step(step_kind::clock);
  *shown = reading();
  return 0;
}

int nanosleep(const timespec* length, timespec* left) {
  if (this_thread() == nullptr) {
    static auto* const call = real<decltype(nanosleep)>("nanosleep");
    return call(length, left);
  }
  the_machine().step(step_kind::pause);
  the_machine().wait(wait_kind::time, nullptr, after(length));
  return 0;
}

int sched_yield() noexcept {
  if (this_thread() == nullptr) {
    static auto* const call = real<decltype(sched_yield)>("sched_yield");
    return call();
  }
  the_machine().step(step_kind::pause);
  return 0;
}

int sched_getcpu() noexcept {
  if (this_thread() != nullptr) return the_machine().cpu();
  static auto* const call = real<decltype(sched_getcpu)>("sched_getcpu");
  return call();
}

}  // extern "C"
