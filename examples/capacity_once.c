// SPDX-License-Identifier: Apache-2.0
// Reads the limits once, and parses a number of CPUs as SUKIMA_CPUS is parsed: capacity_once [CPUS]
#include <sukima/capacity.h>

#include <stdio.h>
#include <string.h>

int main(int argc, char** argv) {
  sukima_capacity_facts facts;
  const int error = sukima_capacity_read(NULL, &facts);
  if (error != 0) fprintf(stderr, "capacity_once: %s\n", strerror(error));  // `facts` holds what is known
  double cpus = facts.usable;
  if (argc > 1 && sukima_capacity_parse_cpus(argv[1], &cpus) != 0) {
    fprintf(stderr, "capacity_once: '%s' is not a number of CPUs; give one from above 0 to %d, such as 1.5\n",
            argv[1], SUKIMA_CAPACITY_MAX_CPUS);
    return 2;
  }
  printf("start %u threads for %g CPUs\n", sukima_capacity_threads(cpus, NULL), cpus);
}
