#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Installs the Debian packages of packages.txt that are missing. Needs root or sudo only if one is.
#   install-dependencies.sh            install
#   install-dependencies.sh --missing  only print what is missing, one a line
set -euo pipefail

if [[ $# -gt 1 || ( $# -eq 1 && $1 != --missing ) ]]; then
  echo "install-dependencies.sh: unknown argument '$*'; give --missing, or nothing to install" >&2
  exit 2
fi
list=$(dirname "$0")/packages.txt

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  echo "install-dependencies.sh: this machine has no apt; install what $list names by other means, then" \
    "build with: cmake --preset release && cmake --build --preset release" >&2
  exit 2
fi

missing=()
while IFS='|' read -r package command _; do
  package=${package//[[:space:]]/}
  command=${command//[[:space:]]/}
  [[ -z $package || $package == \#* ]] && continue
  if [[ -n $command ]] && command -v "$command" >/dev/null; then continue; fi
  if [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) != installed ]]; then
    missing+=("$package")
  fi
done < "$list"

if [[ ${1:-} == --missing ]]; then
  if [[ ${#missing[@]} -gt 0 ]]; then printf '%s\n' "${missing[@]}"; fi
  exit 0
fi
[[ ${#missing[@]} -eq 0 ]] && exit 0

as_root=()
if [[ $EUID -ne 0 ]]; then
  if ! command -v sudo >/dev/null; then
    echo "install-dependencies.sh: packages are missing, and this is neither root nor has sudo; let an" \
      "administrator run: apt-get install ${missing[*]}" >&2
    exit 2
  fi
  as_root=(sudo)
fi
echo "Installing: ${missing[*]}"
# The lists of a fresh image are empty or old; with them there, a failing mirror need not stop us.
"${as_root[@]}" apt-get update -q || echo "apt-get update failed; going on with the lists that are there" >&2
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}"
