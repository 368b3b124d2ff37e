#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The part of packages_test.sh that runs inside the bare system: in_bare_root.sh VERSION
set -euo pipefail
version=$1
export DEBIAN_FRONTEND=noninteractive

fail() {
  echo "in_bare_root: $1"
  exit 1
}
step() { echo "== $1 (after $SECONDS s)"; }
quietly() { "$@" > /tmp/log 2>&1 || { cat /tmp/log; fail "$*"; }; }
install() { quietly apt-get install -q -y --no-install-recommends -o Dpkg::Options::=--force-unsafe-io "$@"; }
is_installed() { [[ $(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null) == installed ]]; }
package() { echo /packages/"$1"_"$version"-*.deb; }

# use_program PROGRAM: probe and run
use_program() {
  [[ $("$1" --version) == *"$version"* ]] || fail "$1 --version"
  "$1" probe > /tmp/probe && [[ -s /tmp/probe ]] || fail "$1 probe"
  (($("$1" probe --threads) >= 1)) || fail "$1 probe --threads"
  [[ $("$1" run --threads 3 -- sh -c 'echo $OMP_NUM_THREADS') == 3 ]] || fail "$1 run"
  # The preload library answers, too.
  [[ $("$1" run --threads 1 -- nproc) == 1 ]] || fail "$1 run -- nproc"
}

# use_commands PROGRAM COMMAND…: the help of these commands
use_commands() {
  local program=$1 command
  shift
  for command in "$@"; do
    "$program" "$command" --help > /tmp/help || fail "$program $command --help"
    grep -q "sukima $command" /tmp/help || fail "$program $command --help"
  done
}

# refuse_command PACKAGE COMMAND: the command is not installed, and names its package
refuse_command() {
  local status=0
  sukima "$2" --help > /tmp/log 2>&1 || status=$?
  [[ $status == 2 ]] && grep -q "install the package $1," /tmp/log || fail "sukima $2 without $1"
}

# use_compiler PROGRAM: sukima cc
use_compiler() {
  "$1" cc -O2 -DARGUMENT=10 -o /tmp/fibonacci /test/consumer/fibonacci.tc
  [[ $(/tmp/fibonacci) == 55 ]] || fail "a program compiled by $1 cc"
}

# use_development_files PREFIX: find_package and pkg-config
use_development_files() {
  rm -rf /tmp/consumer
  quietly cmake -S /test/consumer -B /tmp/consumer -DCMAKE_PREFIX_PATH="$1" -DSUKIMA_WANTED="$version"
  grep -q "^sukima_DIR:PATH=$1" /tmp/consumer/CMakeCache.txt || fail "find_package took another copy than that in $1"
  quietly cmake --build /tmp/consumer
  [[ $(/tmp/consumer/algorithms) == 5050 && $(/tmp/consumer/tbb_sums) == 5050 ]] || fail "programs for the standard library and TBB"
  [[ $(/tmp/consumer/sums) == 5050 && $(/tmp/consumer/fibonacci) == 6765 ]] || fail "the consumers of find_package"
  /tmp/consumer/cpus || fail "the C consumer of find_package"
  export PKG_CONFIG_PATH=$1/lib/pkgconfig
  [[ $(pkg-config --modversion sukima) == "$version" ]] || fail "the version of sukima.pc in $1"
  read -ra cxx_flags < <(pkg-config --cflags --libs sukima)
  read -ra cc_flags < <(pkg-config --cflags --libs sukima-capacity)
  g++ -std=c++20 /test/consumer/sums.cpp -o /tmp/sums "${cxx_flags[@]}"
  gcc -std=c11 /test/consumer/cpus.c -o /tmp/cpus "${cc_flags[@]}"
  # The linker finds it in /usr/lib by itself.
  [[ $1 == /usr ]] || export LD_LIBRARY_PATH=$1/lib
  [[ $(/tmp/sums) == 5050 ]] || fail "the C++ consumer of pkg-config"
  /tmp/cpus || fail "the C consumer of pkg-config"
  local needed
  needed=$(ldd /tmp/sums)
  [[ $needed == *"libsukima.so"*" => $1/lib"* || $needed == *"libsukima.so"*" => /lib/libsukima"* ]] ||
    fail "the C++ consumer of pkg-config does not use the shared library: $needed"
  unset PKG_CONFIG_PATH LD_LIBRARY_PATH
}

step "the .tar.gz in a system without a compiler"
mkdir -p /opt/first
tar -C /opt/first -xzf /packages/sukima-"$version"-*.tar.gz --strip-components=1
use_program /opt/first/bin/sukima
use_commands /opt/first/bin/sukima bench calibrate cc cluster explain guest host lab objects
mkdir -p /srv/other
mv /opt/first /srv/other/sukima
use_program /srv/other/sukima/bin/sukima
use_commands /srv/other/sukima/bin/sukima bench calibrate cc cluster explain guest host lab objects
[[ $(/srv/other/sukima/bin/sukima lab list) == *machine* ]] || fail "sukima lab does not find its experiments"

step "the tools"
quietly apt-get update -q
install "$(package sukima)"
use_program sukima
if is_installed libllvm19 || is_installed g++; then fail "the package sukima brings a compiler"; fi
use_commands sukima calibrate explain
refuse_command sukima-cc cc
refuse_command sukima-bench bench
refuse_command sukima-host guest
for name in cluster host lab objects; do
  refuse_command "sukima-$name" $name
  install "$(package "sukima-$name")"
  use_commands sukima $name
done
use_commands sukima guest
[[ $(sukima lab list) == *machine* ]] || fail "sukima lab does not find its experiments"
[[ -e /usr/share/bash-completion/completions/sukima ]] || fail "no completions"

step "the compiler"
install "$(package sukima-cc)" "$(package sukima)" "$(package libsukima-dev)" "$(package "libsukima${version%.*}")"
use_compiler sukima

step "documents and licences"
for package in sukima sukima-cc sukima-cluster sukima-host sukima-lab sukima-objects libsukima-dev "libsukima${version%.*}"; do
  grep -q "Apache License" "/usr/share/doc/$package/copyright" || fail "$package has no licence"
done
for file in LICENSE README.md docs/guide.md docs/pitfalls.md examples/fibonacci.cpp; do
  [[ -s /usr/share/doc/sukima/$file ]] || fail "$file is not in libsukima-dev"
done

step "the headers and libraries"
install cmake make pkg-config
use_development_files /usr

step "the benchmark programs"
install "$(package sukima-bench)"
/usr/libexec/sukima/bench-tbb-gcc --list > /tmp/list
grep -q fib /tmp/list || fail "bench-tbb-gcc --list"
sukima bench --list | grep '^  tbb ' > /tmp/list
if grep -q "not installed" /tmp/list; then fail "sukima bench does not find bench-tbb-gcc"; fi

step "removal"
mapfile -t ours < <(dpkg-query -W -f '${Package}\n' '*sukima*')
quietly apt-get purge -q -y "${ours[@]}" libclang-common-19-dev libclang-cpp19 libllvm19 libfmt9 libhwloc15 libmetis5
[[ -z $(find /usr -name '*sukima*' -print -quit) ]] || fail "something of Sukima is left: $(find /usr -name '*sukima*')"

step "the .tar.gz with a compiler"
use_compiler /srv/other/sukima/bin/sukima
use_development_files /srv/other/sukima
step "done"
