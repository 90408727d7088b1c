#!/bin/sh -e
ip netns add tb-new
ip netns add tb-old
ip netns add tb-west
ip netns add tb-east
ip netns add tb-new-sink
ip netns add tb-old-sink
ip netns add tb-middle.emulator
ip link add name eth0 address 02:54:56:00:00:00 mtu 1500 netns tb-new type veth peer name eth0 address 02:54:42:00:00:01 mtu 1500 netns tb-west
ip link add name eth0 address 02:54:56:00:00:02 mtu 1500 netns tb-old type veth peer name eth1 address 02:54:42:00:00:03 mtu 1500 netns tb-west
ip link add name eth2 address 02:54:42:00:00:04 mtu 1500 netns tb-west type veth peer name end0 mtu 1500 netns tb-middle.emulator
ip link add name wire0 mtu 1500 netns tb-middle.emulator type veth peer name wire1 mtu 1500 netns tb-middle.emulator
ip link add name eth0 address 02:54:42:00:00:05 mtu 1500 netns tb-east type veth peer name end1 mtu 1500 netns tb-middle.emulator
ip link add name eth1 address 02:54:42:00:00:06 mtu 1500 netns tb-east type veth peer name eth0 address 02:54:42:00:00:07 mtu 1500 netns tb-new-sink
ip link add name eth2 address 02:54:42:00:00:08 mtu 1500 netns tb-east type veth peer name eth0 address 02:54:42:00:00:09 mtu 1500 netns tb-old-sink
ip netns exec tb-new sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-new link add vm0 mtu 1500 type bridge stp_state 0 mcast_snooping 0
ip -n tb-new tuntap add dev tap0 mode tap
ip -n tb-new link set tap0 mtu 1500
ip -n tb-new link set eth0 master vm0
ip -n tb-new link set tap0 master vm0
ip -n tb-new link set eth0 up
ip -n tb-new link set tap0 up
ip -n tb-new link set vm0 up
ip netns exec tb-old sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-old link add vm0 mtu 1500 type bridge stp_state 0 mcast_snooping 0
ip -n tb-old tuntap add dev tap0 mode tap
ip -n tb-old link set tap0 mtu 1500
ip -n tb-old link set eth0 master vm0
ip -n tb-old link set tap0 master vm0
ip -n tb-old link set eth0 up
ip -n tb-old link set tap0 up
ip -n tb-old link set vm0 up
ip netns exec tb-west sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-west link add br0 type bridge stp_state 0 mcast_snooping 0
ip -n tb-west link set eth0 master br0
ip -n tb-west link set eth1 master br0
ip -n tb-west link set eth2 master br0
ip -n tb-west link set br0 up
ip -n tb-west link set lo up
ip -n tb-west link set eth0 up
ip -n tb-west link set eth1 up
ip -n tb-west link set eth2 up
ip netns exec tb-east sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-east link add br0 type bridge stp_state 0 mcast_snooping 0
ip -n tb-east link set eth0 master br0
ip -n tb-east link set eth1 master br0
ip -n tb-east link set eth2 master br0
ip -n tb-east link set br0 up
ip -n tb-east link set lo up
ip -n tb-east link set eth0 up
ip -n tb-east link set eth1 up
ip -n tb-east link set eth2 up
ip netns exec tb-new-sink sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-new-sink sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-new-sink sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-new-sink sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-new-sink address add 10.0.0.3/24 dev eth0
ip -n tb-new-sink link set lo up
ip -n tb-new-sink link set eth0 up
ip -n tb-new-sink neighbour replace 10.0.0.1 lladdr 02:54:42:00:00:00 dev eth0 nud permanent
ip -n tb-new-sink neighbour replace 10.0.0.2 lladdr 02:54:42:00:00:02 dev eth0 nud permanent
ip -n tb-new-sink neighbour replace 10.0.0.4 lladdr 02:54:42:00:00:09 dev eth0 nud permanent
ip netns exec tb-old-sink sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-old-sink sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-old-sink sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-old-sink sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-old-sink address add 10.0.0.4/24 dev eth0
ip -n tb-old-sink link set lo up
ip -n tb-old-sink link set eth0 up
ip -n tb-old-sink neighbour replace 10.0.0.1 lladdr 02:54:42:00:00:00 dev eth0 nud permanent
ip -n tb-old-sink neighbour replace 10.0.0.2 lladdr 02:54:42:00:00:02 dev eth0 nud permanent
ip -n tb-old-sink neighbour replace 10.0.0.3 lladdr 02:54:42:00:00:07 dev eth0 nud permanent
ip netns exec tb-new ethtool -K eth0 tso off gso off tx-udp-segmentation off gro off
ip netns exec tb-old ethtool -K eth0 tso off gso off tx-udp-segmentation off gro off
ip netns exec tb-east ethtool -K eth1 tso off gso off tx-udp-segmentation off
ip netns exec tb-new-sink ethtool -K eth0 gro on
ip netns exec tb-new-sink sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-new-sink sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-east ethtool -K eth2 tso off gso off tx-udp-segmentation off
ip netns exec tb-old-sink ethtool -K eth0 gro on
ip netns exec tb-old-sink sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-old-sink sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-middle.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-middle.emulator link set end0 up
ip -n tb-middle.emulator link set end1 up
ip -n tb-middle.emulator link set wire0 up
ip -n tb-middle.emulator link set wire1 up
ip netns exec tb-middle.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-middle.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-middle.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-middle.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-middle.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 10000us
tc -n tb-middle.emulator qdisc add dev end1 root handle 2: tbf rate 20000000bit burst 2271 limit 50000
tc -n tb-middle.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 10000us
tc -n tb-middle.emulator qdisc add dev end0 root handle 2: tbf rate 20000000bit burst 2271 limit 50000
ip netns exec tb-middle.emulator nft 'add table netdev testbed'
ip netns exec tb-middle.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-middle.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-middle.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-middle.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-middle.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-middle.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-middle.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-middle.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-middle.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-middle.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-middle.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-middle.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-middle.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-middle.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-middle.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-middle.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-middle.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-middle.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-middle.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-middle.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-middle.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-middle.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-middle.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-middle.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-new qemu-system-x86_64 -name new,debug-threads=on -nodefaults -no-user-config -no-reboot -display none -serial stdio -machine q35,accel=@accelerator@ -cpu @cpu@ -smp 1 -m 256M -object rng-random,id=rng,filename=/dev/urandom -device virtio-rng-pci,rng=rng -kernel @kernel/newest@ -initrd @initramfs/host-virtio/newest@ -append 'console=ttyS0 quiet panic=-1 net.ifnames=0 no_timer_check tsc=reliable testbed.root=host testbed.agent=@agent@' -virtfs local,path=@root@,mount_tag=root,security_model=none,readonly=on,multidevs=remap -virtfs local,path=@modules/newest@,mount_tag=modules,security_model=none,readonly=on,multidevs=remap -chardev socket,id=agent,path=/run/vm-new.agent,server=on,wait=off -device virtio-serial-pci -device virtserialport,chardev=agent,name=org.qemu.guest_agent.0 -netdev tap,id=net0,ifname=tap0,script=no,downscript=no -device virtio-net-pci,netdev=net0,mac=02:54:42:00:00:00,romfile=,gso=off,guest_tso4=off,guest_tso6=off,guest_ecn=off,guest_ufo=off,host_tso4=off,host_tso6=off,host_ecn=off,host_ufo=off &
ip netns exec tb-old qemu-system-x86_64 -name old,debug-threads=on -nodefaults -no-user-config -no-reboot -display none -serial stdio -machine q35,accel=@accelerator@ -cpu @cpu@ -smp 1 -m 256M -object rng-random,id=rng,filename=/dev/urandom -device virtio-rng-pci,rng=rng -kernel @kernel/old@ -initrd @initramfs/host-virtio/old@ -append 'console=ttyS0 quiet panic=-1 net.ifnames=0 no_timer_check tsc=reliable testbed.root=host testbed.agent=@agent@' -virtfs local,path=@root@,mount_tag=root,security_model=none,readonly=on,multidevs=remap -virtfs local,path=@modules/old@,mount_tag=modules,security_model=none,readonly=on,multidevs=remap -chardev socket,id=agent,path=/run/vm-old.agent,server=on,wait=off -device virtio-serial-pci -device virtserialport,chardev=agent,name=org.qemu.guest_agent.0 -netdev tap,id=net0,ifname=tap0,script=no,downscript=no -device virtio-net-pci,netdev=net0,mac=02:54:42:00:00:02,romfile=,gso=off,guest_tso4=off,guest_tso6=off,guest_ecn=off,guest_ufo=off,host_tso4=off,host_tso6=off,host_ecn=off,host_ufo=off &
# on new: ip link set eth0 mtu 1500
# on new: sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
# on new: sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
# on new: sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
# on new: sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
# on new: sh -c 'echo 2147483647 > /proc/sys/net/core/rmem_max'
# on new: sh -c 'echo 2147483647 > /proc/sys/net/core/wmem_max'
# on new: ip address add 10.0.0.1/24 dev eth0
# on new: ip link set lo up
# on new: ip link set eth0 up
# on new: ip neighbour replace 10.0.0.2 lladdr 02:54:42:00:00:02 dev eth0 nud permanent
# on new: ip neighbour replace 10.0.0.3 lladdr 02:54:42:00:00:07 dev eth0 nud permanent
# on new: ip neighbour replace 10.0.0.4 lladdr 02:54:42:00:00:09 dev eth0 nud permanent
# on old: ip link set eth0 mtu 1500
# on old: sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
# on old: sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
# on old: sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
# on old: sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
# on old: sh -c 'echo 2147483647 > /proc/sys/net/core/rmem_max'
# on old: sh -c 'echo 2147483647 > /proc/sys/net/core/wmem_max'
# on old: ip address add 10.0.0.2/24 dev eth0
# on old: ip link set lo up
# on old: ip link set eth0 up
# on old: ip neighbour replace 10.0.0.1 lladdr 02:54:42:00:00:00 dev eth0 nud permanent
# on old: ip neighbour replace 10.0.0.3 lladdr 02:54:42:00:00:07 dev eth0 nud permanent
# on old: ip neighbour replace 10.0.0.4 lladdr 02:54:42:00:00:09 dev eth0 nud permanent
# on new: ethtool -K eth0 tso off gso off tx-udp-segmentation off gro off
# on old: ethtool -K eth0 tso off gso off tx-udp-segmentation off gro off

# To take it down:
#   ip netns exec tb-middle.emulator nft 'delete table netdev testbed'
#   tc -n tb-middle.emulator qdisc del dev end0 root
#   tc -n tb-middle.emulator qdisc del dev wire1 root
#   tc -n tb-middle.emulator qdisc del dev end1 root
#   tc -n tb-middle.emulator qdisc del dev wire0 root
#   ip -n tb-east link del br0
#   ip -n tb-west link del br0
#   ip netns del tb-middle.emulator
#   ip netns del tb-old-sink
#   ip netns del tb-new-sink
#   ip netns del tb-east
#   ip netns del tb-west
#   ip netns del tb-old
#   ip netns del tb-new
