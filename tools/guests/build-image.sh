#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Makes a tiny virtual machine: build-image.sh FOLDER PROGRAM…
# FOLDER/vmlinuz is Debian's cloud kernel, FOLDER/initramfs.gz a system of busybox and the programs, with the
# libraries that they need. Nothing is installed; packages are fetched where the folder lacks the kernel.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
if [[ $# -lt 1 ]]; then
  echo "build-image.sh: give the folder of the image, and the programs that go into it" >&2
  exit 2
fi
folder=$(mkdir -p "$1" && cd "$1" && pwd)
shift
for tool in busybox cpio; do
  if ! command -v "$tool" >/dev/null; then
    echo "build-image.sh: there is no $tool here: apt-get install busybox-static cpio" >&2
    exit 77
  fi
done

if [[ ! -e $folder/vmlinuz ]]; then
  package=$(apt-cache depends linux-image-cloud-amd64 2>/dev/null | awk '/Depends: linux-image/ {print $2; exit}')
  fetched=$(mktemp -d)
  trap 'rm -rf "$fetched"' EXIT
  if [[ -z $package ]] || ! (cd "$fetched" && apt-get download "$package" >/dev/null 2>&1); then
    echo "build-image.sh: the kernel linux-image-cloud-amd64 cannot be fetched: apt-get update, and try again" >&2
    exit 77
  fi
  rm -rf "$folder/kernel"
  dpkg-deb -x "$fetched/$package"_*.deb "$folder/kernel"
  cp "$folder"/kernel/boot/vmlinuz-* "$folder/vmlinuz.new"
  mv "$folder/vmlinuz.new" "$folder/vmlinuz"
fi

root=$folder/root
rm -rf "$root"
mkdir -p "$root"/{bin,dev,proc,sys,run,tmp,lib/modules}
cp "$(command -v busybox)" "$root/bin/busybox"
cp "$here/init.sh" "$root/init"
chmod +x "$root/init"
for program in "$@"; do
  cp "$program" "$root/bin/"
  { ldd "$program" 2>/dev/null || true; } | { grep -o '/[^ ]*' || true; } | while read -r library; do
    mkdir -p "$root$(dirname "$library")"
    cp -L "$library" "$root$library"
  done
done
for module in virtio_ring virtio virtio_pci_modern_dev virtio_pci_legacy_dev virtio_pci virtio_console; do
  file=$(find "$folder/kernel/lib/modules" -name "$module.ko" | head -n 1)
  [[ -z $file ]] && continue  # built into the kernel
  cp "$file" "$root/lib/modules/"
  echo "$module.ko"
done >"$root/lib/modules/order"
(cd "$root" && find . | cpio -o -H newc --quiet | gzip -1) >"$folder/initramfs.gz.new"
mv "$folder/initramfs.gz.new" "$folder/initramfs.gz"
