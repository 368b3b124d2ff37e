#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Makes the files that Xen needs to run guests inside an emulated machine: build-xen-image.sh FOLDER PROGRAM…
# FOLDER/xen is the hypervisor, FOLDER/vmlinuz the kernel of all its domains, FOLDER/dom0.gz the first domain's
# system (busybox, Xen's tools, and in it the guests' own system with the programs). Nothing is installed;
# packages are fetched where the folder lacks them. Set XEN_GUESTS, XEN_VCPUS and XEN_COMMAND for what runs.
tools=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=lab/environment/image.sh
source "$tools/../../environment/image.sh"

# The kernel is the ordinary one: the cloud kernel has no drivers of Xen's first domain.
if [[ ! -e $folder/xen ]]; then
  fetch "Xen with its kernel" linux-image-amd64 xen-hypervisor-4.17-amd64 xen-utils-4.17 xen-utils-common xenstore-utils \
    libxenmisc4.17 libxencall1 libxendevicemodel1 libxenevtchn1 libxenforeignmemory1 libxengnttab1 libxenhypfs1 \
    libxenstore4 libxentoolcore1 libxentoollog1 libyajl2 libnl-3-200 libnl-route-3-200 libfdt1 libuuid1 libgcc-s1
  rm -rf "$folder/packages"
  for package in "$fetched"/*.deb; do dpkg-deb -x "$package" "$folder/packages"; done
  cp "$folder"/packages/boot/vmlinuz-* "$folder/vmlinuz"
  gunzip -c "$folder"/packages/boot/xen-*.gz >"$folder/xen.new"
  mv "$folder/xen.new" "$folder/xen"
fi
packages=$folder/packages
export LD_LIBRARY_PATH=$packages/usr/lib/x86_64-linux-gnu:$packages/lib/x86_64-linux-gnu:$packages/usr/lib/xen-4.17/lib/x86_64-linux-gnu

# add SYSTEM PROGRAM: a program and the libraries that it needs.
add() {
  cp "$2" "$folder/$1/bin/"
  libraries_of "$2" | while read -r library; do
    mkdir -p "$folder/$1/lib/x86_64-linux-gnu" "$folder/$1/lib64"
    case $library in
      */ld-linux*) cp -L "$library" "$folder/$1/lib64/" ;;
      *) cp -L "$library" "$folder/$1/lib/x86_64-linux-gnu/" ;;
    esac
  done
}

of_xen=(dev/pts var/log/xen/console var/lib/xenstored var/run/xen)
make_system "$folder/guest" "$here/init.sh" "${of_xen[@]}"
for program in "${programs[@]}"; do add guest "$program"; done

make_system "$folder/dom0" "$tools/dom0-init.sh" "${of_xen[@]}"
for program in xl xenstored xenconsoled xen-init-dom0; do
  add dom0 "$(find "$packages/usr/lib/xen-4.17" "$packages/usr/sbin" -name "$program" -type f | head -n 1)"
done
# It is loaded when a thread ends, so no program is linked with it.
cp -L "$(ldconfig -p | awk '/libgcc_s.so.1.*x86-64/ {print $NF; exit}')" "$folder/dom0/lib/x86_64-linux-gnu/"
add_modules "$folder/dom0" "$packages/lib/modules" xen-privcmd xen-evtchn xen-gntalloc xen-gntdev xenfs
mkdir -p "$folder/dom0/guest"
pack "$folder/guest" "$folder/dom0/guest/initramfs.gz"
cp "$folder/vmlinuz" "$folder/dom0/guest/vmlinuz"
cat >"$folder/dom0/settings" <<END
guests=${XEN_GUESTS:-2}
vcpus=${XEN_VCPUS:-2}
command='${XEN_COMMAND:-true}'
settling=${XEN_SETTLING:-8}
seconds=${XEN_SECONDS:-8}
END
pack "$folder/dom0" "$folder/dom0.gz"
