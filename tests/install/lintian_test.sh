#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# lintian_test.sh CMAKE BUILD VERSION
# lets lintian, Debian's checker, look at the .deb packages: it must find no error and no warning. Ends with 77 where it is not
# installed.
set -euo pipefail
cmake=$1 build=$2 version=$3
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/install/make_packages.sh
source "$here/make_packages.sh"

skip() {
  echo "lintian_test: $1"
  exit 77
}
command -v lintian >/dev/null || skip "no lintian is here: apt-get install lintian"

make_packages "$cmake" "$build"
packages=("$build"/packages/*_"$version"-*.deb)
((${#packages[@]} >= 3)) || { echo "lintian_test: ${#packages[@]} packages were made"; exit 1; }
lintian --allow-root --fail-on error,warning --tag-display-limit 0 "${packages[@]}"
