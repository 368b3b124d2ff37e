#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests scripts/check-models.sh on small models: check_models_test.sh SCRIPT
set -u
script=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

# try NAME CODE TEXT ARGUMENT…: runs the script with the arguments; its code and a part of its output must be these.
try() {
  local name=$1 code=$2 text=$3 output result
  shift 3
  output=$("$script" "$@" 2>&1)
  result=$?
  if [[ $result -ne $code || $output != *"$text"* ]]; then
    printf '%s: code %d instead of %d, or no "%s" in:\n%s\n' "$name" "$result" "$code" "$text" "$output"
    failures=$((failures + 1))
  fi
}

# model FILE LINE…: two processes that add 1 to a number, atomically or not, with these lines at the top.
model() {
  local file=$work/$1
  shift
  printf '%s\n' "$@" > "$file"
  cat >> "$file" <<'PROMELA'
#ifdef RACE
#define ADD byte t = n; n = t + 1
#else
#define ADD n++
#endif
byte n = 0, done = 0;
proctype adder() { ADD; done++ }
init { atomic { run adder(); run adder() }; done == 2; assert(n == 2) }
PROMELA
}

model good.pml '// check: spin -a; cc -O0; -w16' '// expect: errors: 0' \
  '/* check: spin -DRACE -a; cc -O0; -w16 */' '/* expect: errors: 1 */'
try "both checks" 0 "check 2 (spin -DRACE -a; cc -O0; -w16): errors: 1 as expected" "$work/good.pml"
try "one check" 0 "check 1 (spin -a; cc -O0; -w16): errors: 0 as expected" "$work/good.pml" 1
try "no such check" 2 "has 2 checks, but number '3'" "$work/good.pml" 3
try "no such file" 2 "there is no file" "$work/none.pml"

model race.pml '// check: spin -DRACE -a; cc -O0; -w16' '// expect: errors: 0'
try "an error is found and its trail shown" 1 "errors: 1, but errors: 0 expected" "$work/race.pml"
try "the trail" 1 "spin: trail ends after" "$work/race.pml"
model blind.pml '// check: spin -a; cc -O0; -w16' '// expect: errors: 1'
try "an expected error is missing" 1 "errors: 0, but errors: 1 expected" "$work/blind.pml"
model short.pml '// check: spin -a; cc -O0; -w16 -m3' '// expect: errors: 0'
try "an incomplete search" 1 "the search was not complete" "$work/short.pml"
model syntax.pml '// check: spin -a; cc -O0; -w16' '// expect: errors: 0' 'proctype {'
try "a model with a syntax error" 1 "could not be run" "$work/syntax.pml"

model none.pml
try "no check" 2 "has no line 'check: …'" "$work/none.pml"
model unexpected.pml '// check: spin -a; cc -O0; -w16'
try "a check without an expectation" 2 "below check 1 must be a line 'expect: errors: N'" "$work/unexpected.pml"
model orphan.pml '// expect: errors: 0'
try "an expectation without a check" 2 "without a line 'check:'" "$work/orphan.pml"
model parts.pml '// check: spin -a; -a' '// expect: errors: 0'
try "a check of two parts" 2 "it must be 'spin OPTIONS; cc OPTIONS; OPTIONS'" "$work/parts.pml"
model vague.pml '// check: spin -a; cc;' '// expect: success'
try "a vague expectation" 2 "not 'success'" "$work/vague.pml"

exit $((failures > 0))
