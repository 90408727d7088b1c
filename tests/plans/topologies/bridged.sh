#!/bin/sh -e
ip netns add tb-left
ip netns add tb-virtual
ip netns add tb-physical
ip netns add tb-right
ip netns add tb-uplink.emulator
ip netns add tb-right-port.emulator
ip link add name eth0 address 02:54:56:00:00:00 mtu 1500 netns tb-left type veth peer name eth0 address 02:54:42:00:00:01 mtu 1500 netns tb-virtual
ip link add name eth1 address 02:54:42:00:00:02 mtu 1500 netns tb-virtual type veth peer name end0 mtu 1500 netns tb-uplink.emulator
ip link add name wire0 mtu 1500 netns tb-uplink.emulator type veth peer name wire1 mtu 1500 netns tb-uplink.emulator
ip link add name eth0 address 02:54:42:00:00:03 mtu 1500 netns tb-physical type veth peer name end1 mtu 1500 netns tb-uplink.emulator
ip link add name eth1 address 02:54:42:00:00:04 mtu 1500 netns tb-physical type veth peer name end0 mtu 1500 netns tb-right-port.emulator
ip link add name wire0 mtu 1500 netns tb-right-port.emulator type veth peer name wire1 mtu 1500 netns tb-right-port.emulator
ip link add name eth0 address 02:54:42:00:00:05 mtu 1500 netns tb-right type veth peer name end1 mtu 1500 netns tb-right-port.emulator
ip netns exec tb-left sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-left link add vm0 mtu 1500 type bridge stp_state 0 mcast_snooping 0
ip -n tb-left tuntap add dev tap0 mode tap
ip -n tb-left link set tap0 mtu 1500
ip -n tb-left link set eth0 master vm0
ip -n tb-left link set tap0 master vm0
ip -n tb-left link set eth0 up
ip -n tb-left link set tap0 up
ip -n tb-left link set vm0 up
ip netns exec tb-virtual sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-virtual link add br0 type bridge stp_state 0 mcast_snooping 0
ip -n tb-virtual link set eth0 master br0
ip -n tb-virtual link set eth1 master br0
ip -n tb-virtual link set br0 up
ip -n tb-virtual link set lo up
ip -n tb-virtual link set eth0 up
ip -n tb-virtual link set eth1 up
ip netns exec tb-physical sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-physical link add br0 type bridge stp_state 0 mcast_snooping 0
ip -n tb-physical link set eth0 master br0
ip -n tb-physical link set eth1 master br0
ip -n tb-physical link set br0 up
ip -n tb-physical link set lo up
ip -n tb-physical link set eth0 up
ip -n tb-physical link set eth1 up
ip netns exec tb-right sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-right sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-right sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-right sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-right address add 10.0.0.2/24 dev eth0
ip -n tb-right link set lo up
ip -n tb-right link set eth0 up
ip -n tb-right neighbour replace 10.0.0.1 lladdr 02:54:42:00:00:00 dev eth0 nud permanent
ip netns exec tb-right ethtool -K eth0 gro on
ip netns exec tb-right sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-right sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-uplink.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-right-port.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-uplink.emulator link set end0 up
ip -n tb-uplink.emulator link set end1 up
ip -n tb-uplink.emulator link set wire0 up
ip -n tb-uplink.emulator link set wire1 up
ip -n tb-right-port.emulator link set end0 up
ip -n tb-right-port.emulator link set end1 up
ip -n tb-right-port.emulator link set wire0 up
ip -n tb-right-port.emulator link set wire1 up
ip netns exec tb-uplink.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-uplink.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-uplink.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-uplink.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-uplink.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 35us
tc -n tb-uplink.emulator qdisc add dev end1 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
tc -n tb-uplink.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 35us
tc -n tb-uplink.emulator qdisc add dev end0 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
ip netns exec tb-uplink.emulator nft 'add table netdev testbed'
ip netns exec tb-uplink.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-uplink.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-uplink.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-uplink.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-uplink.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-uplink.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-uplink.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-uplink.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-uplink.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-uplink.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-uplink.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-uplink.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-uplink.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-uplink.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-uplink.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-uplink.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-uplink.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-uplink.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-uplink.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-uplink.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-uplink.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-uplink.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-uplink.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-uplink.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-right-port.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-right-port.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-right-port.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-right-port.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-right-port.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 35us
tc -n tb-right-port.emulator qdisc add dev end1 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
tc -n tb-right-port.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 35us
tc -n tb-right-port.emulator qdisc add dev end0 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
ip netns exec tb-right-port.emulator nft 'add table netdev testbed'
ip netns exec tb-right-port.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-right-port.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-right-port.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-right-port.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-right-port.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-right-port.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-right-port.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-right-port.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-right-port.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-right-port.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-right-port.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-right-port.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-right-port.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-right-port.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-right-port.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-right-port.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-right-port.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-right-port.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-right-port.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-right-port.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-right-port.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-right-port.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-right-port.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-right-port.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-left qemu-system-x86_64 -name left,debug-threads=on -nodefaults -no-user-config -no-reboot -display none -serial stdio -machine q35,accel=@accelerator@ -cpu @cpu@ -smp 1 -m 1024M -object rng-random,id=rng,filename=/dev/urandom -device virtio-rng-pci,rng=rng -kernel @kernel/newest@ -initrd @initramfs/host-virtio/newest@ -append 'console=ttyS0 quiet panic=-1 net.ifnames=0 no_timer_check tsc=reliable testbed.root=host testbed.agent=@agent@' -virtfs local,path=@root@,mount_tag=root,security_model=none,readonly=on,multidevs=remap -virtfs local,path=@modules/newest@,mount_tag=modules,security_model=none,readonly=on,multidevs=remap -chardev socket,id=agent,path=/run/vm-left.agent,server=on,wait=off -device virtio-serial-pci -device virtserialport,chardev=agent,name=org.qemu.guest_agent.0 -netdev tap,id=net0,ifname=tap0,script=no,downscript=no -device virtio-net-pci,netdev=net0,mac=02:54:42:00:00:00,romfile= &
# on left: ip link set eth0 mtu 1500
# on left: sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
# on left: sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
# on left: sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
# on left: sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
# on left: sh -c 'echo 2147483647 > /proc/sys/net/core/rmem_max'
# on left: sh -c 'echo 2147483647 > /proc/sys/net/core/wmem_max'
# on left: ip address add 10.0.0.1/24 dev eth0
# on left: ip link set lo up
# on left: ip link set eth0 up
# on left: ip neighbour replace 10.0.0.2 lladdr 02:54:42:00:00:05 dev eth0 nud permanent

# To take it down:
#   ip netns exec tb-right-port.emulator nft 'delete table netdev testbed'
#   tc -n tb-right-port.emulator qdisc del dev end0 root
#   tc -n tb-right-port.emulator qdisc del dev wire1 root
#   tc -n tb-right-port.emulator qdisc del dev end1 root
#   tc -n tb-right-port.emulator qdisc del dev wire0 root
#   ip netns exec tb-uplink.emulator nft 'delete table netdev testbed'
#   tc -n tb-uplink.emulator qdisc del dev end0 root
#   tc -n tb-uplink.emulator qdisc del dev wire1 root
#   tc -n tb-uplink.emulator qdisc del dev end1 root
#   tc -n tb-uplink.emulator qdisc del dev wire0 root
#   ip -n tb-physical link del br0
#   ip -n tb-virtual link del br0
#   ip netns del tb-right-port.emulator
#   ip netns del tb-uplink.emulator
#   ip netns del tb-right
#   ip netns del tb-physical
#   ip netns del tb-virtual
#   ip netns del tb-left
