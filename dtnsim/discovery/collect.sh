#!/bin/sh
# Collects what 'dtnsim discover --from DIR' reads. Changes nothing, needs no root:  sh collect.sh [DIR]
out=${1:-dtnsim-host}; mkdir -p "$out" || exit 1
PATH=$PATH:/usr/sbin:/sbin; LC_ALL=C; export PATH LC_ALL
limit=; command -v timeout >/dev/null 2>&1 && limit="timeout -k 1 10"  # a pool or a mount that hangs
run() { name=$1; shift; command -v "$1" >/dev/null 2>&1 && $limit "$@" </dev/null >"$out/$name" 2>/dev/null; [ -s "$out/$name" ] || rm -f "$out/$name"; }
run hostname uname -n; run kernel uname -r; run lscpu lscpu; run lspci lspci -vv -D; run lsblk lsblk -O -J -b
for f in meminfo mdstat mounts interrupts; do run $f cat /proc/$f; done
run numactl numactl -H; run dmidecode dmidecode -t memory
run zpool-status zpool status -P; run zpool-list zpool list -Hp -o name,capacity,fragmentation; run zfs-get zfs get -Hp -t filesystem recordsize,compression,checksum,sync,mountpoint
run lfs-df lfs df; run tc tc qdisc show; run bonding sh -c 'grep . /proc/net/bonding/*'
run irq sh -c 'grep . /proc/irq/*/smp_affinity_list'
run net sh -c 'for k in speed mtu operstate device/numa_node device/current_link_speed device/current_link_width; do grep . /sys/class/net/*/$k; done; for d in /sys/class/net/*/device; do echo "$d:$(readlink -f "$d")"; done'
run sysctl sysctl net.ipv4.tcp_congestion_control net.ipv4.tcp_rmem net.ipv4.tcp_wmem net.core.rmem_max net.core.wmem_max vm.dirty_ratio vm.dirty_background_ratio vm.dirty_bytes vm.dirty_background_bytes vm.dirty_expire_centisecs
for n in /sys/class/net/*/device; do i=${n%/device}; i=${i##*/}; run "ethtool.$i" ethtool "$i"; run "ethtool-S.$i" ethtool -S "$i"; done
