#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Builds and runs all tests with all kinds of builds: test.sh [PRESET…]
# The presets are those of CMakePresets.json; without any: release tsan asan.
set -euo pipefail
cd "$(dirname "$0")/.."

presets=("$@")
[[ $# -gt 0 ]] || presets=(release tsan asan)
: "${CMAKE_BUILD_PARALLEL_LEVEL:=$(nproc)}"
export CMAKE_BUILD_PARALLEL_LEVEL

scripts/check-format.sh
for preset in "${presets[@]}"; do
  echo "== $preset: building (after $SECONDS s)"
  cmake --preset "$preset" --log-level=WARNING
  cmake --build --preset "$preset"
  echo "== $preset: testing (after $SECONDS s)"
  ctest --preset "$preset"
done
