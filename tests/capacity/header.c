// SPDX-License-Identifier: Apache-2.0
// The public header alone, in plain C11 without extensions: compiling this is the test.
#include <sukima/capacity.h>
#include <sukima/capacity/progress.h>

const char* sukima_capacity_test_first_kind(void);
const char* sukima_capacity_test_first_kind(void) {
  return sukima_capacity_kind_name(SUKIMA_CAPACITY_ONLINE);
}
