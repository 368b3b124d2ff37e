#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# packages_test.sh CMAKE BUILD VERSION
# installs the .deb packages in a bare Debian 12, uses them there, removes them, and does the same with the .tar.gz in
# two folders. Needs root, mmdebstrap and a Debian mirror (SUKIMA_DEBIAN_MIRROR, or http://deb.debian.org/debian), and
# ends with 77 without them. The bare system and what apt fetched stay in BUILD/bare-root for the next time.
set -euo pipefail
cmake=$1 build=$2 version=$3
here=$(cd "$(dirname "$0")" && pwd)
mirror=${SUKIMA_DEBIAN_MIRROR:-http://deb.debian.org/debian}
kept=$build/bare-root

skip() {
  echo "packages_test: $1"
  exit 77
}
[[ $EUID -eq 0 ]] || skip "only root can change its root folder"
command -v mmdebstrap >/dev/null || skip "mmdebstrap is not installed"
unshare --mount true 2>/dev/null || skip "no mounts can be made here"

# shellcheck source=tests/install/make_packages.sh
source "$here/make_packages.sh"
make_packages "$cmake" "$build"

mkdir -p "$kept/archives"
if [[ ! -e $kept/base.tar ]]; then
  mmdebstrap --mode=root --variant=minbase --dpkgopt=force-unsafe-io bookworm "$kept/new.tar" \
    "$mirror" 2> "$kept/mmdebstrap.log" || { cat "$kept/mmdebstrap.log"; skip "no bare Debian can be made here"; }
  mv "$kept/new.tar" "$kept/base.tar"
fi
work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT
root=$work/root
mkdir "$root"
tar -C "$root" -xf "$kept/base.tar"
mkdir -p "$root/packages" "$root/test"
cp "$build"/packages/*_"$version"-*.deb "$build"/packages/sukima-"$version"-*.tar.gz "$root/packages"
cp -r "$here/consumer" "$here/in_bare_root.sh" "$root/test"
cp -L /etc/resolv.conf "$root/etc/resolv.conf"
if [[ -e /etc/apt/apt.conf ]]; then cp /etc/apt/apt.conf "$root/etc/apt/apt.conf"; fi
grep -rhisE '^Acquire::.*proxy' /etc/apt/apt.conf.d > "$root/etc/apt/apt.conf.d/90proxy" || true
echo 'APT::Keep-Downloaded-Packages "true";' > "$root/etc/apt/apt.conf.d/91keep"

# The mounts and processes end with the namespaces.
unshare --mount --pid --fork --kill-child bash -euo pipefail -c '
  root=$1 kept=$2 version=$3
  mount --make-rprivate /
  mount -t proc proc "$root/proc"
  mount --rbind /sys "$root/sys"
  mount --bind /dev "$root/dev"
  mount --bind "$kept/archives" "$root/var/cache/apt/archives"
  exec chroot "$root" /usr/bin/env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    LC_ALL=C.UTF-8 HOME=/root http_proxy="${http_proxy:-}" /bin/bash /test/in_bare_root.sh "$version"
' bash "$root" "$kept" "$version"
