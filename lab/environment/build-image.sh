#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Makes a tiny virtual machine: build-image.sh [--cache CACHE] FOLDER PROGRAM…
# FOLDER/vmlinuz is Debian's cloud kernel, FOLDER/initramfs.gz a system of busybox and the programs, with the
# libraries that they need. Nothing is installed; packages are fetched where CACHE, or else FOLDER, lacks the kernel.
# With a CACHE, others may use it at the same time: the system is FOLDER's own.
cache=
if [[ ${1:-} == --cache ]]; then
  cache=${2:?give the folder of the kernel}
  shift 2
fi
# shellcheck source=lab/environment/image.sh
source "$(dirname "$0")/image.sh"
if [[ -n $cache ]]; then cache=$(mkdir -p "$cache" && cd "$cache" && pwd); else cache=$folder; fi

# One at a time makes it.
exec 9>"$cache/lock"
flock 9

if [[ ! -e $cache/vmlinuz ]]; then
  fetch "the kernel linux-image-cloud-amd64" linux-image-cloud-amd64
  rm -rf "$cache/kernel"
  dpkg-deb -x "$fetched"/*.deb "$cache/kernel"
  cp "$cache"/kernel/boot/vmlinuz-* "$cache/vmlinuz.new"
  mv "$cache/vmlinuz.new" "$cache/vmlinuz"
fi
if [[ $cache != "$folder" ]]; then ln -sf "$cache/vmlinuz" "$folder/vmlinuz"; fi

root=$cache/root
make_system "$root" "$here/init.sh"
for program in "${programs[@]}"; do
  cp "$program" "$root/bin/"
  libraries_of "$program" | while read -r library; do
    mkdir -p "$root$(dirname "$library")"
    cp -L "$library" "$root$library"
  done
done
add_modules "$root" "$cache/kernel/lib/modules" \
  virtio_ring virtio virtio_pci_modern_dev virtio_pci_legacy_dev virtio_pci virtio_console
pack "$root" "$folder/initramfs.gz"
