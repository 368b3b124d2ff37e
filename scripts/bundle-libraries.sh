#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# bundle-libraries.sh FOLDER PROGRAM [PACKAGE…]
# copies every shared library that a program needs, except those of the C library, to FOLDER/lib. Copies the licences of
# their Debian packages to FOLDER/licenses, and those of PACKAGE…, whose libraries are inside the program.
set -euo pipefail
folder=$1 program=$2
shift 2

# Copies the licence of a Debian package, where there is one.
add_license() {
  local file=/usr/share/doc/$1/copyright
  if [[ -r $file ]]; then cp -L "$file" "$folder/licenses/$1"; fi
}

rm -rf "$folder"
mkdir -p "$folder/lib" "$folder/licenses"
needed=$(ldd "$program")
if grep -F 'not found' <<<"$needed"; then
  echo "bundle-libraries.sh: '$program' lacks these libraries; install them" >&2
  exit 1
fi
while read -r name _ file _; do
  case $name in
    linux-vdso.so.* | linux-gate.so.* | /*ld-linux*) continue ;;
    libc.so.* | libm.so.* | libdl.so.* | libpthread.so.* | librt.so.* | libresolv.so.* | libutil.so.*) continue ;;
  esac
  cp -L "$file" "$folder/lib/$name"
  chmod 644 "$folder/lib/$name"
  command -v dpkg-query >/dev/null || continue
  # A merged /usr: the package may know the file by either name.
  owner=$({ dpkg-query -S "$(readlink -f "$file")" || dpkg-query -S "/usr$file" || dpkg-query -S "$file"; } \
    2>/dev/null | head -1 | cut -d: -f1) || continue
  if [[ -n $owner ]]; then add_license "$owner"; fi
done < <(sed 's/^[[:space:]]*//' <<<"$needed")
for package in "$@"; do add_license "$package"; done
