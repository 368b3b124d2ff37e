#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Builds and runs tests; prints the slowest builds and tests at the end, and as the last line how many passed.
#   test.sh            `make test`: the release build, everything but what takes long
#   test.sh --check    `make check`: the release build's tests with the label `check` (models, fuzzers, random programs,
#                      other projects' C, the truth harness), ThreadSanitizer, AddressSanitizer, aarch64 under QEMU,
#                      clang-tidy
#   test.sh PRESET…    all tests of these presets of CMakePresets.json
#
# Tests with the label `timing` measure time, and run after the others, one by one. A machine that others use too can
# stand still for as long as such a test is patient, so a few of them (at most three of a build) may fail and pass when
# they run once more; their names are printed at the end. Nothing else is tried again, nor is what a sanitizer
# reports, what ends by a signal and what does not end. SUKIMA_SECOND_TRIES=0 allows none.
#
# What was skipped is printed with its reason. SUKIMA_ALLOWED_SKIPS=FILE makes any other skip a failure (slowest.py says
# how), as .ci/run does.
set -euo pipefail
cd "$(dirname "$0")/.."

: "${CMAKE_BUILD_PARALLEL_LEVEL:=$(nproc)}"
export CMAKE_BUILD_PARALLEL_LEVEL
: "${SUKIMA_SECOND_TRIES:=3}"
failed=0
second_tries=()
folders=()

# once_more PRESET LOG ARGUMENTS…: a second try for the failed ones of the tests that measure time.
once_more() {
  local preset=$1 log=$2 tests
  shift 2
  mapfile -t tests < <(cut -d: -f2- "build/$preset/Testing/Temporary/LastTestsFailed.log")
  if ((${#tests[@]} > SUKIMA_SECOND_TRIES)) ||
    grep -qE '\*\*\*(Exception|Timeout)|(Address|Leak|Thread)Sanitizer|: runtime error: ' "$log"; then
    return 1
  fi
  echo "== $preset: ${#tests[@]} once more: ${tests[*]}"
  ctest --preset "$preset" --rerun-failed --parallel 1 "$@" || return 1
  second_tries+=("${tests[@]/#/$preset: }")
}

# run_tests PRESET NAME (test, check or all): the tests of `make test`, those of `make check`, or both. The results are
# in build/PRESET/test-results/NAME.xml and NAME-timing.xml.
run_tests() {
  local preset=$1 name=$2 results=$PWD/build/$1/test-results
  local output=(--test-output-size-passed 100000) # without it ctest keeps 1024 bytes, and the reasons of skips get lost
  local -A others=([test]="--label-exclude ^(check|timing)$" [check]="--label-regex ^check$ --label-exclude ^timing$"
    [all]="--label-exclude ^timing$")
  local -A timing=([test]="--label-exclude ^check$" [check]="--label-regex ^check$" [all]="")
  mkdir -p "$results"
  rm -rf "$results/$name"*.xml "$results/shards"
  echo "== $preset: testing (after $SECONDS s)"
  # More tests at a time than CPUs: many wait. The labels are words without blanks, to be split.
  # shellcheck disable=SC2086
  ctest --preset "$preset" ${others[$name]} --parallel $(($(nproc) + 1)) "${output[@]}" \
    --output-junit "$results/$name.xml" || failed=1
  # shellcheck disable=SC2086
  ctest --preset "$preset" ${timing[$name]} --label-regex '^timing$' --parallel 1 --no-tests=ignore \
    "${output[@]}" --output-junit "$results/$name-timing.xml" 2>&1 | tee "$results/$name-timing.log" ||
    once_more "$preset" "$results/$name-timing.log" "${output[@]}" --output-junit "$results/$name-timing-again.xml" || failed=1
}

# build PRESET [OPTION…]
build() {
  local preset=$1
  shift
  echo "== $preset: building (after $SECONDS s)"
  cmake --preset "$preset" --log-level=WARNING
  cmake --build --preset "$preset" "$@"
  folders+=("build/$preset")
}

all_tests() {
  build "$1"
  if [[ $1 == release* ]]; then cmake --build --preset "$1" --target checks; fi
  run_tests "$1" all
}

case ${1:-} in
  "")
    scripts/check-format.sh
    build release
    run_tests release test
    ;;
  --check)
    build release --target all checks
    run_tests release check
    presets=(tsan asan)
    # On such a machine the release build is the one for aarch64.
    if [[ $(uname -m) != aarch64 ]]; then presets+=(aarch64); fi
    for preset in "${presets[@]}"; do
      build "$preset"
      run_tests "$preset" all
    done
    # All that has changed since the last whole run of clang-tidy; then a part of the others, another one each commit.
    echo "== clang-tidy (after $SECONDS s)"
    cmake --preset tidy --log-level=WARNING
    scripts/check-tidy.py --quick --changed recorded --others --minutes 6 build/tidy || failed=1
    ;;
  -*)
    echo "test.sh: unknown option '$1'; give --check, or presets, or nothing" >&2
    exit 2
    ;;
  *) for preset in "$@"; do all_tests "$preset"; done ;;
esac

if ((${#second_tries[@]} > 0)); then
  echo "== only at their second try:"
  printf '   %s\n' "${second_tries[@]}"
fi
echo "== after $SECONDS s"
scripts/slowest.py ${SUKIMA_ALLOWED_SKIPS:+--allowed-skips "$SUKIMA_ALLOWED_SKIPS"} "${folders[@]}" || failed=1
exit $failed
