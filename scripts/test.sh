#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Builds and runs tests. A failure does not stop the rest. The last line is `N passed, N failed, N skipped`; before it
# come the failed tests with the end of their output. The exit code is 1 if anything failed.
#   test.sh                   `make test`, the gate: the release build, and its tests without the labels `check` and
#                             `measure`. No verdict by time, load, chance or network. It decides about landing.
#   test.sh --check [PART…]   `make check [PART=…]`: long tests. The parts, in the order in which they run:
#                             release (the release build's tests with the label `check`; models, random, fuzz and
#                             package are parts of it), tsan, asan, aarch64 (under QEMU), faults (deliberate faults, each
#                             of which a test of the gate must find), tidy. Only on request: sanitized (the gate's
#                             random programs with each sanitizer, in four minutes), mutants (small changes of $FILE
#                             that no test of the gate notices)
#   test.sh --measure         `make measure`: the tests with the label `measure`, whose verdict is a time or a share of
#                             CPU, one after another; nothing else should run on the machine
#   test.sh --measure host [OPTION…]   `make measure PART=host`: the table of lab/scripts/host-table.py, with its options;
#                             it continues where it was interrupted
#   test.sh --measure targets  `make measure PART=targets`: measures the targets of docs/benchmarks.md by
#                             lab/scripts/targets.py, and writes them there; it continues where it was interrupted. With
#                             --quick (`QUICK=1`) each is measured once and printed
#   test.sh PRESET…           all tests but these of presets of CMakePresets.json
#
# A skip whose reason is not in tests/allowed_skips.txt is a failure.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 2

: "${CMAKE_BUILD_PARALLEL_LEVEL:=$(nproc)}"
export CMAKE_BUILD_PARALLEL_LEVEL
failed=0
broken=()
folders=()

# build PRESET [OPTION…]: compiles the other sources even after an error.
build() {
  local preset=$1
  shift
  echo "== $preset: building (after $SECONDS s)"
  rm -rf "build/$preset/test-results"
  folders+=("build/$preset")
  if cmake --preset "$preset" --log-level=WARNING && cmake --build --preset "$preset" "$@" -- -k 0; then return; fi
  broken+=("$preset: building")
  return 1
}

# run_tests PRESET NAME JOBS OPTION…: runs the tests that ctest's OPTIONs choose; the results are in
# build/PRESET/test-results/NAME.xml.
run_tests() {
  local preset=$1 name=$2 jobs=$3
  shift 3
  echo "== $preset: testing (after $SECONDS s)"
  # Without the size ctest keeps 1024 bytes of what a test prints, and the reasons of skips get lost.
  ctest --preset "$preset" --parallel "$jobs" --test-output-size-passed 100000 \
    --output-junit "$PWD/build/$preset/test-results/$name.xml" "$@" || failed=1
}

many=$(($(nproc) + 1)) # more tests at a time than CPUs, because many wait

# sanitized: the gate's random programs with each sanitizer.
sanitized() {
  local preset
  for preset in tsan asan; do
    build "$preset" --target gate &&
      run_tests "$preset" gate "$CMAKE_BUILD_PARALLEL_LEVEL" --tests-regex '^random_programs\.gate'
  done
}

# start_installing: the packages that only running tests need, in the background. If sudo asks for a password, in the
# foreground.
start_installing() {
  installing=
  mkdir -p build
  if [[ $EUID -eq 0 ]] || sudo -n true 2>/dev/null; then
    scripts/install-dependencies.sh test >build/install.log 2>&1 </dev/null &
    installing=$!
  else
    scripts/install-dependencies.sh test || broken+=("installing what the tests need")
  fi
}

finish_installing() {
  [[ -z $installing ]] && return
  wait "$installing" || broken+=("installing what the tests need: $(tail -n 1 build/install.log)")
  cat build/install.log
}

gate() {
  local line installing
  start_installing
  build release --target gate || { finish_installing; return; }
  finish_installing
  while IFS= read -r line; do broken+=("gate: $line"); done < <(scripts/gate-tests.py build/release 2>&1)
  run_tests release gate "$many" --label-exclude '^(check|measure)$'
}

measure() { build release --target all checks && run_tests release measure 1 --label-regex '^measure$'; }

# all_of PRESET
all_of() { build "$1" --target all checks && run_tests "$1" all "$many" --label-exclude '^measure$'; }

# check_part PART
check_part() {
  case $1 in
    release) build release --target all checks && run_tests release check "$many" --label-regex '^check$' ;;
    models) build release --target all checks && run_tests release models "$many" --label-regex '^model$' ;;
    random) build release --target all checks && run_tests release random "$many" --label-regex '^check$' --tests-regex random ;;
    fuzz) build release --target all checks && run_tests release fuzz "$many" --label-regex '^fuzz$' ;;
    package) build release --target all checks && run_tests release package "$many" --label-regex '^package$' ;;
    tsan | asan) build release && all_of "$1" ;; # they borrow the release build's compiler
    sanitized) sanitized ;;
    aarch64)
      # On such a machine the release build is the one for aarch64.
      if [[ $(uname -m) != aarch64 ]]; then build release && all_of aarch64; fi
      ;;
    faults)
      echo "== deliberate faults (after $SECONDS s)"
      scripts/faults.py --minutes 60 # all of them take four hours
      exit
      ;;
    mutants) # changes one file, so `make check` without PART does not run it
      if [[ -z ${FILE:-} ]]; then
        echo "test.sh: PART=mutants needs a file to change: make check PART=mutants FILE=src/runtime/join/join.cpp" >&2
        exit 2
      fi
      scripts/mutants.py "$FILE"
      exit
      ;;
    tidy)
      # All sources that changed since the last whole run of clang-tidy; then a part of the others, which each commit varies.
      echo "== clang-tidy (after $SECONDS s)"
      cmake --preset tidy --log-level=WARNING &&
        scripts/check-tidy.py --quick --changed recorded --others --minutes 6 build/tidy || broken+=("tidy: findings")
      ;;
    *)
      echo "test.sh: unknown part '$1' of make check; give release, models, random, fuzz, package, tsan, asan, sanitized," \
        "aarch64, faults, tidy or mutants" >&2
      exit 2
      ;;
  esac
}

# check PART…: each part by itself, with a table of them at the end.
check() {
  local part start lines table=() counts=()
  for part in "$@"; do
    start=$SECONDS
    mapfile -t lines < <(scripts/test.sh --part "$part" 2>&1 | tee /dev/stderr)
    counts+=("${lines[-1]}")
    table+=("$(printf '%-8s %4d min  %s' "$part" $(((SECONDS - start + 59) / 60)) "${lines[-1]}")")
  done
  echo "== make check, after $SECONDS s"
  printf '   %s\n' "${table[@]}"
  printf '%s\n' "${counts[@]}" | awk '$2 != "passed," {f += 1; next} {p += $1; f += $3; s += $5}
    END {print p + 0 " passed, " f + 0 " failed, " s + 0 " skipped"; exit f > 0}'
}

case ${1:-} in
  "") gate ;;
  --measure)
    case ${2:-} in
      "") measure ;;
      host)
        build release --target sukima sukima-host sukima-guest sukima-measured || exit 1
        exec lab/scripts/host-table.py --programs build/release/bin --measured build/release/tests/bin/sukima-measured \
          --image build/release/tests/host/measure/guest --results build/release/host-table.json "${@:3}"
        ;;
      targets)
        build release --target sukima benchmarks || exit 1
        if [[ ${3:-} == --quick ]]; then
          exec lab/scripts/targets.py --programs build/release/bin --results build/release/targets-quick.json --quick
        fi
        exec lab/scripts/targets.py --programs build/release/bin --results build/release/targets.json \
          --page docs/benchmarks.md
        ;;
      *)
        echo "test.sh: unknown part '$2' of make measure; give host, targets, or nothing" >&2
        exit 2
        ;;
    esac
    ;;
  --check)
    shift
    if (($# == 0)); then set -- release tsan asan aarch64 faults tidy; fi
    check "$@"
    exit
    ;;
  --part) check_part "$2" ;;
  -*)
    echo "test.sh: unknown option '$1'; give --check, --measure, presets, or nothing" >&2
    exit 2
    ;;
  *) for preset in "$@"; do all_of "$preset"; done ;;
esac
echo "== after $SECONDS s"
options=(--allowed-skips tests/allowed_skips.txt)
for failure in "${broken[@]}"; do options+=(--failed "$failure"); done
scripts/test-summary.py "${options[@]}" "${folders[@]}" || failed=1
exit $failed
