// SPDX-License-Identifier: Apache-2.0
// A user's C program: succeeds if this process may use some CPU.
#include <stddef.h>
#include <sukima/capacity.h>

int main(void) {
  sukima_capacity_facts facts;
  return sukima_capacity_read(NULL, &facts) == 0 && facts.usable > 0 ? 0 : 1;
}
