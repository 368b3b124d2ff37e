// SPDX-License-Identifier: Apache-2.0
// Entries whose instructions are counted: counted-entries SIZE enters so often with one empty fork, and each
// time is expected to end at once.
#include "whole_runtime.hpp"

#include <sukima/sukima.hpp>

#include <cstdio>
#include <cstdlib>
#include <limits>

int main(int count, char** arguments) {
  if (count != 2) {
    std::fputs("usage: counted-entries SIZE\n", stderr);
    return 2;
  }
  const long size = std::strtol(arguments[1], nullptr, 10);
  sukima::settings one_worker;
  one_worker.workers = 1;
  one_worker.elastic = false;
  sukima::detail::whole_runtime core(one_worker, 1, nullptr);
  // Valgrind makes an entry take fifty times as long, and it must count as short there, too.
  core.tuned.minimum_steal_age = core.tuned.root_warm_up = std::numeric_limits<std::uint64_t>::max();
  long entered = 0;
  const auto fork = [&entered](sukima::context c) {
    sukima::fork2(c, [](sukima::context) { asm volatile(""); }, [](sukima::context) { asm volatile(""); });
    ++entered;
  };
  for (long i = 0; i < size; ++i) {
    sukima::detail::root_of<decltype(fork)> root(fork);
    core.entries.enter(root);
  }
  std::printf("%ld\n", entered);
}
