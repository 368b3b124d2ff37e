#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Installs a build, moves it elsewhere, and uses it: install_test.sh CMAKE BUILD_FOLDER CXX CC VERSION
set -euo pipefail
cmake=$1 build=$2 cxx=$3 cc=$4 version=$5
consumer=$(cd "$(dirname "$0")" && pwd)/consumer
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
  echo "install_test: $1"
  exit 1
}

"$cmake" --install "$build" --prefix "$work/first" > "$work/install.log" || { cat "$work/install.log"; fail "cmake --install"; }
mv "$work/first" "$work/moved"
prefix=$work/moved

# What is installed must not depend on where it was built.
if grep -rlI "$build" "$prefix"; then fail "these files name the build folder $build"; fi
if grep -rlI "$work/first" "$prefix"; then fail "these files name the prefix of the installation"; fi
[[ -z $(find "$prefix" -name '*gtest*' -o -name '*.cpp' -o -name '*.c') ]] || fail "sources or GoogleTest were installed"
[[ ! -e $prefix/bin/sukima || $("$prefix/bin/sukima" --version) == *"$version"* ]] || fail "sukima --version"

"$cmake" -S "$consumer" -B "$work/consumer" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_COMPILER="$cxx" \
  -DCMAKE_C_COMPILER="$cc" -DSUKIMA_WANTED="$version"
"$cmake" --build "$work/consumer"
[[ $("$work/consumer/sums") == 5050 ]] || fail "the C++ consumer of find_package"
"$work/consumer/cpus" || fail "the C consumer of find_package"
if [[ -e $prefix/libexec/sukima/sukima-cc ]]; then
  [[ $("$work/consumer/fibonacci") == 6765 ]] || fail "the consumer of sukima_add_executable"
  "$prefix/bin/sukima" cc -DARGUMENT=10 -o "$work/fibonacci" "$consumer/fibonacci.tc"
  [[ $("$work/fibonacci") == 55 ]] || fail "sukima cc of the moved installation"
fi

PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name sukima.pc)")
export PKG_CONFIG_PATH
[[ $(pkg-config --modversion sukima) == "$version" ]] || fail "the version of sukima.pc"
read -ra cxx_flags < <(pkg-config --cflags --libs sukima)
read -ra cc_flags < <(pkg-config --cflags --libs sukima-capacity)
library_path=$(pkg-config --variable=libdir sukima)
"$cxx" -std=c++20 "$consumer/sums.cpp" -o "$work/sums" "${cxx_flags[@]}"
"$cc" -std=c11 "$consumer/cpus.c" -o "$work/cpus" "${cc_flags[@]}"
[[ $(LD_LIBRARY_PATH=$library_path "$work/sums") == 5050 ]] || fail "the C++ consumer of pkg-config"
LD_LIBRARY_PATH=$library_path "$work/cpus" || fail "the C consumer of pkg-config"
