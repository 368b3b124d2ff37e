#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Adds to .deb packages of CPack the parts that Debian's policy requires and CPack does not make: finish-deb.sh FILE…
#
# In each package: compressed manual pages, a changelog, the copyright file and the lintian overrides of packaging/debian, a trigger
# of ldconfig instead of scripts that call it, and pkg-config's files where cross-compilers look. CPack runs it
# (cmake/sukima_finish_deb.cmake). Times are those of SOURCE_DATE_EPOCH, or now.
set -euo pipefail
debian=$(cd "$(dirname "$0")/../packaging/debian" && pwd)
now=${SOURCE_DATE_EPOCH:-$(date +%s)}
export SOURCE_DATE_EPOCH=$now

[[ $# -gt 0 ]] || {
  echo "finish-deb.sh: no package is named; give the .deb files" >&2
  exit 2
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# field TREE NAME: a field of the package's control file
field() { sed -n "s/^$2: //p" "$1/DEBIAN/control"; }

write_documents() {
  local tree=$1 name=$2 documents=$1/usr/share/doc/$2
  install -D -m 644 "$debian/copyright" "$documents/copyright"
  printf '%s (%s) unstable; urgency=medium\n\n  * The changes of each version are in CHANGELOG.md of libsukima-dev.\n\n -- %s  %s\n' \
    "$name" "$(field "$tree" Version)" "$(field "$tree" Maintainer)" "$(LC_ALL=C date -u -d "@$now" +'%a, %d %b %Y %H:%M:%S +0000')" |
    gzip -9n > "$documents/changelog.Debian.gz"
  chmod 644 "$documents/changelog.Debian.gz"
  if [[ -d $tree/usr/share/man ]]; then find "$tree/usr/share/man" -type f ! -name '*.gz' -exec gzip -9n {} +; fi
  install -D -m 644 "$debian/lintian-overrides" "$tree/usr/share/lintian/overrides/$name"
  if [[ -e $debian/$name.lintian-overrides ]]; then
    cat "$debian/$name.lintian-overrides" >> "$tree/usr/share/lintian/overrides/$name"
  fi
}

# dpkg runs ldconfig once for all packages that have this trigger.
write_trigger() {
  rm -f "$1/DEBIAN/postinst" "$1/DEBIAN/postrm"
  if compgen -G "$1/usr/lib/*.so.*" > /dev/null; then echo "activate-noawait ldconfig" > "$1/DEBIAN/triggers"; fi
}

# The prefix is relative to the file elsewhere, so that an installation may be moved.
move_pkgconfig() {
  local from=$1/usr/lib/pkgconfig to
  [[ -d $from ]] || return 0
  to=$1/usr/lib/$(gcc -print-multiarch)/pkgconfig
  mkdir -p "$to"
  sed -i 's|^prefix=.*|prefix=/usr|' "$from"/*.pc
  mv "$from"/*.pc "$to"
  rmdir "$from"
}

# write_sums TREE: the sums and the size of what is installed now
write_sums() {
  (cd "$1" && find . -type f ! -path './DEBIAN/*' -printf '%P\0' | sort -z | xargs -0 md5sum > DEBIAN/md5sums)
  sed -i "s/^Installed-Size: .*/Installed-Size: $(du -k -s --apparent-size --exclude=DEBIAN "$1" | cut -f1)/" "$1/DEBIAN/control"
}

for file in "$@"; do
  tree=$work/$(basename "$file" .deb)
  dpkg-deb --raw-extract "$file" "$tree"
  name=$(field "$tree" Package)
  write_documents "$tree" "$name"
  write_trigger "$tree"
  move_pkgconfig "$tree"
  write_sums "$tree"
  find "$tree" -newermt "@$now" -exec touch --no-dereference -d "@$now" {} +
  # Replaces the package of CPack only when the new one is complete.
  dpkg-deb --root-owner-group --build "$tree" "$file.new" > "$work/log" || {
    cat "$work/log" >&2
    rm -f "$file.new"
    exit 1
  }
  mv -f "$file.new" "$file"
done
