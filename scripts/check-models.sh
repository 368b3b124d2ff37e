#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Checks models of protocols with spin.
#   check-models.sh                     every check of every src/*/model/*.pml
#   check-models.sh MODEL.pml           every check of one model
#   check-models.sh MODEL.pml NUMBER    its NUMBER-th check (from 1)
#
# Comments at the top of each model describe its checks, one line a check, and below it the expected result:
#   // check: spin -DNW=2 -a; cc -O2 -DNFAIR=5; -a -f
#   // expect: errors: 0
# The three parts of `check:` are spin's options for writing the verifier (`-a` with definitions), the compiler (cc and
# options), and the verifier's own options. `expect:` is `errors: 0`, or `errors: N` for a check that must find N
# errors, because a definition removes a safeguard of the model. An incomplete search always fails: give the verifier
# a larger -m, or the compiler -DCOLLAPSE.
set -euo pipefail

fail() {
  echo "check-models.sh: $1" >&2
  exit 2
}

[[ $# -le 2 ]] || fail "too many arguments: '$*'; give at most a model and the number of a check"
command -v spin >/dev/null || fail "spin is not installed; run scripts/install-dependencies.sh"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

trim() { sed -E 's/^[[:space:]]+//; s/[[:space:]]+$//' <<<"$1"; }

# run_check MODEL NUMBER CHECK EXPECT: one check; prints its name and what came out.
run_check() {
  local model=$1 number=$2 check=$3 expect=$4 generate compile options rest
  IFS=';' read -r generate compile options rest <<<"$check"
  generate=$(trim "$generate") compile=$(trim "$compile") options=$(trim "$options")
  [[ $generate == spin\ * && $compile == cc* && -z $rest ]] ||
    fail "$model: check $number is '$check'; it must be 'spin OPTIONS; cc OPTIONS; OPTIONS'"
  [[ $expect =~ ^errors:\ [0-9]+$ ]] ||
    fail "$model: below check $number must be a line 'expect: errors: N', not '$expect'"
  local folder=$work/$number
  mkdir -p "$folder"
  cp "$model" "$folder/model.pml"
  # The options contain no quotes, so the shell must split them.
  # shellcheck disable=SC2086
  (
    cd "$folder"
    spin ${generate#spin} model.pml >log 2>&1 && cc -w ${compile#cc} -o pan pan.c >>log 2>&1 && ./pan $options >>log 2>&1
  ) || { cat "$folder/log"; echo "$model: check $number ($check) could not be run"; return 1; }
  if grep -qE 'max search depth too small|search not completed|out of memory|VECTORSZ too small' "$folder/log" &&
    [[ $expect == "errors: 0" ]]; then
    cat "$folder/log"
    echo "$model: check $number ($check): the search was not complete"
    return 1
  fi
  local found states
  found=$(grep -oE 'errors: [0-9]+' "$folder/log" | tail -n 1) || found="no count of errors"
  states=$(grep -oE '[0-9.e+]+ states, stored' "$folder/log" | tail -n 1) || states="no states"
  if [[ $found != "$expect" ]]; then
    cat "$folder/log"
    # The steps that lead to the error; with -a spin would write a verifier instead.
    local definitions=" ${generate#spin} "
    if [[ -e $folder/model.pml.trail ]]; then
      # shellcheck disable=SC2086
      (cd "$folder" && spin ${definitions/ -a / } -t -p model.pml) || true
    fi
    echo "$model: check $number ($check): $found, but $expect expected"
    return 1
  fi
  echo "$model: check $number ($check): $found as expected, $states"
}

# run_model MODEL [NUMBER]
run_model() {
  local model=$1 wanted=${2:-} number=0 check='' line failed=0
  [[ -r $model ]] || fail "there is no file $model"
  while IFS= read -r line; do
    if [[ $line =~ ^[/*\ ]*check:(.*)$ ]]; then
      [[ -z $check ]] || fail "$model: below check $number must be a line 'expect: errors: N'"
      number=$((number + 1))
      check=$(trim "${BASH_REMATCH[1]%\*/}")
    elif [[ $line =~ ^[/*\ ]*expect:(.*)$ ]]; then
      [[ -n $check ]] || fail "$model: 'expect:' without a line 'check:' above it"
      if [[ -z $wanted || $wanted == "$number" ]]; then
        run_check "$model" "$number" "$check" "$(trim "${BASH_REMATCH[1]%\*/}")" || failed=1
      fi
      check=''
    fi
  done < "$model"
  [[ -z $check ]] || fail "$model: below check $number must be a line 'expect: errors: N'"
  [[ $number -gt 0 ]] || fail "$model has no line 'check: …'"
  [[ -z $wanted || ( $wanted =~ ^[1-9][0-9]*$ && $wanted -le $number ) ]] ||
    fail "$model has $number checks, but number '$wanted' was asked for"
  return $failed
}

if [[ $# -gt 0 ]]; then
  run_model "$@"
  exit
fi
result=0
shopt -s nullglob
for model in "$(dirname "$0")"/../src/*/model/*.pml; do
  run_model "$model" || result=1
done
exit $result
