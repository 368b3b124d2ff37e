// SPDX-License-Identifier: Apache-2.0
// The entry of libFuzzer. The build renames fuzz_target to the function to try: -Dfuzz_target=fuzz_stat.
#include "fuzz_targets.h"

void fuzz_target(const uint8_t* data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz_target(data, size);
  return 0;
}
