// SPDX-License-Identifier: Apache-2.0
// Reads the CPUs of this process; see cpus.hpp.
#include "shared/cpus.hpp"

#include <sched.h>

#include <cerrno>
#include <system_error>

namespace sukima::lab {

std::vector<unsigned> own_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0)
    throw std::system_error(errno, std::generic_category(), "sched_getaffinity");
  std::vector<unsigned> cpus;
  for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  return cpus;
}

std::vector<unsigned> first_cpus(unsigned count) {
  std::vector<unsigned> cpus = own_cpus();
  if (count < cpus.size()) cpus.resize(count);
  return cpus;
}

}  // namespace sukima::lab
