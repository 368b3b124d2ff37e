#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs the fuzzers of the parsers, programs of libFuzzer.
#   fuzz.sh BUILD SECONDS             `make fuzz`: runs each fuzzer of a build folder for SECONDS, with the stored inputs,
#                                     those of earlier runs and a fresh seed; reports and keeps inputs that break one
#   fuzz.sh --fixed PROGRAM CORPUS    a test of `make check`: tries 20,000 inputs made from the stored ones by a fixed seed
set -uo pipefail
# Without these exit codes, an input that breaks the program would end it with 77, which ctest counts as skipped.
options=(-max_len=4096 -timeout=100 -error_exitcode=1 -timeout_exitcode=1 -print_final_stats=1 -verbosity=0)

if [[ ${1:-} == --fixed && $# == 3 ]]; then
  new=$(mktemp -d) || exit 2
  trap 'rm -rf "$new"' EXIT
  mkdir "$new/found"
  "$2" "${options[@]}" -seed=1 -runs=20000 -artifact_prefix="$new/" "$new/found" "$3" && exit
  for input in "$new"/*-*; do
    [[ -f $input ]] && printf 'the input %s, in base64: %s\n' "${input##*/}" "$(base64 --wrap=0 "$input")"
  done
  exit 1
fi
if [[ $# != 2 || ! -f $1/fuzzers.txt || ! $2 =~ ^[1-9][0-9]*$ ]]; then
  echo "fuzz.sh: give a build folder with fuzzers (target fuzzers, needs clang) and a number of seconds for each" >&2
  exit 2
fi
failed=()
while IFS='|' read -r name program corpus; do
  found=$1/fuzz/$name
  mkdir -p "$found/inputs"
  echo "== $name"
  "$program" "${options[@]}" -max_total_time="$2" -artifact_prefix="$found/" "$found/inputs" "$corpus" \
    </dev/null || failed+=("$name (what broke it is in $found)")
done <"$1/fuzzers.txt"
((${#failed[@]} == 0)) && echo "no fuzzer found anything" && exit
printf 'failed: %s\n' "${failed[@]}"
exit 1
