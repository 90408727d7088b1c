#!/bin/sh -e
ip netns add tb-h1
ip netns add tb-h2
ip netns add tb-h3
ip netns add tb-h4
ip netns add tb-h5
ip netns add tb-h6
ip netns add tb-s1
ip netns add tb-s2
ip netns add tb-s3
ip netns add tb-s4
ip netns add tb-s5
ip netns add tb-s6
ip netns add tb-c0
ip netns add tb-arc-1.emulator
ip netns add tb-arc-2.emulator
ip netns add tb-arc-3.emulator
ip netns add tb-arc-4.emulator
ip netns add tb-arc-5.emulator
ip netns add tb-arc-6.emulator
ip netns add tb-c0.control.emulator
ip netns add tb-c0.control
ip link add name eth0 address 02:54:42:00:00:00 mtu 1500 netns tb-h1 type veth peer name eth0 address 02:54:42:00:00:01 mtu 1500 netns tb-s1
ip link add name eth0 address 02:54:42:00:00:02 mtu 1500 netns tb-h2 type veth peer name eth0 address 02:54:42:00:00:03 mtu 1500 netns tb-s2
ip link add name eth0 address 02:54:42:00:00:04 mtu 1500 netns tb-h3 type veth peer name eth0 address 02:54:42:00:00:05 mtu 1500 netns tb-s3
ip link add name eth0 address 02:54:42:00:00:06 mtu 1500 netns tb-h4 type veth peer name eth0 address 02:54:42:00:00:07 mtu 1500 netns tb-s4
ip link add name eth0 address 02:54:42:00:00:08 mtu 1500 netns tb-h5 type veth peer name eth0 address 02:54:42:00:00:09 mtu 1500 netns tb-s5
ip link add name eth0 address 02:54:42:00:00:0a mtu 1500 netns tb-h6 type veth peer name eth0 address 02:54:42:00:00:0b mtu 1500 netns tb-s6
ip link add name eth1 address 02:54:42:00:00:0c mtu 1500 netns tb-s1 type veth peer name end0 mtu 1500 netns tb-arc-1.emulator
ip link add name wire0 mtu 1500 netns tb-arc-1.emulator type veth peer name wire1 mtu 1500 netns tb-arc-1.emulator
ip link add name eth1 address 02:54:42:00:00:0d mtu 1500 netns tb-s2 type veth peer name end1 mtu 1500 netns tb-arc-1.emulator
ip link add name eth2 address 02:54:42:00:00:0e mtu 1500 netns tb-s2 type veth peer name end0 mtu 1500 netns tb-arc-2.emulator
ip link add name wire0 mtu 1500 netns tb-arc-2.emulator type veth peer name wire1 mtu 1500 netns tb-arc-2.emulator
ip link add name eth1 address 02:54:42:00:00:0f mtu 1500 netns tb-s3 type veth peer name end1 mtu 1500 netns tb-arc-2.emulator
ip link add name eth2 address 02:54:42:00:00:10 mtu 1500 netns tb-s3 type veth peer name end0 mtu 1500 netns tb-arc-3.emulator
ip link add name wire0 mtu 1500 netns tb-arc-3.emulator type veth peer name wire1 mtu 1500 netns tb-arc-3.emulator
ip link add name eth1 address 02:54:42:00:00:11 mtu 1500 netns tb-s4 type veth peer name end1 mtu 1500 netns tb-arc-3.emulator
ip link add name eth2 address 02:54:42:00:00:12 mtu 1500 netns tb-s4 type veth peer name end0 mtu 1500 netns tb-arc-4.emulator
ip link add name wire0 mtu 1500 netns tb-arc-4.emulator type veth peer name wire1 mtu 1500 netns tb-arc-4.emulator
ip link add name eth1 address 02:54:42:00:00:13 mtu 1500 netns tb-s5 type veth peer name end1 mtu 1500 netns tb-arc-4.emulator
ip link add name eth2 address 02:54:42:00:00:14 mtu 1500 netns tb-s5 type veth peer name end0 mtu 1500 netns tb-arc-5.emulator
ip link add name wire0 mtu 1500 netns tb-arc-5.emulator type veth peer name wire1 mtu 1500 netns tb-arc-5.emulator
ip link add name eth1 address 02:54:42:00:00:15 mtu 1500 netns tb-s6 type veth peer name end1 mtu 1500 netns tb-arc-5.emulator
ip link add name eth2 address 02:54:42:00:00:16 mtu 1500 netns tb-s6 type veth peer name end0 mtu 1500 netns tb-arc-6.emulator
ip link add name wire0 mtu 1500 netns tb-arc-6.emulator type veth peer name wire1 mtu 1500 netns tb-arc-6.emulator
ip link add name eth2 address 02:54:42:00:00:17 mtu 1500 netns tb-s1 type veth peer name end1 mtu 1500 netns tb-arc-6.emulator
ip netns exec tb-h1 sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-h1 sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-h1 sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-h1 sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-h1 address add 10.0.0.1/24 dev eth0
ip -n tb-h1 link set lo up
ip -n tb-h1 link set eth0 up
ip -n tb-h1 neighbour replace 10.0.0.2 lladdr 02:54:42:00:00:02 dev eth0 nud permanent
ip -n tb-h1 neighbour replace 10.0.0.3 lladdr 02:54:42:00:00:04 dev eth0 nud permanent
ip -n tb-h1 neighbour replace 10.0.0.4 lladdr 02:54:42:00:00:06 dev eth0 nud permanent
ip -n tb-h1 neighbour replace 10.0.0.5 lladdr 02:54:42:00:00:08 dev eth0 nud permanent
ip -n tb-h1 neighbour replace 10.0.0.6 lladdr 02:54:42:00:00:0a dev eth0 nud permanent
ip netns exec tb-h2 sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-h2 sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-h2 sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-h2 sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-h2 address add 10.0.0.2/24 dev eth0
ip -n tb-h2 link set lo up
ip -n tb-h2 link set eth0 up
ip -n tb-h2 neighbour replace 10.0.0.1 lladdr 02:54:42:00:00:00 dev eth0 nud permanent
ip -n tb-h2 neighbour replace 10.0.0.3 lladdr 02:54:42:00:00:04 dev eth0 nud permanent
ip -n tb-h2 neighbour replace 10.0.0.4 lladdr 02:54:42:00:00:06 dev eth0 nud permanent
ip -n tb-h2 neighbour replace 10.0.0.5 lladdr 02:54:42:00:00:08 dev eth0 nud permanent
ip -n tb-h2 neighbour replace 10.0.0.6 lladdr 02:54:42:00:00:0a dev eth0 nud permanent
ip netns exec tb-h3 sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-h3 sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-h3 sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-h3 sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-h3 address add 10.0.0.3/24 dev eth0
ip -n tb-h3 link set lo up
ip -n tb-h3 link set eth0 up
ip -n tb-h3 neighbour replace 10.0.0.1 lladdr 02:54:42:00:00:00 dev eth0 nud permanent
ip -n tb-h3 neighbour replace 10.0.0.2 lladdr 02:54:42:00:00:02 dev eth0 nud permanent
ip -n tb-h3 neighbour replace 10.0.0.4 lladdr 02:54:42:00:00:06 dev eth0 nud permanent
ip -n tb-h3 neighbour replace 10.0.0.5 lladdr 02:54:42:00:00:08 dev eth0 nud permanent
ip -n tb-h3 neighbour replace 10.0.0.6 lladdr 02:54:42:00:00:0a dev eth0 nud permanent
ip netns exec tb-h4 sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-h4 sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-h4 sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-h4 sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-h4 address add 10.0.0.4/24 dev eth0
ip -n tb-h4 link set lo up
ip -n tb-h4 link set eth0 up
ip -n tb-h4 neighbour replace 10.0.0.1 lladdr 02:54:42:00:00:00 dev eth0 nud permanent
ip -n tb-h4 neighbour replace 10.0.0.2 lladdr 02:54:42:00:00:02 dev eth0 nud permanent
ip -n tb-h4 neighbour replace 10.0.0.3 lladdr 02:54:42:00:00:04 dev eth0 nud permanent
ip -n tb-h4 neighbour replace 10.0.0.5 lladdr 02:54:42:00:00:08 dev eth0 nud permanent
ip -n tb-h4 neighbour replace 10.0.0.6 lladdr 02:54:42:00:00:0a dev eth0 nud permanent
ip netns exec tb-h5 sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-h5 sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-h5 sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-h5 sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-h5 address add 10.0.0.5/24 dev eth0
ip -n tb-h5 link set lo up
ip -n tb-h5 link set eth0 up
ip -n tb-h5 neighbour replace 10.0.0.1 lladdr 02:54:42:00:00:00 dev eth0 nud permanent
ip -n tb-h5 neighbour replace 10.0.0.2 lladdr 02:54:42:00:00:02 dev eth0 nud permanent
ip -n tb-h5 neighbour replace 10.0.0.3 lladdr 02:54:42:00:00:04 dev eth0 nud permanent
ip -n tb-h5 neighbour replace 10.0.0.4 lladdr 02:54:42:00:00:06 dev eth0 nud permanent
ip -n tb-h5 neighbour replace 10.0.0.6 lladdr 02:54:42:00:00:0a dev eth0 nud permanent
ip netns exec tb-h6 sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-h6 sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-h6 sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-h6 sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-h6 address add 10.0.0.6/24 dev eth0
ip -n tb-h6 link set lo up
ip -n tb-h6 link set eth0 up
ip -n tb-h6 neighbour replace 10.0.0.1 lladdr 02:54:42:00:00:00 dev eth0 nud permanent
ip -n tb-h6 neighbour replace 10.0.0.2 lladdr 02:54:42:00:00:02 dev eth0 nud permanent
ip -n tb-h6 neighbour replace 10.0.0.3 lladdr 02:54:42:00:00:04 dev eth0 nud permanent
ip -n tb-h6 neighbour replace 10.0.0.4 lladdr 02:54:42:00:00:06 dev eth0 nud permanent
ip -n tb-h6 neighbour replace 10.0.0.5 lladdr 02:54:42:00:00:08 dev eth0 nud permanent
ip netns exec tb-s1 sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-s1 link set lo up
ip -n tb-s1 link set eth0 up
ip -n tb-s1 link set eth1 up
ip -n tb-s1 link set eth2 up
ip netns exec tb-s2 sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-s2 link set lo up
ip -n tb-s2 link set eth0 up
ip -n tb-s2 link set eth1 up
ip -n tb-s2 link set eth2 up
ip netns exec tb-s3 sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-s3 link set lo up
ip -n tb-s3 link set eth0 up
ip -n tb-s3 link set eth1 up
ip -n tb-s3 link set eth2 up
ip netns exec tb-s4 sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-s4 link set lo up
ip -n tb-s4 link set eth0 up
ip -n tb-s4 link set eth1 up
ip -n tb-s4 link set eth2 up
ip netns exec tb-s5 sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-s5 link set lo up
ip -n tb-s5 link set eth0 up
ip -n tb-s5 link set eth1 up
ip -n tb-s5 link set eth2 up
ip netns exec tb-s6 sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-s6 link set lo up
ip -n tb-s6 link set eth0 up
ip -n tb-s6 link set eth1 up
ip -n tb-s6 link set eth2 up
ip netns exec tb-c0 sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-c0 link set lo up
ip netns exec tb-s1 ethtool -K eth0 tso off gso off tx-udp-segmentation off
ip netns exec tb-h1 ethtool -K eth0 gro on
ip netns exec tb-h1 sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-h1 sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-s2 ethtool -K eth0 tso off gso off tx-udp-segmentation off
ip netns exec tb-h2 ethtool -K eth0 gro on
ip netns exec tb-h2 sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-h2 sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-s3 ethtool -K eth0 tso off gso off tx-udp-segmentation off
ip netns exec tb-h3 ethtool -K eth0 gro on
ip netns exec tb-h3 sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-h3 sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-s4 ethtool -K eth0 tso off gso off tx-udp-segmentation off
ip netns exec tb-h4 ethtool -K eth0 gro on
ip netns exec tb-h4 sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-h4 sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-s5 ethtool -K eth0 tso off gso off tx-udp-segmentation off
ip netns exec tb-h5 ethtool -K eth0 gro on
ip netns exec tb-h5 sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-h5 sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-s6 ethtool -K eth0 tso off gso off tx-udp-segmentation off
ip netns exec tb-h6 ethtool -K eth0 gro on
ip netns exec tb-h6 sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-h6 sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip link add name ctl0 address 02:54:43:00:00:02 mtu 1500 netns tb-s1 type veth peer name port1 mtu 1500 netns tb-c0.control
ip link add name ctl0 address 02:54:43:00:00:03 mtu 1500 netns tb-s2 type veth peer name port2 mtu 1500 netns tb-c0.control
ip link add name ctl0 address 02:54:43:00:00:04 mtu 1500 netns tb-s3 type veth peer name port3 mtu 1500 netns tb-c0.control
ip link add name ctl0 address 02:54:43:00:00:05 mtu 1500 netns tb-s4 type veth peer name port4 mtu 1500 netns tb-c0.control
ip link add name ctl0 address 02:54:43:00:00:06 mtu 1500 netns tb-s5 type veth peer name port5 mtu 1500 netns tb-c0.control
ip link add name ctl0 address 02:54:43:00:00:07 mtu 1500 netns tb-s6 type veth peer name port6 mtu 1500 netns tb-c0.control
ip link add name uplink mtu 1500 netns tb-c0.control type veth peer name end0 mtu 1500 netns tb-c0.control.emulator
ip link add name wire0 mtu 1500 netns tb-c0.control.emulator type veth peer name wire1 mtu 1500 netns tb-c0.control.emulator
ip link add name end1 mtu 1500 netns tb-c0.control.emulator type veth peer name ctl0 address 02:54:43:00:00:01 mtu 1500 netns tb-c0
ip netns exec tb-c0.control sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-c0.control link add br0 type bridge stp_state 0 mcast_snooping 0
ip -n tb-c0.control link set uplink master br0
ip -n tb-c0.control link set port1 master br0
ip -n tb-c0.control link set port2 master br0
ip -n tb-c0.control link set port3 master br0
ip -n tb-c0.control link set port4 master br0
ip -n tb-c0.control link set port5 master br0
ip -n tb-c0.control link set port6 master br0
ip -n tb-c0.control link set br0 up
ip -n tb-c0.control link set uplink up
ip -n tb-c0.control link set port1 up
ip -n tb-c0.control link set port2 up
ip -n tb-c0.control link set port3 up
ip -n tb-c0.control link set port4 up
ip -n tb-c0.control link set port5 up
ip -n tb-c0.control link set port6 up
ip -n tb-c0 address add 198.18.0.1/15 dev ctl0
ip -n tb-c0 link set ctl0 up
ip -n tb-c0 neighbour replace 198.18.0.2 lladdr 02:54:43:00:00:02 dev ctl0 nud permanent
ip -n tb-c0 neighbour replace 198.18.0.3 lladdr 02:54:43:00:00:03 dev ctl0 nud permanent
ip -n tb-c0 neighbour replace 198.18.0.4 lladdr 02:54:43:00:00:04 dev ctl0 nud permanent
ip -n tb-c0 neighbour replace 198.18.0.5 lladdr 02:54:43:00:00:05 dev ctl0 nud permanent
ip -n tb-c0 neighbour replace 198.18.0.6 lladdr 02:54:43:00:00:06 dev ctl0 nud permanent
ip -n tb-c0 neighbour replace 198.18.0.7 lladdr 02:54:43:00:00:07 dev ctl0 nud permanent
ip -n tb-s1 address add 198.18.0.2/15 dev ctl0
ip -n tb-s1 link set ctl0 up
ip -n tb-s1 neighbour replace 198.18.0.1 lladdr 02:54:43:00:00:01 dev ctl0 nud permanent
ip -n tb-s2 address add 198.18.0.3/15 dev ctl0
ip -n tb-s2 link set ctl0 up
ip -n tb-s2 neighbour replace 198.18.0.1 lladdr 02:54:43:00:00:01 dev ctl0 nud permanent
ip -n tb-s3 address add 198.18.0.4/15 dev ctl0
ip -n tb-s3 link set ctl0 up
ip -n tb-s3 neighbour replace 198.18.0.1 lladdr 02:54:43:00:00:01 dev ctl0 nud permanent
ip -n tb-s4 address add 198.18.0.5/15 dev ctl0
ip -n tb-s4 link set ctl0 up
ip -n tb-s4 neighbour replace 198.18.0.1 lladdr 02:54:43:00:00:01 dev ctl0 nud permanent
ip -n tb-s5 address add 198.18.0.6/15 dev ctl0
ip -n tb-s5 link set ctl0 up
ip -n tb-s5 neighbour replace 198.18.0.1 lladdr 02:54:43:00:00:01 dev ctl0 nud permanent
ip -n tb-s6 address add 198.18.0.7/15 dev ctl0
ip -n tb-s6 link set ctl0 up
ip -n tb-s6 neighbour replace 198.18.0.1 lladdr 02:54:43:00:00:01 dev ctl0 nud permanent
ip netns exec tb-arc-1.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-arc-2.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-arc-3.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-arc-4.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-arc-5.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-arc-6.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-c0.control.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-arc-1.emulator link set end0 up
ip -n tb-arc-1.emulator link set end1 up
ip -n tb-arc-1.emulator link set wire0 up
ip -n tb-arc-1.emulator link set wire1 up
ip -n tb-arc-2.emulator link set end0 up
ip -n tb-arc-2.emulator link set end1 up
ip -n tb-arc-2.emulator link set wire0 up
ip -n tb-arc-2.emulator link set wire1 up
ip -n tb-arc-3.emulator link set end0 up
ip -n tb-arc-3.emulator link set end1 up
ip -n tb-arc-3.emulator link set wire0 up
ip -n tb-arc-3.emulator link set wire1 up
ip -n tb-arc-4.emulator link set end0 up
ip -n tb-arc-4.emulator link set end1 up
ip -n tb-arc-4.emulator link set wire0 up
ip -n tb-arc-4.emulator link set wire1 up
ip -n tb-arc-5.emulator link set end0 up
ip -n tb-arc-5.emulator link set end1 up
ip -n tb-arc-5.emulator link set wire0 up
ip -n tb-arc-5.emulator link set wire1 up
ip -n tb-arc-6.emulator link set end0 up
ip -n tb-arc-6.emulator link set end1 up
ip -n tb-arc-6.emulator link set wire0 up
ip -n tb-arc-6.emulator link set wire1 up
ip -n tb-c0.control.emulator link set end0 up
ip -n tb-c0.control.emulator link set end1 up
ip -n tb-c0.control.emulator link set wire0 up
ip -n tb-c0.control.emulator link set wire1 up
ip netns exec tb-arc-1.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-arc-1.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-arc-1.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-arc-1.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-arc-1.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 1000us
tc -n tb-arc-1.emulator qdisc add dev end1 root handle 2: tbf rate 100000000bit burst 2271 limit 151400
tc -n tb-arc-1.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 1000us
tc -n tb-arc-1.emulator qdisc add dev end0 root handle 2: tbf rate 100000000bit burst 2271 limit 151400
ip netns exec tb-arc-1.emulator nft 'add table netdev testbed'
ip netns exec tb-arc-1.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-arc-1.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-arc-1.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-arc-1.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-arc-1.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-arc-1.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-arc-1.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-arc-1.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-arc-1.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-arc-1.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-arc-1.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-arc-1.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-arc-1.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-arc-1.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-arc-1.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-arc-1.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-arc-1.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-arc-1.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-arc-1.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-arc-1.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-arc-1.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-arc-1.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-arc-1.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-arc-1.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-arc-2.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-arc-2.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-arc-2.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-arc-2.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-arc-2.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 1000us
tc -n tb-arc-2.emulator qdisc add dev end1 root handle 2: tbf rate 100000000bit burst 2271 limit 151400
tc -n tb-arc-2.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 1000us
tc -n tb-arc-2.emulator qdisc add dev end0 root handle 2: tbf rate 100000000bit burst 2271 limit 151400
ip netns exec tb-arc-2.emulator nft 'add table netdev testbed'
ip netns exec tb-arc-2.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-arc-2.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-arc-2.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-arc-2.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-arc-2.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-arc-2.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-arc-2.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-arc-2.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-arc-2.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-arc-2.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-arc-2.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-arc-2.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-arc-2.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-arc-2.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-arc-2.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-arc-2.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-arc-2.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-arc-2.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-arc-2.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-arc-2.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-arc-2.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-arc-2.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-arc-2.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-arc-2.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-arc-3.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-arc-3.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-arc-3.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-arc-3.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-arc-3.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 1000us
tc -n tb-arc-3.emulator qdisc add dev end1 root handle 2: tbf rate 100000000bit burst 2271 limit 151400
tc -n tb-arc-3.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 1000us
tc -n tb-arc-3.emulator qdisc add dev end0 root handle 2: tbf rate 100000000bit burst 2271 limit 151400
ip netns exec tb-arc-3.emulator nft 'add table netdev testbed'
ip netns exec tb-arc-3.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-arc-3.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-arc-3.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-arc-3.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-arc-3.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-arc-3.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-arc-3.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-arc-3.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-arc-3.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-arc-3.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-arc-3.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-arc-3.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-arc-3.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-arc-3.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-arc-3.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-arc-3.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-arc-3.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-arc-3.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-arc-3.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-arc-3.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-arc-3.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-arc-3.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-arc-3.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-arc-3.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-arc-4.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-arc-4.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-arc-4.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-arc-4.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-arc-4.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 1000us
tc -n tb-arc-4.emulator qdisc add dev end1 root handle 2: tbf rate 100000000bit burst 2271 limit 151400
tc -n tb-arc-4.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 1000us
tc -n tb-arc-4.emulator qdisc add dev end0 root handle 2: tbf rate 100000000bit burst 2271 limit 151400
ip netns exec tb-arc-4.emulator nft 'add table netdev testbed'
ip netns exec tb-arc-4.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-arc-4.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-arc-4.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-arc-4.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-arc-4.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-arc-4.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-arc-4.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-arc-4.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-arc-4.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-arc-4.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-arc-4.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-arc-4.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-arc-4.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-arc-4.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-arc-4.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-arc-4.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-arc-4.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-arc-4.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-arc-4.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-arc-4.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-arc-4.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-arc-4.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-arc-4.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-arc-4.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-arc-5.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-arc-5.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-arc-5.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-arc-5.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-arc-5.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 1000us
tc -n tb-arc-5.emulator qdisc add dev end1 root handle 2: tbf rate 100000000bit burst 2271 limit 151400
tc -n tb-arc-5.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 1000us
tc -n tb-arc-5.emulator qdisc add dev end0 root handle 2: tbf rate 100000000bit burst 2271 limit 151400
ip netns exec tb-arc-5.emulator nft 'add table netdev testbed'
ip netns exec tb-arc-5.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-arc-5.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-arc-5.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-arc-5.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-arc-5.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-arc-5.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-arc-5.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-arc-5.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-arc-5.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-arc-5.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-arc-5.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-arc-5.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-arc-5.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-arc-5.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-arc-5.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-arc-5.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-arc-5.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-arc-5.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-arc-5.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-arc-5.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-arc-5.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-arc-5.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-arc-5.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-arc-5.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-arc-6.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-arc-6.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-arc-6.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-arc-6.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-arc-6.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 1000us
tc -n tb-arc-6.emulator qdisc add dev end1 root handle 2: tbf rate 100000000bit burst 2271 limit 151400
tc -n tb-arc-6.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 1000us
tc -n tb-arc-6.emulator qdisc add dev end0 root handle 2: tbf rate 100000000bit burst 2271 limit 151400
ip netns exec tb-arc-6.emulator nft 'add table netdev testbed'
ip netns exec tb-arc-6.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-arc-6.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-arc-6.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-arc-6.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-arc-6.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-arc-6.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-arc-6.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-arc-6.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-arc-6.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-arc-6.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-arc-6.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-arc-6.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-arc-6.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-arc-6.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-arc-6.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-arc-6.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-arc-6.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-arc-6.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-arc-6.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-arc-6.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-arc-6.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-arc-6.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-arc-6.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-arc-6.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-c0.control.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-c0.control.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-c0.control.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-c0.control.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-c0.control.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 5000us
tc -n tb-c0.control.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 5000us
ip netns exec tb-c0.control.emulator nft 'add table netdev testbed'
ip netns exec tb-c0.control.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-c0.control.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-c0.control.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-c0.control.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-c0.control.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-c0.control.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-c0.control.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-c0.control.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-c0.control.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-c0.control.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-c0.control.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-c0.control.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-c0.control.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-c0.control.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-c0.control.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-c0.control.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-c0.control.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-c0.control.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-c0.control.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-c0.control.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-c0.control.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-c0.control.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-c0.control.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-c0.control.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
mkdir -p /run/tb-ovs/s1
ip netns exec tb-s1 env OVS_RUNDIR=/run/tb-ovs/s1 ovsdb-tool create /run/tb-ovs/s1/conf.db /usr/share/openvswitch/vswitch.ovsschema
ip netns exec tb-s1 env OVS_RUNDIR=/run/tb-ovs/s1 ovsdb-server --remote=punix:/run/tb-ovs/s1/db.sock --detach --no-chdir --pidfile --log-file=/run/tb-ovs/s1/ovsdb-server.log -vconsole:off -vsyslog:off /run/tb-ovs/s1/conf.db
mkdir -p /run/tb-ovs/s2
ip netns exec tb-s2 env OVS_RUNDIR=/run/tb-ovs/s2 ovsdb-tool create /run/tb-ovs/s2/conf.db /usr/share/openvswitch/vswitch.ovsschema
ip netns exec tb-s2 env OVS_RUNDIR=/run/tb-ovs/s2 ovsdb-server --remote=punix:/run/tb-ovs/s2/db.sock --detach --no-chdir --pidfile --log-file=/run/tb-ovs/s2/ovsdb-server.log -vconsole:off -vsyslog:off /run/tb-ovs/s2/conf.db
mkdir -p /run/tb-ovs/s3
ip netns exec tb-s3 env OVS_RUNDIR=/run/tb-ovs/s3 ovsdb-tool create /run/tb-ovs/s3/conf.db /usr/share/openvswitch/vswitch.ovsschema
ip netns exec tb-s3 env OVS_RUNDIR=/run/tb-ovs/s3 ovsdb-server --remote=punix:/run/tb-ovs/s3/db.sock --detach --no-chdir --pidfile --log-file=/run/tb-ovs/s3/ovsdb-server.log -vconsole:off -vsyslog:off /run/tb-ovs/s3/conf.db
mkdir -p /run/tb-ovs/s4
ip netns exec tb-s4 env OVS_RUNDIR=/run/tb-ovs/s4 ovsdb-tool create /run/tb-ovs/s4/conf.db /usr/share/openvswitch/vswitch.ovsschema
ip netns exec tb-s4 env OVS_RUNDIR=/run/tb-ovs/s4 ovsdb-server --remote=punix:/run/tb-ovs/s4/db.sock --detach --no-chdir --pidfile --log-file=/run/tb-ovs/s4/ovsdb-server.log -vconsole:off -vsyslog:off /run/tb-ovs/s4/conf.db
mkdir -p /run/tb-ovs/s5
ip netns exec tb-s5 env OVS_RUNDIR=/run/tb-ovs/s5 ovsdb-tool create /run/tb-ovs/s5/conf.db /usr/share/openvswitch/vswitch.ovsschema
ip netns exec tb-s5 env OVS_RUNDIR=/run/tb-ovs/s5 ovsdb-server --remote=punix:/run/tb-ovs/s5/db.sock --detach --no-chdir --pidfile --log-file=/run/tb-ovs/s5/ovsdb-server.log -vconsole:off -vsyslog:off /run/tb-ovs/s5/conf.db
mkdir -p /run/tb-ovs/s6
ip netns exec tb-s6 env OVS_RUNDIR=/run/tb-ovs/s6 ovsdb-tool create /run/tb-ovs/s6/conf.db /usr/share/openvswitch/vswitch.ovsschema
ip netns exec tb-s6 env OVS_RUNDIR=/run/tb-ovs/s6 ovsdb-server --remote=punix:/run/tb-ovs/s6/db.sock --detach --no-chdir --pidfile --log-file=/run/tb-ovs/s6/ovsdb-server.log -vconsole:off -vsyslog:off /run/tb-ovs/s6/conf.db
mkdir -p /run/tb-ovs/c0
printf %s '{"app": "static", "is_ours": true, "listen": ["198.18.0.1", 6653], "names": {"1": "s1", "2": "s2", "3": "s3", "4": "s4", "5": "s5", "6": "s6"}, "switches": {"1": {"flood": [1, 2, 3], "ways": {"02:54:42:00:00:00": 1, "02:54:42:00:00:02": 2, "02:54:42:00:00:04": 2, "02:54:42:00:00:06": 2, "02:54:42:00:00:08": 3, "02:54:42:00:00:0a": 3}}, "2": {"flood": [1, 2, 3], "ways": {"02:54:42:00:00:00": 2, "02:54:42:00:00:02": 1, "02:54:42:00:00:04": 3, "02:54:42:00:00:06": 3, "02:54:42:00:00:08": 2, "02:54:42:00:00:0a": 2}}, "3": {"flood": [1, 2, 3], "ways": {"02:54:42:00:00:00": 2, "02:54:42:00:00:02": 2, "02:54:42:00:00:04": 1, "02:54:42:00:00:06": 3, "02:54:42:00:00:08": 3, "02:54:42:00:00:0a": 3}}, "4": {"flood": [1, 2], "ways": {"02:54:42:00:00:00": 2, "02:54:42:00:00:02": 2, "02:54:42:00:00:04": 2, "02:54:42:00:00:06": 1, "02:54:42:00:00:08": 3, "02:54:42:00:00:0a": 3}}, "5": {"flood": [1, 3], "ways": {"02:54:42:00:00:00": 3, "02:54:42:00:00:02": 3, "02:54:42:00:00:04": 2, "02:54:42:00:00:06": 2, "02:54:42:00:00:08": 1, "02:54:42:00:00:0a": 3}}, "6": {"flood": [1, 2, 3], "ways": {"02:54:42:00:00:00": 3, "02:54:42:00:00:02": 3, "02:54:42:00:00:04": 3, "02:54:42:00:00:06": 2, "02:54:42:00:00:08": 2, "02:54:42:00:00:0a": 1}}}, "waits": false}
' | tee /run/tb-ovs/c0/told.json > /dev/null
ip netns exec tb-c0 python3 -m testbed.agent.controller /run/tb-ovs/c0 &
awk '$1 < 10 { system("sleep " 10 - $1) }' /proc/uptime
ip netns exec tb-s1 env OVS_RUNDIR=/run/tb-ovs/s1 ovs-vswitchd --detach --no-chdir --pidfile --log-file=/run/tb-ovs/s1/ovs-vswitchd.log -vconsole:off -vsyslog:off
ip netns exec tb-s1 env OVS_RUNDIR=/run/tb-ovs/s1 ovs-vsctl --timeout=30 add-br br0 -- set bridge br0 datapath_type=system fail_mode=secure protocols=OpenFlow10,OpenFlow11,OpenFlow12,OpenFlow13,OpenFlow14,OpenFlow15 other_config:datapath-id=0000000000000001 -- add-port br0 eth0 -- set interface eth0 ofport_request=1 -- add-port br0 eth1 -- set interface eth1 ofport_request=2 -- add-port br0 eth2 -- set interface eth2 ofport_request=3 -- set-controller br0 tcp:198.18.0.1:6653 -- set controller br0 connection_mode=out-of-band max_backoff=1000
ip netns exec tb-s2 env OVS_RUNDIR=/run/tb-ovs/s2 ovs-vswitchd --detach --no-chdir --pidfile --log-file=/run/tb-ovs/s2/ovs-vswitchd.log -vconsole:off -vsyslog:off
ip netns exec tb-s2 env OVS_RUNDIR=/run/tb-ovs/s2 ovs-vsctl --timeout=30 add-br br0 -- set bridge br0 datapath_type=system fail_mode=secure protocols=OpenFlow10,OpenFlow11,OpenFlow12,OpenFlow13,OpenFlow14,OpenFlow15 other_config:datapath-id=0000000000000002 -- add-port br0 eth0 -- set interface eth0 ofport_request=1 -- add-port br0 eth1 -- set interface eth1 ofport_request=2 -- add-port br0 eth2 -- set interface eth2 ofport_request=3 -- set-controller br0 tcp:198.18.0.1:6653 -- set controller br0 connection_mode=out-of-band max_backoff=1000
ip netns exec tb-s3 env OVS_RUNDIR=/run/tb-ovs/s3 ovs-vswitchd --detach --no-chdir --pidfile --log-file=/run/tb-ovs/s3/ovs-vswitchd.log -vconsole:off -vsyslog:off
ip netns exec tb-s3 env OVS_RUNDIR=/run/tb-ovs/s3 ovs-vsctl --timeout=30 add-br br0 -- set bridge br0 datapath_type=system fail_mode=secure protocols=OpenFlow10,OpenFlow11,OpenFlow12,OpenFlow13,OpenFlow14,OpenFlow15 other_config:datapath-id=0000000000000003 -- add-port br0 eth0 -- set interface eth0 ofport_request=1 -- add-port br0 eth1 -- set interface eth1 ofport_request=2 -- add-port br0 eth2 -- set interface eth2 ofport_request=3 -- set-controller br0 tcp:198.18.0.1:6653 -- set controller br0 connection_mode=out-of-band max_backoff=1000
ip netns exec tb-s4 env OVS_RUNDIR=/run/tb-ovs/s4 ovs-vswitchd --detach --no-chdir --pidfile --log-file=/run/tb-ovs/s4/ovs-vswitchd.log -vconsole:off -vsyslog:off
ip netns exec tb-s4 env OVS_RUNDIR=/run/tb-ovs/s4 ovs-vsctl --timeout=30 add-br br0 -- set bridge br0 datapath_type=system fail_mode=secure protocols=OpenFlow10,OpenFlow11,OpenFlow12,OpenFlow13,OpenFlow14,OpenFlow15 other_config:datapath-id=0000000000000004 -- add-port br0 eth0 -- set interface eth0 ofport_request=1 -- add-port br0 eth1 -- set interface eth1 ofport_request=2 -- add-port br0 eth2 -- set interface eth2 ofport_request=3 -- set-controller br0 tcp:198.18.0.1:6653 -- set controller br0 connection_mode=out-of-band max_backoff=1000
ip netns exec tb-s5 env OVS_RUNDIR=/run/tb-ovs/s5 ovs-vswitchd --detach --no-chdir --pidfile --log-file=/run/tb-ovs/s5/ovs-vswitchd.log -vconsole:off -vsyslog:off
ip netns exec tb-s5 env OVS_RUNDIR=/run/tb-ovs/s5 ovs-vsctl --timeout=30 add-br br0 -- set bridge br0 datapath_type=system fail_mode=secure protocols=OpenFlow10,OpenFlow11,OpenFlow12,OpenFlow13,OpenFlow14,OpenFlow15 other_config:datapath-id=0000000000000005 -- add-port br0 eth0 -- set interface eth0 ofport_request=1 -- add-port br0 eth1 -- set interface eth1 ofport_request=2 -- add-port br0 eth2 -- set interface eth2 ofport_request=3 -- set-controller br0 tcp:198.18.0.1:6653 -- set controller br0 connection_mode=out-of-band max_backoff=1000
ip netns exec tb-s6 env OVS_RUNDIR=/run/tb-ovs/s6 ovs-vswitchd --detach --no-chdir --pidfile --log-file=/run/tb-ovs/s6/ovs-vswitchd.log -vconsole:off -vsyslog:off
ip netns exec tb-s6 env OVS_RUNDIR=/run/tb-ovs/s6 ovs-vsctl --timeout=30 add-br br0 -- set bridge br0 datapath_type=system fail_mode=secure protocols=OpenFlow10,OpenFlow11,OpenFlow12,OpenFlow13,OpenFlow14,OpenFlow15 other_config:datapath-id=0000000000000006 -- add-port br0 eth0 -- set interface eth0 ofport_request=1 -- add-port br0 eth1 -- set interface eth1 ofport_request=2 -- add-port br0 eth2 -- set interface eth2 ofport_request=3 -- set-controller br0 tcp:198.18.0.1:6653 -- set controller br0 connection_mode=out-of-band max_backoff=1000
ip netns exec tb-s1 env OVS_RUNDIR=/run/tb-ovs/s1 ovs-vsctl --timeout=30 wait-until controller br0 is_connected=true
ip netns exec tb-s2 env OVS_RUNDIR=/run/tb-ovs/s2 ovs-vsctl --timeout=30 wait-until controller br0 is_connected=true
ip netns exec tb-s3 env OVS_RUNDIR=/run/tb-ovs/s3 ovs-vsctl --timeout=30 wait-until controller br0 is_connected=true
ip netns exec tb-s4 env OVS_RUNDIR=/run/tb-ovs/s4 ovs-vsctl --timeout=30 wait-until controller br0 is_connected=true
ip netns exec tb-s5 env OVS_RUNDIR=/run/tb-ovs/s5 ovs-vsctl --timeout=30 wait-until controller br0 is_connected=true
ip netns exec tb-s6 env OVS_RUNDIR=/run/tb-ovs/s6 ovs-vsctl --timeout=30 wait-until controller br0 is_connected=true

# To take it down:
#   ip netns exec tb-s6 env OVS_RUNDIR=/run/tb-ovs/s6 ovs-appctl -t ovs-vswitchd exit --cleanup
#   ip netns exec tb-s5 env OVS_RUNDIR=/run/tb-ovs/s5 ovs-appctl -t ovs-vswitchd exit --cleanup
#   ip netns exec tb-s4 env OVS_RUNDIR=/run/tb-ovs/s4 ovs-appctl -t ovs-vswitchd exit --cleanup
#   ip netns exec tb-s3 env OVS_RUNDIR=/run/tb-ovs/s3 ovs-appctl -t ovs-vswitchd exit --cleanup
#   ip netns exec tb-s2 env OVS_RUNDIR=/run/tb-ovs/s2 ovs-appctl -t ovs-vswitchd exit --cleanup
#   ip netns exec tb-s1 env OVS_RUNDIR=/run/tb-ovs/s1 ovs-appctl -t ovs-vswitchd exit --cleanup
#   ip netns exec tb-c0 sh -c 'kill -TERM "$(cat /run/tb-ovs/c0/pid)"'
#   rm -r /run/tb-ovs/c0
#   ip netns exec tb-s6 env OVS_RUNDIR=/run/tb-ovs/s6 ovs-appctl -t ovsdb-server exit
#   rm -r /run/tb-ovs/s6
#   ip netns exec tb-s5 env OVS_RUNDIR=/run/tb-ovs/s5 ovs-appctl -t ovsdb-server exit
#   rm -r /run/tb-ovs/s5
#   ip netns exec tb-s4 env OVS_RUNDIR=/run/tb-ovs/s4 ovs-appctl -t ovsdb-server exit
#   rm -r /run/tb-ovs/s4
#   ip netns exec tb-s3 env OVS_RUNDIR=/run/tb-ovs/s3 ovs-appctl -t ovsdb-server exit
#   rm -r /run/tb-ovs/s3
#   ip netns exec tb-s2 env OVS_RUNDIR=/run/tb-ovs/s2 ovs-appctl -t ovsdb-server exit
#   rm -r /run/tb-ovs/s2
#   ip netns exec tb-s1 env OVS_RUNDIR=/run/tb-ovs/s1 ovs-appctl -t ovsdb-server exit
#   rm -r /run/tb-ovs/s1
#   ip netns exec tb-c0.control.emulator nft 'delete table netdev testbed'
#   tc -n tb-c0.control.emulator qdisc del dev wire1 root
#   tc -n tb-c0.control.emulator qdisc del dev wire0 root
#   ip netns exec tb-arc-6.emulator nft 'delete table netdev testbed'
#   tc -n tb-arc-6.emulator qdisc del dev end0 root
#   tc -n tb-arc-6.emulator qdisc del dev wire1 root
#   tc -n tb-arc-6.emulator qdisc del dev end1 root
#   tc -n tb-arc-6.emulator qdisc del dev wire0 root
#   ip netns exec tb-arc-5.emulator nft 'delete table netdev testbed'
#   tc -n tb-arc-5.emulator qdisc del dev end0 root
#   tc -n tb-arc-5.emulator qdisc del dev wire1 root
#   tc -n tb-arc-5.emulator qdisc del dev end1 root
#   tc -n tb-arc-5.emulator qdisc del dev wire0 root
#   ip netns exec tb-arc-4.emulator nft 'delete table netdev testbed'
#   tc -n tb-arc-4.emulator qdisc del dev end0 root
#   tc -n tb-arc-4.emulator qdisc del dev wire1 root
#   tc -n tb-arc-4.emulator qdisc del dev end1 root
#   tc -n tb-arc-4.emulator qdisc del dev wire0 root
#   ip netns exec tb-arc-3.emulator nft 'delete table netdev testbed'
#   tc -n tb-arc-3.emulator qdisc del dev end0 root
#   tc -n tb-arc-3.emulator qdisc del dev wire1 root
#   tc -n tb-arc-3.emulator qdisc del dev end1 root
#   tc -n tb-arc-3.emulator qdisc del dev wire0 root
#   ip netns exec tb-arc-2.emulator nft 'delete table netdev testbed'
#   tc -n tb-arc-2.emulator qdisc del dev end0 root
#   tc -n tb-arc-2.emulator qdisc del dev wire1 root
#   tc -n tb-arc-2.emulator qdisc del dev end1 root
#   tc -n tb-arc-2.emulator qdisc del dev wire0 root
#   ip netns exec tb-arc-1.emulator nft 'delete table netdev testbed'
#   tc -n tb-arc-1.emulator qdisc del dev end0 root
#   tc -n tb-arc-1.emulator qdisc del dev wire1 root
#   tc -n tb-arc-1.emulator qdisc del dev end1 root
#   tc -n tb-arc-1.emulator qdisc del dev wire0 root
#   ip netns del tb-c0.control
#   ip netns del tb-c0.control.emulator
#   ip netns del tb-arc-6.emulator
#   ip netns del tb-arc-5.emulator
#   ip netns del tb-arc-4.emulator
#   ip netns del tb-arc-3.emulator
#   ip netns del tb-arc-2.emulator
#   ip netns del tb-arc-1.emulator
#   ip netns del tb-c0
#   ip netns del tb-s6
#   ip netns del tb-s5
#   ip netns del tb-s4
#   ip netns del tb-s3
#   ip netns del tb-s2
#   ip netns del tb-s1
#   ip netns del tb-h6
#   ip netns del tb-h5
#   ip netns del tb-h4
#   ip netns del tb-h3
#   ip netns del tb-h2
#   ip netns del tb-h1
