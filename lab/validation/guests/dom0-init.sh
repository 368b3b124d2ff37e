#!/bin/busybox sh
# SPDX-License-Identifier: Apache-2.0
# The first process of Xen's first domain: starts the guests, and copies to the console what each of them printed in
# a period of time, and the CPU time that the hypervisor gave it.
/bin/busybox --install -s /bin
export PATH=/bin LD_LIBRARY_PATH=/lib/x86_64-linux-gnu
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mkdir -p /dev/pts
mount -t devpts devpts /dev/pts
mount -t tmpfs run /run
mkdir -p /run/xen /run/lock /var/lib/xen /etc/xen
: >/etc/xen/xl.conf
for module in $(cat /lib/modules/order); do insmod "/lib/modules/$module"; done
mount -t xenfs xenfs /proc/xen
. /settings
xenstored --pid-file /run/xenstored.pid
xen-init-dom0
xenconsoled --log=guest --log-dir=/var/log/xen/console
echo "SUKIMA-UP $(cut -d' ' -f1 /proc/uptime)"
i=1
while [ "$i" -le "$guests" ]; do
  cat >"/run/guest$i.cfg" <<END
name = "guest$i"
type = "pv"
kernel = "/guest/vmlinuz"
ramdisk = "/guest/initramfs.gz"
memory = 160
vcpus = $vcpus
extra = "console=hvc0 quiet panic=-1 sukima.run=$(echo "$command" | tr ' ' +)"
on_poweroff = "destroy"
on_crash = "destroy"
END
  (xl create -q "/run/guest$i.cfg" || echo "SUKIMA-FAILED guest$i") &
  i=$((i + 1))
done
wait

# cpu_times MARK: the CPU time of every virtual CPU, in seconds since its domain began.
cpu_times() {
  stamp=$(cut -d' ' -f1 /proc/uptime)
  xl vcpu-list | while read -r name id vcpu cpu state used rest; do
    case $name in guest*) echo "SUKIMA-$1 $stamp $name $vcpu $used" ;; esac
  done
  i=1
  while [ "$i" -le "$guests" ]; do
    wc -l <"/var/log/xen/console/guest-guest$i.log" >"/run/lines.$1.$i"
    i=$((i + 1))
  done
}

patience=120
begun=0
while [ "$begun" -lt "$guests" ] && [ "$patience" -gt 0 ]; do
  begun=$(grep -l SUKIMA-BEGIN /var/log/xen/console/guest-*.log 2>/dev/null | wc -l)
  sleep 0.5
  patience=$((patience - 1))
done
sleep "$settling"
cpu_times FROM
sleep "$seconds"
cpu_times TO
i=1
while [ "$i" -le "$guests" ]; do
  first=$(cat "/run/lines.FROM.$i")
  last=$(cat "/run/lines.TO.$i")
  sed -n "$((first + 1)),${last}p" "/var/log/xen/console/guest-guest$i.log" | sed "s/^/SUKIMA-SAID guest$i /"
  i=$((i + 1))
done
echo SUKIMA-END
sleep 0.5
poweroff -f
