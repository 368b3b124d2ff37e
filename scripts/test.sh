#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Builds and runs all tests with all kinds of builds: test.sh [PRESET…]
# The presets are those of CMakePresets.json; without any: release tsan asan.
#
# Some tests compare times or wait for what the machine does, and a machine with strangers on it can stand still
# for as long as they are patient. So a few failures (at most three of a build) are run once more, alone, and
# named at the end. What a sanitizer reports, what ends by a signal and what does not end is never forgiven.
set -euo pipefail
cd "$(dirname "$0")/.."

presets=("$@")
[[ $# -gt 0 ]] || presets=(release tsan asan)
: "${CMAKE_BUILD_PARALLEL_LEVEL:=$(nproc)}"
export CMAKE_BUILD_PARALLEL_LEVEL

second_tries=()

run_tests() {
  local preset=$1 log=build/$1/ctest.log
  ctest --preset "$preset" 2>&1 | tee "$log" && return
  mapfile -t failed < <(cut -d: -f2- "build/$preset/Testing/Temporary/LastTestsFailed.log")
  if ((${#failed[@]} > 3)) ||
    grep -qE '\*\*\*(Exception|Timeout)|(Address|Leak|Thread)Sanitizer|: runtime error: ' "$log"; then
    return 1
  fi
  echo "== $preset: ${#failed[@]} once more, alone: ${failed[*]}"
  ctest --preset "$preset" --rerun-failed --parallel 1 || return 1
  second_tries+=("${failed[@]/#/$preset: }")
}

scripts/check-format.sh
for preset in "${presets[@]}"; do
  echo "== $preset: building (after $SECONDS s)"
  cmake --preset "$preset" --log-level=WARNING
  cmake --build --preset "$preset"
  echo "== $preset: testing (after $SECONDS s)"
  run_tests "$preset"
done
echo "== all passed (after $SECONDS s)"
if ((${#second_tries[@]} > 0)); then
  echo "== only at their second try:"
  printf '   %s\n' "${second_tries[@]}"
fi
