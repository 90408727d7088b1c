#!/bin/sh -e
ip netns add tb-a
ip netns add tb-b
ip netns add tb-c
ip netns add tb-left
ip netns add tb-right
ip link add name eth0 address 02:54:42:00:00:00 mtu 1500 netns tb-a type veth peer name eth0 address 02:54:42:00:00:01 mtu 1500 netns tb-left
ip link add name eth1 address 02:54:42:00:00:02 mtu 1500 netns tb-left type veth peer name eth0 address 02:54:42:00:00:03 mtu 1500 netns tb-right
ip link add name eth1 address 02:54:42:00:00:04 mtu 1500 netns tb-right type veth peer name eth0 address 02:54:42:00:00:05 mtu 1500 netns tb-b
ip link add name eth2 address 02:54:42:00:00:06 mtu 1500 netns tb-right type veth peer name eth0 address 02:54:42:00:00:07 mtu 1500 netns tb-c
ip netns exec tb-a sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-a sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-a sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-a sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-a address add 10.0.0.1/24 dev eth0
ip -n tb-a link set lo up
ip -n tb-a link set eth0 up
ip -n tb-a neighbour replace 10.0.0.2 lladdr 02:54:42:00:00:05 dev eth0 nud permanent
ip -n tb-a neighbour replace 10.0.0.3 lladdr 02:54:42:00:00:07 dev eth0 nud permanent
ip netns exec tb-b sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-b sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-b sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-b sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-b address add 10.0.0.2/24 dev eth0
ip -n tb-b link set lo up
ip -n tb-b link set eth0 up
ip -n tb-b neighbour replace 10.0.0.1 lladdr 02:54:42:00:00:00 dev eth0 nud permanent
ip -n tb-b neighbour replace 10.0.0.3 lladdr 02:54:42:00:00:07 dev eth0 nud permanent
ip netns exec tb-c sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-c sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-c sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-c sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-c address add 10.0.0.3/24 dev eth0
ip -n tb-c link set lo up
ip -n tb-c link set eth0 up
ip -n tb-c neighbour replace 10.0.0.1 lladdr 02:54:42:00:00:00 dev eth0 nud permanent
ip -n tb-c neighbour replace 10.0.0.2 lladdr 02:54:42:00:00:05 dev eth0 nud permanent
ip netns exec tb-left sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-left link add br0 type bridge stp_state 0 mcast_snooping 0
ip -n tb-left link set eth0 master br0
ip -n tb-left link set eth1 master br0
ip -n tb-left link set br0 up
ip -n tb-left link set lo up
ip -n tb-left link set eth0 up
ip -n tb-left link set eth1 up
ip netns exec tb-right sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-right link add br0 type bridge stp_state 1 mcast_snooping 0
ip -n tb-right link set eth0 master br0
ip -n tb-right link set eth1 master br0
ip -n tb-right link set eth2 master br0
ip -n tb-right link set br0 up
ip -n tb-right link set lo up
ip -n tb-right link set eth0 up
ip -n tb-right link set eth1 up
ip -n tb-right link set eth2 up
ip netns exec tb-left ethtool -K eth0 tso off gso off tx-udp-segmentation off
ip netns exec tb-a ethtool -K eth0 gro on
ip netns exec tb-a sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-a sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-right ethtool -K eth1 tso off gso off tx-udp-segmentation off
ip netns exec tb-b ethtool -K eth0 gro on
ip netns exec tb-b sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-b sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-right ethtool -K eth2 tso off gso off tx-udp-segmentation off
ip netns exec tb-c ethtool -K eth0 gro on
ip netns exec tb-c sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-c sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'

# To take it down:
#   ip -n tb-right link del br0
#   ip -n tb-left link del br0
#   ip netns del tb-right
#   ip netns del tb-left
#   ip netns del tb-c
#   ip netns del tb-b
#   ip netns del tb-a
