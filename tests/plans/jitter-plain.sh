#!/bin/sh -e
ip netns add tb-a
ip netns add tb-b
ip netns add tb-path.emulator
ip link add name eth0 address 02:54:42:00:00:00 mtu 1500 netns tb-a type veth peer name end0 mtu 1500 netns tb-path.emulator
ip link add name wire0 mtu 1500 netns tb-path.emulator type veth peer name wire1 mtu 1500 netns tb-path.emulator
ip link add name eth0 address 02:54:42:00:00:01 mtu 1500 netns tb-b type veth peer name end1 mtu 1500 netns tb-path.emulator
ip netns exec tb-a sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-a sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-a sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-a sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-a address add 10.0.0.1/24 dev eth0
ip -n tb-a link set lo up
ip -n tb-a link set eth0 up
ip -n tb-a neighbour replace 10.0.0.2 lladdr 02:54:42:00:00:01 dev eth0 nud permanent
ip netns exec tb-b sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-b sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-b sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-b sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-b address add 10.0.0.2/24 dev eth0
ip -n tb-b link set lo up
ip -n tb-b link set eth0 up
ip -n tb-b neighbour replace 10.0.0.1 lladdr 02:54:42:00:00:00 dev eth0 nud permanent
ip netns exec tb-a ethtool -K eth0 tso off gso off tx-udp-segmentation off gro off
ip netns exec tb-b ethtool -K eth0 tso off gso off tx-udp-segmentation off gro off
ip netns exec tb-path.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-path.emulator link set end0 up
ip -n tb-path.emulator link set end1 up
ip -n tb-path.emulator link set wire0 up
ip -n tb-path.emulator link set wire1 up
tc -n tb-path.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 10000us 1220us distribution pareto rate 100tbit
tc -n tb-path.emulator qdisc add dev end1 root handle 2: tbf rate 100000000bit burst 2271 limit 250000
tc -n tb-path.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 10000us 1220us distribution pareto rate 100tbit
tc -n tb-path.emulator qdisc add dev end0 root handle 2: tbf rate 100000000bit burst 2271 limit 250000
ip netns exec tb-path.emulator nft 'add table netdev testbed'
ip netns exec tb-path.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-path.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-path.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-path.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-path.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-path.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-path.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-path.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-path.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-path.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-path.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-path.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-path.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-path.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-path.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-path.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-path.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-path.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-path.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-path.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-path.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-path.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-path.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-path.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'

# To take it down:
#   ip netns exec tb-path.emulator nft 'delete table netdev testbed'
#   tc -n tb-path.emulator qdisc del dev end0 root
#   tc -n tb-path.emulator qdisc del dev wire1 root
#   tc -n tb-path.emulator qdisc del dev end1 root
#   tc -n tb-path.emulator qdisc del dev wire0 root
#   ip netns del tb-path.emulator
#   ip netns del tb-b
#   ip netns del tb-a
