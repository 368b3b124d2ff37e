#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# sanitizers_test.sh CMAKE BUILD CXX CC address|thread
# installs a build, which is compiled without a sanitizer, and uses it in programs with one, linked with the static
# and with the shared library: nothing may be reported of right programs, and faults of the program must be.
# shellcheck source=tests/install/common.sh
source "$(dirname "$0")/common.sh"
cmake=$1 build=$2 cxx=$3 cc=$4 sanitizer=$5

prefix=$work/installed
install_build "$cmake" "$build" "$prefix" runtime devel tools compiler
use_pkg_config "$prefix"
libraries=$(pkg-config --variable=libdir sukima)
read -ra flags < <(pkg-config --cflags sukima)
read -ra link < <(pkg-config --libs sukima)
export LD_LIBRARY_PATH=$libraries
"$cxx" -std=c++20 -O1 -g1 "-fsanitize=$sanitizer" "${flags[@]}" -c "$consumer/sanitized.cpp" -o "$work/sanitized.o"
"$cxx" "-fsanitize=$sanitizer" "$work/sanitized.o" -o "$work/shared" "${link[@]}"
programs=("$work/shared")
if [[ -e $libraries/libsukima.a ]]; then
  context=()
  if grep -q lboost_context "$PKG_CONFIG_PATH/sukima.pc"; then context=(-lboost_context); fi
  "$cxx" "-fsanitize=$sanitizer" "$work/sanitized.o" -o "$work/static" \
    "$libraries/libsukima.a" "$libraries/libsukima-capacity.a" "${context[@]}" -pthread
  programs+=("$work/static")
fi

# Where the kernel places memory too randomly, the sanitizers of some compilers end at the start, now and then.
place=()
if setarch --addr-no-randomize true 2>/dev/null; then place=(setarch --addr-no-randomize); fi

# expect_clean EXPECTED COMMAND…: the command succeeds, and prints nothing but EXPECTED.
expect_clean() {
  local expected=$1
  shift
  "${place[@]}" "$@" > "$work/output" 2>&1 || { head -100 "$work/output"; fail "$* ended with $?"; }
  [[ $(cat "$work/output") == "$expected" ]] || { head -100 "$work/output"; fail "$* did not print '$expected' alone"; }
}
# expect_report WORDS COMMAND…: the command fails, and what it prints has these words.
expect_report() {
  local words=$1
  shift
  if "${place[@]}" "$@" > "$work/output" 2>&1; then fail "$*: the sanitizer has reported nothing"; fi
  grep -q "$words" "$work/output" || { head -100 "$work/output"; fail "$*: no report of a $words"; }
}

for program in "${programs[@]}"; do
  for workers in 1 2 6; do expect_clean ok "$program" $workers; done
  for workers in 2 6; do
    if [[ $sanitizer == thread ]]; then
      expect_report "data race" "$program" $workers race
    else
      expect_report stack-buffer-overflow "$program" $workers overflow
      expect_report stack-buffer-overflow "$program" $workers stolen-overflow
    fi
  done
done

if [[ -e $prefix/libexec/sukima/sukima-cc ]]; then
  "$prefix/bin/sukima" cc "--backend=$cc" -O1 -g1 "-fsanitize=$sanitizer" -o "$work/throws" "$consumer/throws.tc"
  for workers in 1 2 6; do expect_clean 20000 env SUKIMA_ELASTIC=off SUKIMA_WORKERS=$workers "$work/throws"; done
fi
