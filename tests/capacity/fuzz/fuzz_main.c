// SPDX-License-Identifier: Apache-2.0
// The entry of libFuzzer; SUKIMA_FUZZ_TARGET is the function that it tries.
#include "fuzz_targets.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  SUKIMA_FUZZ_TARGET(data, size);
  return 0;
}
