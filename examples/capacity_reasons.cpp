// SPDX-License-Identifier: Apache-2.0
// In C++: the limits and their reasons, a made-up limit, and an experiment that measures what two threads
// get.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <thread>

#include <sukima/capacity.hpp>

namespace {

/// Prints the limit that decides, and the number of CPUs as Docker, Kubernetes and systemd write it.
void print_limits(const sukima::capacity::options& of) {
  const sukima::capacity::report found = sukima::capacity::explain(of);
  for (const sukima::capacity::limit& one : found.limits())
    if (one.is_binding != 0) std::printf("%s: %s\n", sukima_capacity_kind_name(one.kind), one.text);
  char units[100];
  sukima_capacity_operator_units(found.facts().usable, units, sizeof units);
  std::printf("%s\n", units);
}

/// Lets a second thread compute beside this one for a moment.
void measure_two_threads() {
  sukima::capacity::estimator estimator;
  std::atomic<bool> ends{false};
  estimator.sample();
  estimator.begin_experiment(2);
  std::thread second([&ends] {
    while (!ends.load(std::memory_order_relaxed)) {
    }
  });
  const auto begin = std::chrono::steady_clock::now();
  for (int tenth = 1; tenth <= 4; ++tenth) {
    while (std::chrono::steady_clock::now() < begin + tenth * std::chrono::milliseconds(100)) {
    }
    estimator.sample();
  }
  const auto measured = estimator.end_experiment();  // empty after too short a time
  ends.store(true, std::memory_order_relaxed);
  second.join();
  std::fprintf(stderr, "two threads: %.2f CPUs\n", measured ? measured->usable : 0);
  for (const sukima::capacity::note& one : estimator.explain().notes())
    std::fprintf(stderr, "%s\n", one.text);
}

}  // namespace

int main() {
  sukima::capacity::options half;
  half.override_text = "0.5";  // as if SUKIMA_CPUS were 0.5
  const sukima_capacity_options for_c = half.plain();  // the same for a function of the C library
  sukima_capacity_facts facts;
  if (sukima_capacity_read(&for_c, &facts) != 0) return 1;
  std::printf("%.1f CPUs, %u thread\n", facts.usable, sukima::capacity::threads(facts.usable));
  print_limits(half);
  measure_two_threads();
  try {
    half.override_text = "many";
    static_cast<void>(sukima::capacity::read(half));
  } catch (const std::invalid_argument& wrong) {
    std::printf("%s\n", wrong.what());
  }
}
