#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Installs the Debian packages of packages.txt that are missing. Needs root or sudo only if a package is missing.
#   install-dependencies.sh [PURPOSE]            install what PURPOSE needs: wheel, demo, build, benchmarks, package,
#                                                format, test-build, test, or check (the default)
#   install-dependencies.sh --missing [PURPOSE]  only print the missing packages, one a line
set -euo pipefail

only_print=
if [[ ${1:-} == --missing ]]; then
  only_print=yes
  shift
fi
# For each purpose, the purposes whose packages it also needs.
case ${1:-check} in
  wheel) purposes=" wheel " ;;
  demo) purposes=" wheel demo plots " ;;
  build) purposes=" wheel demo plots build " ;;
  benchmarks) purposes=" wheel demo plots build benchmarks " ;;
  package) purposes=" wheel demo plots build benchmarks package " ;;
  format) purposes=" format " ;;
  test-build) purposes=" wheel demo build format test-build " ;;
  test) purposes=" wheel demo plots build format test-build test " ;;
  check) purposes=" wheel demo plots build benchmarks package format test-build test check " ;;
  *) purposes= ;;
esac
if [[ $# -gt 1 || -z $purposes ]]; then
  echo "install-dependencies.sh: unknown argument '$*'; give at most --missing and a purpose (wheel, demo, build," \
    "benchmarks, package, format, test-build, test or check)" >&2
  exit 2
fi
list=$(dirname "$0")/packages.txt

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  echo "install-dependencies.sh: this machine has no apt; install what $list names by other means, then" \
    "build with: cmake --preset release && cmake --build --preset release" >&2
  exit 2
fi

machine=$(dpkg --print-architecture)
# is_installed NAME[:ARCH]: without ARCH, that of this machine or `all`.
is_installed() {
  local wanted="all|$machine"
  if [[ $1 == *:* ]]; then wanted=${1##*:}; fi
  dpkg-query -W -f '${Architecture} ${db:Status-Status}\n' "$1" 2>/dev/null | grep -qxE "($wanted) installed"
}

missing=() # each with its alternatives: "cargo-web/cargo"
while IFS='|' read -r packages command purpose _; do
  packages=${packages//[[:space:]]/}
  command=${command//[[:space:]]/}
  [[ -z $packages || $packages == \#* || $purposes != *" ${purpose//[[:space:]]/} "* ]] && continue
  if [[ -n $command ]] && command -v "$command" >/dev/null; then continue; fi
  if [[ $packages == *":$machine" || $packages == *"[!$machine]" ]]; then continue; fi
  packages=${packages%\[!*\]}
  IFS=/ read -ra alternatives <<<"$packages"
  found=
  for package in "${alternatives[@]}"; do
    if is_installed "$package"; then found=yes; fi
  done
  if [[ -z $found ]]; then missing+=("$packages"); fi
done < "$list"

if [[ -n $only_print ]]; then
  if [[ ${#missing[@]} -gt 0 ]]; then printf '%s\n' "${missing[@]}"; fi
  exit 0
fi
[[ ${#missing[@]} -eq 0 ]] && exit 0

foreign=() # architectures whose packages are missing and not listed yet
for packages in "${missing[@]}"; do
  architecture=${packages##*:}
  if [[ $packages == *:* && " ${foreign[*]} $(dpkg --print-foreign-architectures | tr '\n' ' ')" != *" $architecture "* ]]; then
    foreign+=("$architecture")
  fi
done

as_root=()
if [[ $EUID -ne 0 ]]; then
  if ! command -v sudo >/dev/null; then
    echo "install-dependencies.sh: packages are missing, and this is neither root nor has sudo; let an" \
      "administrator run: ${foreign[*]/#/dpkg --add-architecture }${foreign[*]:+; apt-get update; }apt-get install" \
      "${missing[*]%%/*}" >&2
    exit 2
  fi
  as_root=(sudo)
fi
for architecture in "${foreign[@]}"; do "${as_root[@]}" dpkg --add-architecture "$architecture"; done
# The lists of a fresh image are empty or old. If there are lists, a failing mirror does not stop the script.
"${as_root[@]}" apt-get update -q || echo "apt-get update failed; going on with the lists that are there" >&2

chosen=()
for packages in "${missing[@]}"; do
  IFS=/ read -ra alternatives <<<"$packages"
  choice=${alternatives[-1]}
  # The last alternative is taken without a look: apt-cache takes a second or two for each package.
  for package in "${alternatives[@]::${#alternatives[@]}-1}"; do
    if apt-cache show "$package" >/dev/null 2>&1; then
      choice=$package
      break
    fi
  done
  chosen+=("$choice")
done
echo "Installing: ${chosen[*]}"
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${chosen[@]}"
