#!/bin/busybox sh
# SPDX-License-Identifier: Apache-2.0
# The first process of a guest: runs the commands that it reads, prints their results, and powers the machine off.
# Under QEMU it reads and answers through the virtio-serial port "sukima": each line is a command, until "exit".
# Elsewhere the command is on the kernel's command line: sukima.run=COMMAND, with + for blanks.
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
# Programs reserve stacks that are larger than the memory of a guest.
echo 1 >/proc/sys/vm/overcommit_memory
for module in $(cat /lib/modules/order 2>/dev/null); do insmod "/lib/modules/$module"; done
mkdir -p /sys/fs/cgroup
mount -t cgroup2 cgroup /sys/fs/cgroup
echo +cpu >/sys/fs/cgroup/cgroup.subtree_control
for port in /sys/class/virtio-ports/*; do
  if [ "$(cat "$port/name" 2>/dev/null)" = sukima ]; then
    exec 3<>"/dev/${port##*/}"
    echo SUKIMA-UP >&3
    sh <&3 >&3 2>&1
    poweroff -f
  fi
done
for word in $(cat /proc/cmdline); do
  case $word in
    sukima.run=*) run=$(echo "${word#sukima.run=}" | tr + ' ') ;;
  esac
done
echo SUKIMA-BEGIN
sh -c "$run"
echo SUKIMA-END
sleep 0.2
poweroff -f
