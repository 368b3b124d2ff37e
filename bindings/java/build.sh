#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Builds sukima-capacity.jar, with the native library of this architecture inside: build.sh FOLDER
# Needs a JDK (javac, jar), a C compiler, pkg-config, and an installed Sukima that pkg-config finds.
set -euo pipefail
fail() {
  echo "build.sh: $1" >&2
  exit 2
}
[[ $# -eq 1 ]] || fail "give one argument: the folder for sukima-capacity.jar"
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
output=$(cd "$1" && pwd)
read -ra compiler <<<"${CC:-cc}" # CC may be a command with arguments, such as `ccache gcc`
for program in java javac jar "${compiler[0]:-cc}" pkg-config; do
  command -v "$program" >/dev/null || fail "$program is not installed"
done
pkg-config --exists --print-errors sukima-capacity ||
  fail "pkg-config does not find Sukima; install libsukima-dev, or set PKG_CONFIG_PATH to its lib/pkgconfig"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

settings=$(java -XshowSettings:properties -version 2>&1)
architecture=$(sed -n 's/^ *os\.arch = //p' <<<"$settings")
home=${JAVA_HOME:-$(sed -n 's/^ *java\.home = //p' <<<"$settings")}
[[ -e $home/include/jni.h ]] || fail "$home has no include/jni.h; install a JDK, or set JAVA_HOME"
javac --release 11 -d "$work/classes" "$here/sukima/Capacity.java"
mkdir -p "$work/classes/native/$architecture"
read -ra flags < <(pkg-config --cflags --libs sukima-capacity)
"${compiler[@]:-cc}" -std=c11 -O2 -fPIC -fvisibility=hidden -shared -I"$home/include" -I"$home/include/linux" \
  -o "$work/classes/native/$architecture/libsukima-capacity-jni.so" "$here/capacity_jni.c" \
  -Wl,--as-needed -Wl,--exclude-libs,ALL -l:libsukima-capacity.a "${flags[@]}"
jar --create --file "$output/sukima-capacity.jar" -C "$work/classes" .
