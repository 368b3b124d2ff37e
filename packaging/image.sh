#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Makes the file system of a small container image: image.sh PREFIX ROOT
# copies an installation of Sukima (its component tools) into the new folder ROOT, under /usr/local, and
# beside it the shared libraries that its programs need, with the C library and its loader.
set -euo pipefail
fail() {
  echo "image.sh: $1" >&2
  exit 2
}
[[ $# -eq 2 ]] || fail "give two arguments: the folder of the installation, and the new folder of the image"
prefix=$1 root=$2
[[ -x $prefix/bin/sukima ]] || fail "$prefix has no bin/sukima; install the component tools there"
[[ ! -e $root ]] || fail "$root exists; give a new folder"

# A folder for temporary files, as every program expects it.
mkdir -p "$root/usr/local" "$root/etc" "$root/proc" "$root/sys"
install -d -m 1777 "$root/tmp"
find "$prefix" -type d \( -path '*/bin' -o -path '*/lib' -o -path '*/libexec' \) -prune -print0 |
  while IFS= read -r -d '' folder; do cp -a "$folder" "$root/usr/local/"; done

# Each library under the name by which the loader finds it: a library may need others.
find "$root/usr/local" -type f \( -perm -u+x -o -name '*.so*' \) -print0 |
  while IFS= read -r -d '' file; do ldd "$file" 2>/dev/null || true; done |
  sed -nE 's/^[[:space:]]*(.* => )?(\/[^ ]+) \(0x[0-9a-f]+\)$/\2/p' | sort -u |
  while read -r library; do
    [[ $library != "$root"/* && $library != "$prefix"/* ]] || continue
    mkdir -p "$root$(dirname "$library")"
    cp -L "$library" "$root$library"
    # A library of a package brings its licence.
    command -v dpkg-query >/dev/null || continue
    owner=$({ dpkg-query -S "$library" || dpkg-query -S "$(readlink -f "$library")" || dpkg-query -S "/usr$library"; } \
      2>/dev/null | head -1 | cut -d: -f1) || continue
    if [[ -n $owner && -r /usr/share/doc/$owner/copyright ]]; then
      install -D -m 644 "/usr/share/doc/$owner/copyright" "$root/usr/share/doc/$owner/copyright"
    fi
  done
