#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Makes a tiny virtual machine: build-image.sh FOLDER PROGRAM…
# FOLDER/vmlinuz is Debian's cloud kernel, FOLDER/initramfs.gz a system of busybox and the programs, with the
# libraries that they need. Nothing is installed; packages are fetched where the folder lacks the kernel.
# shellcheck source=src/lab/environment/image.sh
source "$(dirname "$0")/image.sh"

# One at a time makes it.
exec 9>"$folder/lock"
flock 9

if [[ ! -e $folder/vmlinuz ]]; then
  fetch "the kernel linux-image-cloud-amd64" linux-image-cloud-amd64
  rm -rf "$folder/kernel"
  dpkg-deb -x "$fetched"/*.deb "$folder/kernel"
  cp "$folder"/kernel/boot/vmlinuz-* "$folder/vmlinuz.new"
  mv "$folder/vmlinuz.new" "$folder/vmlinuz"
fi

root=$folder/root
make_system "$root" "$here/init.sh"
for program in "${programs[@]}"; do
  cp "$program" "$root/bin/"
  libraries_of "$program" | while read -r library; do
    mkdir -p "$root$(dirname "$library")"
    cp -L "$library" "$root$library"
  done
done
add_modules "$root" "$folder/kernel/lib/modules" \
  virtio_ring virtio virtio_pci_modern_dev virtio_pci_legacy_dev virtio_pci virtio_console
pack "$root" "$folder/initramfs.gz"
