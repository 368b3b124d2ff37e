# SPDX-License-Identifier: Apache-2.0
# What the tests of an installation begin with, to be sourced: strict errors, $consumer (a program that uses the
# library), $work (a folder that goes away with the test), and functions.
set -euo pipefail
consumer=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/consumer
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
  echo "$(basename "$0" .sh): $1"
  exit 1
}

# install_build CMAKE BUILD PREFIX [COMPONENT…]: everything, or only these components.
install_build() {
  local cmake=$1 build=$2 prefix=$3 component
  shift 3
  # An empty name stands for everything.
  for component in "${@:-}"; do
    "$cmake" --install "$build" ${component:+--component "$component"} --prefix "$prefix" >"$work/install.log" || {
      cat "$work/install.log"
      fail "cmake --install${component:+ of $component}"
    }
  done
}

# use_pkg_config PREFIX: pkg-config finds what is installed there.
use_pkg_config() {
  PKG_CONFIG_PATH=$(dirname "$(find "$1" -name sukima.pc)")
  export PKG_CONFIG_PATH
}
