/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the version of the installed headers; compiled as C90. */
#include <stdio.h>

#include <sukima/version.h>

int main(void) {
  const int minor = SUKIMA_VERSION_NUMBER / 100 % 100;
  printf("%d.%d.%d\n", SUKIMA_VERSION_MAJOR, minor, SUKIMA_VERSION_PATCH);
  return minor != SUKIMA_VERSION_MINOR;
}
