#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Installs a build, moves it elsewhere, and uses it: install_test.sh CMAKE BUILD_FOLDER CXX CC VERSION
# shellcheck source=tests/install/common.sh
source "$(dirname "$0")/common.sh"
cmake=$1 build=$2 cxx=$3 cc=$4 version=$5

# finds_plugin PROGRAM: as one of several processes of Open MPI it loads the plug-in of the moved installation, here a
# library that is none.
finds_plugin() {
  local plugin
  plugin=$(dirname "$(find "$prefix" -name 'libsukima-cluster.*' | head -1)")/sukima/sukima-cluster-openmpi.so
  mkdir -p "$(dirname "$plugin")"
  [[ ! -e $plugin ]] || mv "$plugin" "$work/plugin"
  "$cc" -shared -fPIC -x c -o "$plugin" /dev/null
  local said
  said=$(OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=2 "$1" 2>&1 || :)
  [[ $said == *"is of another version of Sukima"* ]] || fail "$1 does not find the plug-in of the installation: $said"
  rm "$plugin"
  said=$(OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=2 "$1" 2>&1 || :)
  [[ $said == *SUKIMA_CLUSTER_PLUGINS* ]] || fail "$1 does not say how to name the folder of plug-ins: $said"
  [[ ! -e $work/plugin ]] || mv "$work/plugin" "$plugin"
}

install_build "$cmake" "$build" "$work/first"
mv "$work/first" "$work/moved"
prefix=$work/moved

# What is installed must not depend on where it was built.
if grep -rlI "$build" "$prefix"; then fail "these files name the build folder $build"; fi
# The services name their program, because systemd wants whole paths.
if grep -rlI --exclude='sukima-*.service' "$work/first" "$prefix"; then fail "these files name the prefix of the installation"; fi
[[ -z $(find "$prefix" \( -path "$prefix/share/doc" -o -path "$prefix/share/sukima/bindings" \) -prune -o \( -name '*gtest*' -o -name '*.cpp' -o -name '*.c' \) -print) ]] ||
  fail "sources or GoogleTest were installed"
for file in LICENSE README.md docs/README.md docs/guide.md docs/pitfalls.md docs/images/results.svg examples/fibonacci.cpp; do
  cmp "$(dirname "$0")/../../$file" "$prefix/share/doc/sukima/$file" || fail "$file is not installed"
done
"$cxx" -std=c++20 -fsyntax-only -I"$prefix/include" "$prefix/share/doc/sukima/examples/fibonacci.cpp" ||
  fail "an installed example does not compile"
if [[ -e $prefix/bin/sukima ]]; then
  [[ $("$prefix/bin/sukima" --version) == *"$version"* ]] || fail "sukima --version"
  # The commands that are programs of their own were moved, too.
  for program in "$prefix"/libexec/sukima/sukima-*; do
    command=${program##*/sukima-}
    "$prefix/bin/sukima" "$command" --help >"$work/help" || fail "sukima $command --help"
    [[ -n $(find "$prefix" -name "sukima-$command.1") ]] || fail "sukima-$command has no manual page"
  done
  if [[ -e $prefix/libexec/sukima/sukima-lab ]]; then
    [[ $("$prefix/bin/sukima" lab list) == *machine* ]] || fail "sukima lab does not find its experiments"
  fi
  if [[ -e $prefix/libexec/sukima/bench-hog ]]; then
    [[ $("$prefix/bin/sukima" bench --list) == *fib* ]] || fail "sukima bench does not find its programs"
  fi
fi

"$cmake" -S "$consumer" -B "$work/consumer" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_COMPILER="$cxx" \
  -DCMAKE_C_COMPILER="$cc" -DSUKIMA_WANTED="$version" -DCMAKE_EXPORT_COMPILE_COMMANDS=ON
"$cmake" --build "$work/consumer"
[[ $("$work/consumer/sums") == 5050 ]] || fail "the C++ consumer of find_package"
"$work/consumer/cpus" || fail "the C consumer of find_package"
for name in algorithms tbb_sums; do
  [[ $("$work/consumer/$name") == 5050 ]] || fail "$name, a consumer of find_package"
  ! readelf -d "$work/consumer/$name" | grep -q 'NEEDED.*tbb' || fail "$name still needs TBB"
done
if [[ -n $(find "$prefix" -name sukima-cluster.pc) ]]; then
  [[ $("$work/consumer/nodes") == 6765 ]] || fail "the consumer of the component cluster"
  [[ ! -e $prefix/bin/sukima || $("$prefix/bin/sukima" cluster run -n 3 -- "$work/consumer/nodes") == 6765 ]] ||
    fail "that consumer on three nodes"
  finds_plugin "$work/consumer/nodes"
fi
if [[ -e $prefix/libexec/sukima/sukima-cc ]]; then
  [[ $("$work/consumer/fibonacci") == 6765 ]] || fail "the consumer of sukima_add_executable"
  # A project with one of the two languages.
  for language in C CXX; do
    "$cmake" -S "$consumer/one_language" -B "$work/$language" -DCMAKE_PREFIX_PATH="$prefix" -DONLY="$language" \
      -DCMAKE_"$language"_COMPILER="$([[ $language == C ]] && echo "$cc" || echo "$cxx")"
    "$cmake" --build "$work/$language"
    [[ $("$work/$language/fibonacci") == 6765 ]] || fail "sukima_add_executable in a project with $language only"
  done
  "$prefix/bin/sukima" cc -DARGUMENT=10 -o "$work/fibonacci" "$consumer/fibonacci.tc"
  [[ $("$work/fibonacci") == 55 ]] || fail "sukima cc of the moved installation"
  if [[ -n $(find "$prefix" -name sukima-cluster.pc) ]]; then
    "$prefix/bin/sukima" cc -o "$work/nodes_in_the_language" "$consumer/nodes.tc"
    [[ $("$prefix/bin/sukima" cluster run -n 3 -- "$work/nodes_in_the_language") == 6765 ]] ||
      fail "a program in the language on three nodes"
    finds_plugin "$work/nodes_in_the_language"
  fi
fi

# Nested functions for Java, if the build has them.
if [[ -e $build/bin/sukima-javac ]]; then
  "$prefix/bin/sukima-javac" -d "$work/classes" "$(dirname "$0")/../../examples/java/CountCalls.java" ||
    fail "sukima-javac of the moved installation"
  [[ $(java -cp "$work/classes:$prefix/share/java/sukima-java.jar" CountCalls) == "fib(20) = 6765, leaves: 10946" ]] ||
    fail "a program of the moved sukima-javac"
fi

# The first commands of the pages.
python3 "$(dirname "$0")/page_commands_test.py" "$prefix" "$(dirname "$0")/../.." || fail "commands of the pages"

# Frames larger than the guard of a fiber are probed.
probes=-fstack-clash-protection
grep -q -- "$probes" "$work/consumer/compile_commands.json" || fail "find_package gives no $probes"

use_pkg_config "$prefix"
[[ " $(pkg-config --cflags sukima) " == *" $probes "* ]] || fail "sukima.pc gives no $probes"
[[ $(pkg-config --modversion sukima) == "$version" ]] || fail "the version of sukima.pc"
read -ra cxx_flags < <(pkg-config --cflags --libs sukima)
read -ra cc_flags < <(pkg-config --cflags --libs sukima-capacity)
library_path=$(pkg-config --variable=libdir sukima)
"$cc" -std=c90 -pedantic-errors "$consumer/version.c" -o "$work/version" "${cc_flags[@]}"
[[ $("$work/version") == "$version" ]] || fail "the version of version.h"
"$cxx" -std=c++20 "$consumer/sums.cpp" -o "$work/sums" "${cxx_flags[@]}"
"$cc" -std=c11 "$consumer/cpus.c" -o "$work/cpus" "${cc_flags[@]}"
# A static executable, without a warning of the linker.
read -ra static_flags < <(pkg-config --static --cflags --libs sukima)
"$cxx" -std=c++20 -static -Wl,--fatal-warnings "$consumer/sums.cpp" -o "$work/static_sums" "${static_flags[@]}"
[[ $("$work/static_sums") == 5050 ]] || fail "a static executable"
# Containers of another layout than the library's.
"$cxx" -std=c++20 -D_GLIBCXX_DEBUG "$consumer/debug_containers.cpp" -o "$work/debug_containers" "${cxx_flags[@]}"
[[ $(LD_LIBRARY_PATH=$library_path "$work/debug_containers") == 4950 ]] || fail "a program with _GLIBCXX_DEBUG"
[[ $(LD_LIBRARY_PATH=$library_path "$work/sums") == 5050 ]] || fail "the C++ consumer of pkg-config"
LD_LIBRARY_PATH=$library_path "$work/cpus" || fail "the C consumer of pkg-config"
# The parallel algorithms of the standard library, without TBB.
read -ra pstl_flags < <(pkg-config --cflags --libs sukima-pstl)
"$cxx" -std=c++20 "$prefix/share/doc/sukima/examples/standard_algorithms.cpp" -o "$work/algorithms" "${pstl_flags[@]}"
[[ $(LD_LIBRARY_PATH=$library_path "$work/algorithms") == "1 … 1000000, sum 500000500000" ]] ||
  fail "the algorithms of the standard library"
! readelf -d "$work/algorithms" | grep -q 'NEEDED.*tbb' || fail "sukima-pstl still needs TBB"
# A program for oneTBB, without TBB.
read -ra tbb_flags < <(pkg-config --cflags --libs sukima-tbb)
"$cxx" -std=c++20 "$prefix/share/doc/sukima/examples/tbb_program.cpp" -o "$work/tbb_program" "${tbb_flags[@]}"
[[ $(LD_LIBRARY_PATH=$library_path "$work/tbb_program") == "fib(20) = 6765, 1000 words, sum of squares 332833500" ]] ||
  fail "the program for oneTBB"
! readelf -d "$work/tbb_program" | grep -q 'NEEDED.*tbb' || fail "sukima-tbb still needs TBB"
if pkg-config --exists sukima-cluster; then
  read -ra cluster_flags < <(pkg-config --cflags --libs sukima-cluster)
  "$cxx" -std=c++20 "$consumer/nodes.cpp" -o "$work/nodes" "${cluster_flags[@]}"
  ! "$cxx" -std=c++20 -D_GLIBCXX_DEBUG "$consumer/nodes.cpp" -o "$work/unlike" "${cluster_flags[@]}" 2>"$work/errors" ||
    fail "a node with containers unlike the library's is linked"
  grep -q compiled_with_GLIBCXX_DEBUG "$work/errors" || fail "the linker does not say why: $(<"$work/errors")"
  export LD_LIBRARY_PATH=$library_path
  [[ $("$work/nodes") == 6765 ]] || fail "the cluster's consumer of pkg-config"
  [[ ! -e $prefix/bin/sukima || $("$prefix/bin/sukima" cluster run -n 3 -- "$work/nodes") == 6765 ]] ||
    fail "that consumer on three nodes, with the shared libraries"
fi
