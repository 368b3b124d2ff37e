// SPDX-License-Identifier: Apache-2.0
// Looks ten times a second for half a second whether the number of usable CPUs has changed.
#include <stdio.h>
#include <threads.h>

#include <sukima/capacity.h>

int main(void) {
  sukima_capacity* handle = sukima_capacity_open(NULL);
  if (handle == NULL) return 1;
  if (sukima_capacity_error(handle) != NULL) {
    fprintf(stderr, "%s\n", sukima_capacity_error(handle));
    sukima_capacity_close(handle);
    return 2;
  }
  sukima_capacity_facts facts;
  sukima_capacity_latest(handle, &facts);
  printf("usable: %.2f CPUs\n", facts.usable);
  for (int i = 0; i < 5; i++) {
    const struct timespec tenth = {0, 100000000};
    thrd_sleep(&tenth, NULL);
    if (sukima_capacity_refresh(handle, &facts)) printf("now: %.2f CPUs\n", facts.usable);
  }
  sukima_capacity_close(handle);
  return 0;
}
