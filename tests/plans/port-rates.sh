#!/bin/sh -e
ip netns add tb-a
ip netns add tb-b
ip netns add tb-c
ip netns add tb-left
ip netns add tb-right
ip netns add tb-a-port.emulator
ip netns add tb-between.emulator
ip netns add tb-b-port.emulator
ip netns add tb-c-port.emulator
ip link add name eth0 address 02:54:42:00:00:00 mtu 1500 netns tb-a type veth peer name end0 mtu 1500 netns tb-a-port.emulator
ip link add name wire0 mtu 1500 netns tb-a-port.emulator type veth peer name wire1 mtu 1500 netns tb-a-port.emulator
ip link add name eth0 address 02:54:42:00:00:01 mtu 1500 netns tb-left type veth peer name end1 mtu 1500 netns tb-a-port.emulator
ip link add name eth1 address 02:54:42:00:00:02 mtu 1500 netns tb-left type veth peer name end0 mtu 1500 netns tb-between.emulator
ip link add name wire0 mtu 1500 netns tb-between.emulator type veth peer name wire1 mtu 1500 netns tb-between.emulator
ip link add name eth0 address 02:54:42:00:00:03 mtu 1500 netns tb-right type veth peer name end1 mtu 1500 netns tb-between.emulator
ip link add name eth0 address 02:54:42:00:00:04 mtu 1500 netns tb-b type veth peer name end0 mtu 1500 netns tb-b-port.emulator
ip link add name wire0 mtu 1500 netns tb-b-port.emulator type veth peer name wire1 mtu 1500 netns tb-b-port.emulator
ip link add name eth1 address 02:54:42:00:00:05 mtu 1500 netns tb-right type veth peer name end1 mtu 1500 netns tb-b-port.emulator
ip link add name eth2 address 02:54:42:00:00:06 mtu 1500 netns tb-left type veth peer name end0 mtu 1500 netns tb-c-port.emulator
ip link add name wire0 mtu 1500 netns tb-c-port.emulator type veth peer name wire1 mtu 1500 netns tb-c-port.emulator
ip link add name eth0 address 02:54:42:00:00:07 mtu 1500 netns tb-c type veth peer name end1 mtu 1500 netns tb-c-port.emulator
ip netns exec tb-a sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-a sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-a sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-a sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-a address add 10.0.0.1/24 dev eth0
ip -n tb-a link set lo up
ip -n tb-a link set eth0 up
ip -n tb-a neighbour replace 10.0.0.2 lladdr 02:54:42:00:00:04 dev eth0 nud permanent
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
ip -n tb-c neighbour replace 10.0.0.2 lladdr 02:54:42:00:00:04 dev eth0 nud permanent
ip netns exec tb-left sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-left link add br0 type bridge stp_state 0 mcast_snooping 0
ip -n tb-left link set eth0 master br0
ip -n tb-left link set eth1 master br0
ip -n tb-left link set eth2 master br0
ip -n tb-left link set br0 up
ip -n tb-left link set lo up
ip -n tb-left link set eth0 up
ip -n tb-left link set eth1 up
ip -n tb-left link set eth2 up
ip netns exec tb-right sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-right link add br0 type bridge stp_state 0 mcast_snooping 0
ip -n tb-right link set eth0 master br0
ip -n tb-right link set eth1 master br0
ip -n tb-right link set br0 up
ip -n tb-right link set lo up
ip -n tb-right link set eth0 up
ip -n tb-right link set eth1 up
ip netns exec tb-a ethtool -K eth0 gro on
ip netns exec tb-a sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-a sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-b ethtool -K eth0 gro on
ip netns exec tb-b sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-b sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-c ethtool -K eth0 gro on
ip netns exec tb-c sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-c sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-a-port.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-between.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-b-port.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-c-port.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-a-port.emulator link set end0 up
ip -n tb-a-port.emulator link set end1 up
ip -n tb-a-port.emulator link set wire0 up
ip -n tb-a-port.emulator link set wire1 up
ip -n tb-between.emulator link set end0 up
ip -n tb-between.emulator link set end1 up
ip -n tb-between.emulator link set wire0 up
ip -n tb-between.emulator link set wire1 up
ip -n tb-b-port.emulator link set end0 up
ip -n tb-b-port.emulator link set end1 up
ip -n tb-b-port.emulator link set wire0 up
ip -n tb-b-port.emulator link set wire1 up
ip -n tb-c-port.emulator link set end0 up
ip -n tb-c-port.emulator link set end1 up
ip -n tb-c-port.emulator link set wire0 up
ip -n tb-c-port.emulator link set wire1 up
ip netns exec tb-a-port.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-a-port.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-a-port.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-a-port.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-a-port.emulator qdisc add dev end0 root handle 2: tbf rate 100000000bit burst 2271 limit 151400
ip netns exec tb-a-port.emulator nft 'add table netdev testbed'
ip netns exec tb-a-port.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-a-port.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-a-port.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-a-port.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-a-port.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-a-port.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-a-port.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-a-port.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-a-port.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-a-port.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-a-port.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-a-port.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-a-port.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-a-port.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-a-port.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-a-port.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-a-port.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-a-port.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-a-port.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-a-port.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-a-port.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-a-port.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-a-port.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-a-port.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-between.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-between.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-between.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-between.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-between.emulator qdisc add dev end1 root handle 2: tbf rate 100000000bit burst 2271 limit 1514
tc -n tb-between.emulator qdisc add dev end1 parent 2:1 handle 3: pfifo limit 20
ip netns exec tb-between.emulator nft 'add table netdev testbed'
ip netns exec tb-between.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-between.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-between.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-between.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-between.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-between.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-between.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-between.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-between.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-between.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-between.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-between.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-between.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-between.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-between.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-between.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-between.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-between.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-between.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-between.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-between.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-between.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-between.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-between.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-b-port.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-b-port.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-b-port.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-b-port.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-b-port.emulator qdisc add dev end1 root handle 2: tbf rate 50000000bit burst 2271 limit 151400
tc -n tb-b-port.emulator qdisc add dev end0 root handle 2: tbf rate 10000000bit burst 2271 limit 151400
ip netns exec tb-b-port.emulator nft 'add table netdev testbed'
ip netns exec tb-b-port.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-b-port.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-b-port.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-b-port.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-b-port.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-b-port.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-b-port.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-b-port.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-b-port.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-b-port.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-b-port.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-b-port.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-b-port.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-b-port.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-b-port.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-b-port.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-b-port.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-b-port.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-b-port.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-b-port.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-b-port.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-b-port.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-b-port.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-b-port.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-c-port.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-c-port.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-c-port.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-c-port.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-c-port.emulator qdisc add dev end1 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
tc -n tb-c-port.emulator qdisc add dev end0 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
ip netns exec tb-c-port.emulator nft 'add table netdev testbed'
ip netns exec tb-c-port.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-c-port.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-c-port.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-c-port.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-c-port.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-c-port.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-c-port.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-c-port.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-c-port.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-c-port.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-c-port.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-c-port.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-c-port.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-c-port.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-c-port.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-c-port.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-c-port.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-c-port.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-c-port.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-c-port.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-c-port.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-c-port.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-c-port.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-c-port.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'

# To take it down:
#   ip netns exec tb-c-port.emulator nft 'delete table netdev testbed'
#   tc -n tb-c-port.emulator qdisc del dev end0 root
#   tc -n tb-c-port.emulator qdisc del dev end1 root
#   ip netns exec tb-b-port.emulator nft 'delete table netdev testbed'
#   tc -n tb-b-port.emulator qdisc del dev end0 root
#   tc -n tb-b-port.emulator qdisc del dev end1 root
#   ip netns exec tb-between.emulator nft 'delete table netdev testbed'
#   tc -n tb-between.emulator qdisc del dev end1 root
#   ip netns exec tb-a-port.emulator nft 'delete table netdev testbed'
#   tc -n tb-a-port.emulator qdisc del dev end0 root
#   ip -n tb-right link del br0
#   ip -n tb-left link del br0
#   ip netns del tb-c-port.emulator
#   ip netns del tb-b-port.emulator
#   ip netns del tb-between.emulator
#   ip netns del tb-a-port.emulator
#   ip netns del tb-right
#   ip netns del tb-left
#   ip netns del tb-c
#   ip netns del tb-b
#   ip netns del tb-a
