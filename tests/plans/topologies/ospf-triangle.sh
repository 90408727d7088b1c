#!/bin/sh -e
ip netns add tb-a
ip netns add tb-b
ip netns add tb-r1
ip netns add tb-r2
ip netns add tb-r3
ip netns add tb-a-r1.emulator
ip netns add tb-b-r2.emulator
ip netns add tb-r1-r2.emulator
ip netns add tb-r1-r3.emulator
ip netns add tb-r2-r3.emulator
ip link add name eth0 address 02:54:42:00:00:00 mtu 1500 netns tb-a type veth peer name end0 mtu 1500 netns tb-a-r1.emulator
ip link add name wire0 mtu 1500 netns tb-a-r1.emulator type veth peer name wire1 mtu 1500 netns tb-a-r1.emulator
ip link add name eth0 address 02:54:42:00:00:01 mtu 1500 netns tb-r1 type veth peer name end1 mtu 1500 netns tb-a-r1.emulator
ip link add name eth0 address 02:54:42:00:00:02 mtu 1500 netns tb-b type veth peer name end0 mtu 1500 netns tb-b-r2.emulator
ip link add name wire0 mtu 1500 netns tb-b-r2.emulator type veth peer name wire1 mtu 1500 netns tb-b-r2.emulator
ip link add name eth0 address 02:54:42:00:00:03 mtu 1500 netns tb-r2 type veth peer name end1 mtu 1500 netns tb-b-r2.emulator
ip link add name eth1 address 02:54:42:00:00:04 mtu 1500 netns tb-r1 type veth peer name end0 mtu 1500 netns tb-r1-r2.emulator
ip link add name wire0 mtu 1500 netns tb-r1-r2.emulator type veth peer name wire1 mtu 1500 netns tb-r1-r2.emulator
ip link add name eth1 address 02:54:42:00:00:05 mtu 1500 netns tb-r2 type veth peer name end1 mtu 1500 netns tb-r1-r2.emulator
ip link add name eth2 address 02:54:42:00:00:06 mtu 1500 netns tb-r1 type veth peer name end0 mtu 1500 netns tb-r1-r3.emulator
ip link add name wire0 mtu 1500 netns tb-r1-r3.emulator type veth peer name wire1 mtu 1500 netns tb-r1-r3.emulator
ip link add name eth0 address 02:54:42:00:00:07 mtu 1500 netns tb-r3 type veth peer name end1 mtu 1500 netns tb-r1-r3.emulator
ip link add name eth2 address 02:54:42:00:00:08 mtu 1500 netns tb-r2 type veth peer name end0 mtu 1500 netns tb-r2-r3.emulator
ip link add name wire0 mtu 1500 netns tb-r2-r3.emulator type veth peer name wire1 mtu 1500 netns tb-r2-r3.emulator
ip link add name eth1 address 02:54:42:00:00:09 mtu 1500 netns tb-r3 type veth peer name end1 mtu 1500 netns tb-r2-r3.emulator
ip netns exec tb-a sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-a sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-a sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-a sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-a address add 10.0.0.1/24 dev eth0
ip -n tb-a link set lo up
ip -n tb-a link set eth0 up
ip -n tb-a neighbour replace 10.0.0.2 lladdr 02:54:42:00:00:01 dev eth0 nud permanent
ip -n tb-a route replace default via 10.0.0.2 dev eth0
ip netns exec tb-b sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-b sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-b sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-b sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-b address add 10.0.1.1/24 dev eth0
ip -n tb-b link set lo up
ip -n tb-b link set eth0 up
ip -n tb-b neighbour replace 10.0.1.2 lladdr 02:54:42:00:00:03 dev eth0 nud permanent
ip -n tb-b route replace default via 10.0.1.2 dev eth0
ip netns exec tb-r1 sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-r1 sh -c 'echo 1 > /proc/sys/net/ipv4/ip_forward'
ip netns exec tb-r1 sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/forwarding'
ip netns exec tb-r1 sh -c 'echo 0 > /proc/sys/net/ipv4/conf/all/rp_filter'
ip netns exec tb-r1 sh -c 'echo 0 > /proc/sys/net/ipv4/conf/all/send_redirects'
ip netns exec tb-r1 sh -c 'echo 0 > /proc/sys/net/ipv4/conf/default/send_redirects'
ip netns exec tb-r1 sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth0/send_redirects'
ip netns exec tb-r1 sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth1/send_redirects'
ip netns exec tb-r1 sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth2/send_redirects'
ip -n tb-r1 address add 10.0.0.2/24 dev eth0
ip -n tb-r1 address add 10.0.2.1/24 dev eth1
ip -n tb-r1 address add 10.0.3.1/24 dev eth2
ip -n tb-r1 link set lo up
ip -n tb-r1 link set eth0 up
ip -n tb-r1 link set eth1 up
ip -n tb-r1 link set eth2 up
ip -n tb-r1 neighbour replace 10.0.0.1 lladdr 02:54:42:00:00:00 dev eth0 nud permanent
ip -n tb-r1 neighbour replace 10.0.2.2 lladdr 02:54:42:00:00:05 dev eth1 nud permanent
ip -n tb-r1 neighbour replace 10.0.3.2 lladdr 02:54:42:00:00:07 dev eth2 nud permanent
ip netns exec tb-r2 sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-r2 sh -c 'echo 1 > /proc/sys/net/ipv4/ip_forward'
ip netns exec tb-r2 sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/forwarding'
ip netns exec tb-r2 sh -c 'echo 0 > /proc/sys/net/ipv4/conf/all/rp_filter'
ip netns exec tb-r2 sh -c 'echo 0 > /proc/sys/net/ipv4/conf/all/send_redirects'
ip netns exec tb-r2 sh -c 'echo 0 > /proc/sys/net/ipv4/conf/default/send_redirects'
ip netns exec tb-r2 sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth0/send_redirects'
ip netns exec tb-r2 sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth1/send_redirects'
ip netns exec tb-r2 sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth2/send_redirects'
ip -n tb-r2 address add 10.0.1.2/24 dev eth0
ip -n tb-r2 address add 10.0.2.2/24 dev eth1
ip -n tb-r2 address add 10.0.4.1/24 dev eth2
ip -n tb-r2 link set lo up
ip -n tb-r2 link set eth0 up
ip -n tb-r2 link set eth1 up
ip -n tb-r2 link set eth2 up
ip -n tb-r2 neighbour replace 10.0.1.1 lladdr 02:54:42:00:00:02 dev eth0 nud permanent
ip -n tb-r2 neighbour replace 10.0.2.1 lladdr 02:54:42:00:00:04 dev eth1 nud permanent
ip -n tb-r2 neighbour replace 10.0.4.2 lladdr 02:54:42:00:00:09 dev eth2 nud permanent
ip netns exec tb-r3 sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-r3 sh -c 'echo 1 > /proc/sys/net/ipv4/ip_forward'
ip netns exec tb-r3 sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/forwarding'
ip netns exec tb-r3 sh -c 'echo 0 > /proc/sys/net/ipv4/conf/all/rp_filter'
ip netns exec tb-r3 sh -c 'echo 0 > /proc/sys/net/ipv4/conf/all/send_redirects'
ip netns exec tb-r3 sh -c 'echo 0 > /proc/sys/net/ipv4/conf/default/send_redirects'
ip netns exec tb-r3 sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth0/send_redirects'
ip netns exec tb-r3 sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth1/send_redirects'
ip -n tb-r3 address add 10.0.3.2/24 dev eth0
ip -n tb-r3 address add 10.0.4.2/24 dev eth1
ip -n tb-r3 link set lo up
ip -n tb-r3 link set eth0 up
ip -n tb-r3 link set eth1 up
ip -n tb-r3 neighbour replace 10.0.3.1 lladdr 02:54:42:00:00:06 dev eth0 nud permanent
ip -n tb-r3 neighbour replace 10.0.4.1 lladdr 02:54:42:00:00:08 dev eth1 nud permanent
ip netns exec tb-a ethtool -K eth0 gro on
ip netns exec tb-a sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-a sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-b ethtool -K eth0 gro on
ip netns exec tb-b sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-b sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-a-r1.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-b-r2.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-r1-r2.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-r1-r3.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-r2-r3.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-a-r1.emulator link set end0 up
ip -n tb-a-r1.emulator link set end1 up
ip -n tb-a-r1.emulator link set wire0 up
ip -n tb-a-r1.emulator link set wire1 up
ip -n tb-b-r2.emulator link set end0 up
ip -n tb-b-r2.emulator link set end1 up
ip -n tb-b-r2.emulator link set wire0 up
ip -n tb-b-r2.emulator link set wire1 up
ip -n tb-r1-r2.emulator link set end0 up
ip -n tb-r1-r2.emulator link set end1 up
ip -n tb-r1-r2.emulator link set wire0 up
ip -n tb-r1-r2.emulator link set wire1 up
ip -n tb-r1-r3.emulator link set end0 up
ip -n tb-r1-r3.emulator link set end1 up
ip -n tb-r1-r3.emulator link set wire0 up
ip -n tb-r1-r3.emulator link set wire1 up
ip -n tb-r2-r3.emulator link set end0 up
ip -n tb-r2-r3.emulator link set end1 up
ip -n tb-r2-r3.emulator link set wire0 up
ip -n tb-r2-r3.emulator link set wire1 up
ip netns exec tb-a-r1.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-a-r1.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-a-r1.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-a-r1.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-a-r1.emulator qdisc add dev end1 root handle 2: tbf rate 100000000bit burst 2271 limit 151400
tc -n tb-a-r1.emulator qdisc add dev end0 root handle 2: tbf rate 100000000bit burst 2271 limit 151400
ip netns exec tb-a-r1.emulator nft 'add table netdev testbed'
ip netns exec tb-a-r1.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-a-r1.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-a-r1.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-a-r1.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-a-r1.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-a-r1.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-a-r1.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-a-r1.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-a-r1.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-a-r1.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-a-r1.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-a-r1.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-a-r1.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-a-r1.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-a-r1.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-a-r1.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-a-r1.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-a-r1.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-a-r1.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-a-r1.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-a-r1.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-a-r1.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-a-r1.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-a-r1.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-b-r2.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-b-r2.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-b-r2.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-b-r2.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-b-r2.emulator qdisc add dev end1 root handle 2: tbf rate 100000000bit burst 2271 limit 151400
tc -n tb-b-r2.emulator qdisc add dev end0 root handle 2: tbf rate 100000000bit burst 2271 limit 151400
ip netns exec tb-b-r2.emulator nft 'add table netdev testbed'
ip netns exec tb-b-r2.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-b-r2.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-b-r2.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-b-r2.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-b-r2.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-b-r2.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-b-r2.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-b-r2.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-b-r2.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-b-r2.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-b-r2.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-b-r2.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-b-r2.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-b-r2.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-b-r2.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-b-r2.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-b-r2.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-b-r2.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-b-r2.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-b-r2.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-b-r2.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-b-r2.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-b-r2.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-b-r2.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-r1-r2.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-r1-r2.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-r1-r2.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-r1-r2.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-r1-r2.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 2000us
tc -n tb-r1-r2.emulator qdisc add dev end1 root handle 2: tbf rate 10000000bit burst 2271 limit 151400
tc -n tb-r1-r2.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 2000us
tc -n tb-r1-r2.emulator qdisc add dev end0 root handle 2: tbf rate 10000000bit burst 2271 limit 151400
ip netns exec tb-r1-r2.emulator nft 'add table netdev testbed'
ip netns exec tb-r1-r2.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-r1-r2.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-r1-r2.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-r1-r2.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-r1-r2.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-r1-r2.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-r1-r2.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-r1-r2.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-r1-r2.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-r1-r2.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-r1-r2.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-r1-r2.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-r1-r2.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-r1-r2.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-r1-r2.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-r1-r2.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-r1-r2.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-r1-r2.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-r1-r2.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-r1-r2.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-r1-r2.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-r1-r2.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-r1-r2.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-r1-r2.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-r1-r3.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-r1-r3.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-r1-r3.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-r1-r3.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-r1-r3.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 5000us
tc -n tb-r1-r3.emulator qdisc add dev end1 root handle 2: tbf rate 10000000bit burst 2271 limit 151400
tc -n tb-r1-r3.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 5000us
tc -n tb-r1-r3.emulator qdisc add dev end0 root handle 2: tbf rate 10000000bit burst 2271 limit 151400
ip netns exec tb-r1-r3.emulator nft 'add table netdev testbed'
ip netns exec tb-r1-r3.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-r1-r3.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-r1-r3.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-r1-r3.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-r1-r3.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-r1-r3.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-r1-r3.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-r1-r3.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-r1-r3.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-r1-r3.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-r1-r3.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-r1-r3.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-r1-r3.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-r1-r3.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-r1-r3.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-r1-r3.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-r1-r3.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-r1-r3.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-r1-r3.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-r1-r3.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-r1-r3.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-r1-r3.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-r1-r3.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-r1-r3.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-r2-r3.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-r2-r3.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-r2-r3.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-r2-r3.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-r2-r3.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 5000us
tc -n tb-r2-r3.emulator qdisc add dev end1 root handle 2: tbf rate 10000000bit burst 2271 limit 151400
tc -n tb-r2-r3.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 5000us
tc -n tb-r2-r3.emulator qdisc add dev end0 root handle 2: tbf rate 10000000bit burst 2271 limit 151400
ip netns exec tb-r2-r3.emulator nft 'add table netdev testbed'
ip netns exec tb-r2-r3.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-r2-r3.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-r2-r3.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-r2-r3.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-r2-r3.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-r2-r3.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-r2-r3.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-r2-r3.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-r2-r3.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-r2-r3.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-r2-r3.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-r2-r3.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-r2-r3.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-r2-r3.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-r2-r3.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-r2-r3.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-r2-r3.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-r2-r3.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-r2-r3.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-r2-r3.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-r2-r3.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-r2-r3.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-r2-r3.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-r2-r3.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
mkdir -p /run/frr/r1
sh -c 'chown frr:frr /run/frr/r1'
printf %s '' | tee /run/frr/r1/vtysh.conf > /dev/null
printf %s 'frr defaults traditional
log timestamp precision 6
hostname r1
router ospf
 ospf router-id 10.0.0.2
 timers throttle spf 0 50 5000
 no proactive-arp
exit
interface eth0
 ip ospf hello-interval 1
 ip ospf dead-interval 4
 ip ospf cost 10
 ip ospf passive
 ip ospf area 0
exit
interface eth1
 ip ospf hello-interval 1
 ip ospf dead-interval 4
 ip ospf cost 10
 ip ospf network point-to-point
 ip ospf area 0
exit
interface eth2
 ip ospf hello-interval 1
 ip ospf dead-interval 4
 ip ospf cost 30
 ip ospf network point-to-point
 ip ospf area 0
exit
' | tee /run/frr/r1/frr.conf > /dev/null
ip netns exec tb-r1 /usr/lib/frr/zebra -d -N r1 --log file:/run/frr/r1/frr.log --log-level informational
ip netns exec tb-r1 /usr/lib/frr/ospfd -d -N r1 --log file:/run/frr/r1/frr.log --log-level informational
mkdir -p /run/frr/r2
sh -c 'chown frr:frr /run/frr/r2'
printf %s '' | tee /run/frr/r2/vtysh.conf > /dev/null
printf %s 'frr defaults traditional
log timestamp precision 6
hostname r2
router ospf
 ospf router-id 10.0.1.2
 timers throttle spf 0 50 5000
 no proactive-arp
exit
interface eth0
 ip ospf hello-interval 1
 ip ospf dead-interval 4
 ip ospf cost 10
 ip ospf passive
 ip ospf area 0
exit
interface eth1
 ip ospf hello-interval 1
 ip ospf dead-interval 4
 ip ospf cost 10
 ip ospf network point-to-point
 ip ospf area 0
exit
interface eth2
 ip ospf hello-interval 1
 ip ospf dead-interval 4
 ip ospf cost 10
 ip ospf network point-to-point
 ip ospf area 0
exit
' | tee /run/frr/r2/frr.conf > /dev/null
ip netns exec tb-r2 /usr/lib/frr/zebra -d -N r2 --log file:/run/frr/r2/frr.log --log-level informational
ip netns exec tb-r2 /usr/lib/frr/ospfd -d -N r2 --log file:/run/frr/r2/frr.log --log-level informational
mkdir -p /run/frr/r3
sh -c 'chown frr:frr /run/frr/r3'
printf %s '' | tee /run/frr/r3/vtysh.conf > /dev/null
printf %s 'frr defaults traditional
log timestamp precision 6
hostname r3
router ospf
 ospf router-id 10.0.3.2
 timers throttle spf 0 50 5000
 no proactive-arp
exit
interface eth0
 ip ospf hello-interval 1
 ip ospf dead-interval 4
 ip ospf cost 15
 ip ospf network point-to-point
 ip ospf area 0
exit
interface eth1
 ip ospf hello-interval 1
 ip ospf dead-interval 4
 ip ospf cost 10
 ip ospf network point-to-point
 ip ospf area 0
exit
' | tee /run/frr/r3/frr.conf > /dev/null
ip netns exec tb-r3 /usr/lib/frr/zebra -d -N r3 --log file:/run/frr/r3/frr.log --log-level informational
ip netns exec tb-r3 /usr/lib/frr/ospfd -d -N r3 --log file:/run/frr/r3/frr.log --log-level informational
ip netns exec tb-r1 vtysh --config_dir /run/frr -N r1 -f /run/frr/r1/frr.conf
ip netns exec tb-r2 vtysh --config_dir /run/frr -N r2 -f /run/frr/r2/frr.conf
ip netns exec tb-r3 vtysh --config_dir /run/frr -N r3 -f /run/frr/r3/frr.conf

# To take it down:
#   ip netns exec tb-r3 sh -c 'kill -TERM "$(cat /run/frr/r3/ospfd.pid)"'
#   ip netns exec tb-r3 sh -c 'kill -TERM "$(cat /run/frr/r3/zebra.pid)"'
#   rm -r /run/frr/r3
#   ip netns exec tb-r2 sh -c 'kill -TERM "$(cat /run/frr/r2/ospfd.pid)"'
#   ip netns exec tb-r2 sh -c 'kill -TERM "$(cat /run/frr/r2/zebra.pid)"'
#   rm -r /run/frr/r2
#   ip netns exec tb-r1 sh -c 'kill -TERM "$(cat /run/frr/r1/ospfd.pid)"'
#   ip netns exec tb-r1 sh -c 'kill -TERM "$(cat /run/frr/r1/zebra.pid)"'
#   rm -r /run/frr/r1
#   ip netns exec tb-r2-r3.emulator nft 'delete table netdev testbed'
#   tc -n tb-r2-r3.emulator qdisc del dev end0 root
#   tc -n tb-r2-r3.emulator qdisc del dev wire1 root
#   tc -n tb-r2-r3.emulator qdisc del dev end1 root
#   tc -n tb-r2-r3.emulator qdisc del dev wire0 root
#   ip netns exec tb-r1-r3.emulator nft 'delete table netdev testbed'
#   tc -n tb-r1-r3.emulator qdisc del dev end0 root
#   tc -n tb-r1-r3.emulator qdisc del dev wire1 root
#   tc -n tb-r1-r3.emulator qdisc del dev end1 root
#   tc -n tb-r1-r3.emulator qdisc del dev wire0 root
#   ip netns exec tb-r1-r2.emulator nft 'delete table netdev testbed'
#   tc -n tb-r1-r2.emulator qdisc del dev end0 root
#   tc -n tb-r1-r2.emulator qdisc del dev wire1 root
#   tc -n tb-r1-r2.emulator qdisc del dev end1 root
#   tc -n tb-r1-r2.emulator qdisc del dev wire0 root
#   ip netns exec tb-b-r2.emulator nft 'delete table netdev testbed'
#   tc -n tb-b-r2.emulator qdisc del dev end0 root
#   tc -n tb-b-r2.emulator qdisc del dev end1 root
#   ip netns exec tb-a-r1.emulator nft 'delete table netdev testbed'
#   tc -n tb-a-r1.emulator qdisc del dev end0 root
#   tc -n tb-a-r1.emulator qdisc del dev end1 root
#   ip netns del tb-r2-r3.emulator
#   ip netns del tb-r1-r3.emulator
#   ip netns del tb-r1-r2.emulator
#   ip netns del tb-b-r2.emulator
#   ip netns del tb-a-r1.emulator
#   ip netns del tb-r3
#   ip netns del tb-r2
#   ip netns del tb-r1
#   ip netns del tb-b
#   ip netns del tb-a
