#!/bin/sh -e
ip netns add tb-user-1
ip netns add tb-user-2
ip netns add tb-user-3
ip netns add tb-user-4
ip netns add tb-head-end
ip netns add tb-server
ip netns add tb-line-1.emulator
ip netns add tb-line-2.emulator
ip netns add tb-line-3.emulator
ip netns add tb-line-4.emulator
ip netns add tb-shared.emulator
ip link add name eth0 address 02:54:42:00:00:00 mtu 1500 netns tb-user-1 type veth peer name end0 mtu 1500 netns tb-line-1.emulator
ip link add name wire0 mtu 1500 netns tb-line-1.emulator type veth peer name wire1 mtu 1500 netns tb-line-1.emulator
ip link add name eth0 address 02:54:42:00:00:01 mtu 1500 netns tb-head-end type veth peer name end1 mtu 1500 netns tb-line-1.emulator
ip link add name eth0 address 02:54:42:00:00:02 mtu 1500 netns tb-user-2 type veth peer name end0 mtu 1500 netns tb-line-2.emulator
ip link add name wire0 mtu 1500 netns tb-line-2.emulator type veth peer name wire1 mtu 1500 netns tb-line-2.emulator
ip link add name eth1 address 02:54:42:00:00:03 mtu 1500 netns tb-head-end type veth peer name end1 mtu 1500 netns tb-line-2.emulator
ip link add name eth0 address 02:54:42:00:00:04 mtu 1500 netns tb-user-3 type veth peer name end0 mtu 1500 netns tb-line-3.emulator
ip link add name wire0 mtu 1500 netns tb-line-3.emulator type veth peer name wire1 mtu 1500 netns tb-line-3.emulator
ip link add name eth2 address 02:54:42:00:00:05 mtu 1500 netns tb-head-end type veth peer name end1 mtu 1500 netns tb-line-3.emulator
ip link add name eth0 address 02:54:42:00:00:06 mtu 1500 netns tb-user-4 type veth peer name end0 mtu 1500 netns tb-line-4.emulator
ip link add name wire0 mtu 1500 netns tb-line-4.emulator type veth peer name wire1 mtu 1500 netns tb-line-4.emulator
ip link add name eth3 address 02:54:42:00:00:07 mtu 1500 netns tb-head-end type veth peer name end1 mtu 1500 netns tb-line-4.emulator
ip link add name eth4 address 02:54:42:00:00:08 mtu 1500 netns tb-head-end type veth peer name end0 mtu 1500 netns tb-shared.emulator
ip link add name wire0 mtu 1500 netns tb-shared.emulator type veth peer name wire1 mtu 1500 netns tb-shared.emulator
ip link add name eth0 address 02:54:42:00:00:09 mtu 1500 netns tb-server type veth peer name end1 mtu 1500 netns tb-shared.emulator
ip netns exec tb-user-1 sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-user-1 sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-user-1 sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-user-1 sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-user-1 address add 10.0.0.1/24 dev eth0
ip -n tb-user-1 link set lo up
ip -n tb-user-1 link set eth0 up
ip -n tb-user-1 neighbour replace 10.0.0.2 lladdr 02:54:42:00:00:01 dev eth0 nud permanent
ip -n tb-user-1 route replace default via 10.0.0.2 dev eth0
ip netns exec tb-user-2 sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-user-2 sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-user-2 sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-user-2 sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-user-2 address add 10.0.1.1/24 dev eth0
ip -n tb-user-2 link set lo up
ip -n tb-user-2 link set eth0 up
ip -n tb-user-2 neighbour replace 10.0.1.2 lladdr 02:54:42:00:00:03 dev eth0 nud permanent
ip -n tb-user-2 route replace default via 10.0.1.2 dev eth0
ip netns exec tb-user-3 sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-user-3 sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-user-3 sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-user-3 sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-user-3 address add 10.0.2.1/24 dev eth0
ip -n tb-user-3 link set lo up
ip -n tb-user-3 link set eth0 up
ip -n tb-user-3 neighbour replace 10.0.2.2 lladdr 02:54:42:00:00:05 dev eth0 nud permanent
ip -n tb-user-3 route replace default via 10.0.2.2 dev eth0
ip netns exec tb-user-4 sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-user-4 sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-user-4 sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-user-4 sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-user-4 address add 10.0.3.1/24 dev eth0
ip -n tb-user-4 link set lo up
ip -n tb-user-4 link set eth0 up
ip -n tb-user-4 neighbour replace 10.0.3.2 lladdr 02:54:42:00:00:07 dev eth0 nud permanent
ip -n tb-user-4 route replace default via 10.0.3.2 dev eth0
ip netns exec tb-head-end sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-head-end sh -c 'echo 1 > /proc/sys/net/ipv4/ip_forward'
ip netns exec tb-head-end sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/forwarding'
ip netns exec tb-head-end sh -c 'echo 0 > /proc/sys/net/ipv4/conf/all/rp_filter'
ip netns exec tb-head-end sh -c 'echo 0 > /proc/sys/net/ipv4/conf/all/send_redirects'
ip netns exec tb-head-end sh -c 'echo 0 > /proc/sys/net/ipv4/conf/default/send_redirects'
ip netns exec tb-head-end sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth0/send_redirects'
ip netns exec tb-head-end sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth1/send_redirects'
ip netns exec tb-head-end sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth2/send_redirects'
ip netns exec tb-head-end sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth3/send_redirects'
ip netns exec tb-head-end sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth4/send_redirects'
ip -n tb-head-end address add 10.0.0.2/24 dev eth0
ip -n tb-head-end address add 10.0.1.2/24 dev eth1
ip -n tb-head-end address add 10.0.2.2/24 dev eth2
ip -n tb-head-end address add 10.0.3.2/24 dev eth3
ip -n tb-head-end address add 10.0.4.1/24 dev eth4
ip -n tb-head-end link set lo up
ip -n tb-head-end link set eth0 up
ip -n tb-head-end link set eth1 up
ip -n tb-head-end link set eth2 up
ip -n tb-head-end link set eth3 up
ip -n tb-head-end link set eth4 up
ip -n tb-head-end neighbour replace 10.0.0.1 lladdr 02:54:42:00:00:00 dev eth0 nud permanent
ip -n tb-head-end neighbour replace 10.0.1.1 lladdr 02:54:42:00:00:02 dev eth1 nud permanent
ip -n tb-head-end neighbour replace 10.0.2.1 lladdr 02:54:42:00:00:04 dev eth2 nud permanent
ip -n tb-head-end neighbour replace 10.0.3.1 lladdr 02:54:42:00:00:06 dev eth3 nud permanent
ip -n tb-head-end neighbour replace 10.0.4.2 lladdr 02:54:42:00:00:09 dev eth4 nud permanent
ip netns exec tb-server sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-server sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-server sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-server sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-server address add 10.0.4.2/24 dev eth0
ip -n tb-server link set lo up
ip -n tb-server link set eth0 up
ip -n tb-server neighbour replace 10.0.4.1 lladdr 02:54:42:00:00:08 dev eth0 nud permanent
ip -n tb-server route replace default via 10.0.4.1 dev eth0
ip netns exec tb-user-1 ethtool -K eth0 gro on
ip netns exec tb-user-1 sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-user-1 sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-user-2 ethtool -K eth0 gro on
ip netns exec tb-user-2 sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-user-2 sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-user-3 ethtool -K eth0 gro on
ip netns exec tb-user-3 sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-user-3 sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-user-4 ethtool -K eth0 gro on
ip netns exec tb-user-4 sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-user-4 sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-server ethtool -K eth0 gro on
ip netns exec tb-server sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-server sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-line-1.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-line-2.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-line-3.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-line-4.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-shared.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-line-1.emulator link set end0 up
ip -n tb-line-1.emulator link set end1 up
ip -n tb-line-1.emulator link set wire0 up
ip -n tb-line-1.emulator link set wire1 up
ip -n tb-line-2.emulator link set end0 up
ip -n tb-line-2.emulator link set end1 up
ip -n tb-line-2.emulator link set wire0 up
ip -n tb-line-2.emulator link set wire1 up
ip -n tb-line-3.emulator link set end0 up
ip -n tb-line-3.emulator link set end1 up
ip -n tb-line-3.emulator link set wire0 up
ip -n tb-line-3.emulator link set wire1 up
ip -n tb-line-4.emulator link set end0 up
ip -n tb-line-4.emulator link set end1 up
ip -n tb-line-4.emulator link set wire0 up
ip -n tb-line-4.emulator link set wire1 up
ip -n tb-shared.emulator link set end0 up
ip -n tb-shared.emulator link set end1 up
ip -n tb-shared.emulator link set wire0 up
ip -n tb-shared.emulator link set wire1 up
ip netns exec tb-line-1.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-line-1.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-line-1.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-line-1.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-line-1.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 1000us
tc -n tb-line-1.emulator qdisc add dev end1 root handle 2: tbf rate 50000000bit burst 2271 limit 1514
tc -n tb-line-1.emulator qdisc add dev end1 parent 2:1 handle 3: pfifo limit 64
tc -n tb-line-1.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 1000us
tc -n tb-line-1.emulator qdisc add dev end0 root handle 2: tbf rate 50000000bit burst 2271 limit 1514
tc -n tb-line-1.emulator qdisc add dev end0 parent 2:1 handle 3: pfifo limit 64
ip netns exec tb-line-1.emulator nft 'add table netdev testbed'
ip netns exec tb-line-1.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-line-1.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-line-1.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-line-1.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-line-1.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-line-1.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-line-1.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-line-1.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-line-1.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-line-1.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-line-1.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-line-1.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-line-1.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-line-1.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-line-1.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-line-1.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-line-1.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-line-1.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-line-1.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-line-1.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-line-1.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-line-1.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-line-1.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-line-1.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-line-2.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-line-2.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-line-2.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-line-2.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-line-2.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 1000us
tc -n tb-line-2.emulator qdisc add dev end1 root handle 2: tbf rate 50000000bit burst 2271 limit 1514
tc -n tb-line-2.emulator qdisc add dev end1 parent 2:1 handle 3: pfifo limit 64
tc -n tb-line-2.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 1000us
tc -n tb-line-2.emulator qdisc add dev end0 root handle 2: tbf rate 50000000bit burst 2271 limit 1514
tc -n tb-line-2.emulator qdisc add dev end0 parent 2:1 handle 3: pfifo limit 64
ip netns exec tb-line-2.emulator nft 'add table netdev testbed'
ip netns exec tb-line-2.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-line-2.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-line-2.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-line-2.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-line-2.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-line-2.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-line-2.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-line-2.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-line-2.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-line-2.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-line-2.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-line-2.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-line-2.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-line-2.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-line-2.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-line-2.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-line-2.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-line-2.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-line-2.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-line-2.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-line-2.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-line-2.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-line-2.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-line-2.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-line-3.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-line-3.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-line-3.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-line-3.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-line-3.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 1000us
tc -n tb-line-3.emulator qdisc add dev end1 root handle 2: tbf rate 30000000bit burst 2271 limit 1514
tc -n tb-line-3.emulator qdisc add dev end1 parent 2:1 handle 3: pfifo limit 64
tc -n tb-line-3.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 1000us
tc -n tb-line-3.emulator qdisc add dev end0 root handle 2: tbf rate 30000000bit burst 2271 limit 1514
tc -n tb-line-3.emulator qdisc add dev end0 parent 2:1 handle 3: pfifo limit 64
ip netns exec tb-line-3.emulator nft 'add table netdev testbed'
ip netns exec tb-line-3.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-line-3.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-line-3.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-line-3.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-line-3.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-line-3.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-line-3.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-line-3.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-line-3.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-line-3.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-line-3.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-line-3.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-line-3.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-line-3.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-line-3.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-line-3.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-line-3.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-line-3.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-line-3.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-line-3.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-line-3.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-line-3.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-line-3.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-line-3.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-line-4.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-line-4.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-line-4.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-line-4.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-line-4.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 1000us
tc -n tb-line-4.emulator qdisc add dev end1 root handle 2: tbf rate 20000000bit burst 2271 limit 1514
tc -n tb-line-4.emulator qdisc add dev end1 parent 2:1 handle 3: pfifo limit 64
tc -n tb-line-4.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 1000us
tc -n tb-line-4.emulator qdisc add dev end0 root handle 2: tbf rate 20000000bit burst 2271 limit 1514
tc -n tb-line-4.emulator qdisc add dev end0 parent 2:1 handle 3: pfifo limit 64
ip netns exec tb-line-4.emulator nft 'add table netdev testbed'
ip netns exec tb-line-4.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-line-4.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-line-4.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-line-4.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-line-4.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-line-4.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-line-4.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-line-4.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-line-4.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-line-4.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-line-4.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-line-4.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-line-4.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-line-4.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-line-4.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-line-4.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-line-4.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-line-4.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-line-4.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-line-4.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-line-4.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-line-4.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-line-4.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-line-4.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-shared.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-shared.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-shared.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-shared.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-shared.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 9000us
tc -n tb-shared.emulator qdisc add dev end1 root handle 2: tbf rate 100000000bit burst 2271 limit 225000
tc -n tb-shared.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 9000us
tc -n tb-shared.emulator qdisc add dev end0 root handle 2: tbf rate 100000000bit burst 2271 limit 225000
ip netns exec tb-shared.emulator nft 'add table netdev testbed'
ip netns exec tb-shared.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-shared.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-shared.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-shared.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-shared.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-shared.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-shared.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-shared.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-shared.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-shared.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-shared.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-shared.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-shared.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-shared.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-shared.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-shared.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-shared.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-shared.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-shared.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-shared.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-shared.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-shared.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-shared.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-shared.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'

# To take it down:
#   ip netns exec tb-shared.emulator nft 'delete table netdev testbed'
#   tc -n tb-shared.emulator qdisc del dev end0 root
#   tc -n tb-shared.emulator qdisc del dev wire1 root
#   tc -n tb-shared.emulator qdisc del dev end1 root
#   tc -n tb-shared.emulator qdisc del dev wire0 root
#   ip netns exec tb-line-4.emulator nft 'delete table netdev testbed'
#   tc -n tb-line-4.emulator qdisc del dev end0 root
#   tc -n tb-line-4.emulator qdisc del dev wire1 root
#   tc -n tb-line-4.emulator qdisc del dev end1 root
#   tc -n tb-line-4.emulator qdisc del dev wire0 root
#   ip netns exec tb-line-3.emulator nft 'delete table netdev testbed'
#   tc -n tb-line-3.emulator qdisc del dev end0 root
#   tc -n tb-line-3.emulator qdisc del dev wire1 root
#   tc -n tb-line-3.emulator qdisc del dev end1 root
#   tc -n tb-line-3.emulator qdisc del dev wire0 root
#   ip netns exec tb-line-2.emulator nft 'delete table netdev testbed'
#   tc -n tb-line-2.emulator qdisc del dev end0 root
#   tc -n tb-line-2.emulator qdisc del dev wire1 root
#   tc -n tb-line-2.emulator qdisc del dev end1 root
#   tc -n tb-line-2.emulator qdisc del dev wire0 root
#   ip netns exec tb-line-1.emulator nft 'delete table netdev testbed'
#   tc -n tb-line-1.emulator qdisc del dev end0 root
#   tc -n tb-line-1.emulator qdisc del dev wire1 root
#   tc -n tb-line-1.emulator qdisc del dev end1 root
#   tc -n tb-line-1.emulator qdisc del dev wire0 root
#   ip netns del tb-shared.emulator
#   ip netns del tb-line-4.emulator
#   ip netns del tb-line-3.emulator
#   ip netns del tb-line-2.emulator
#   ip netns del tb-line-1.emulator
#   ip netns del tb-server
#   ip netns del tb-head-end
#   ip netns del tb-user-4
#   ip netns del tb-user-3
#   ip netns del tb-user-2
#   ip netns del tb-user-1
