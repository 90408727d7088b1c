#!/bin/sh -e
ip netns add tb-west-a
ip netns add tb-west-b
ip netns add tb-west
ip netns add tb-east
ip netns add tb-east-a
ip netns add tb-east-b
ip netns add tb-west-a-access.emulator
ip netns add tb-west-b-access.emulator
ip netns add tb-wan.emulator
ip netns add tb-east-a-access.emulator
ip netns add tb-east-b-access.emulator
ip link add name eth0 address 02:54:42:00:00:00 mtu 1500 netns tb-west-a type veth peer name end0 mtu 1500 netns tb-west-a-access.emulator
ip link add name wire0 mtu 1500 netns tb-west-a-access.emulator type veth peer name wire1 mtu 1500 netns tb-west-a-access.emulator
ip link add name eth0 address 02:54:42:00:00:01 mtu 1500 netns tb-west type veth peer name end1 mtu 1500 netns tb-west-a-access.emulator
ip link add name eth0 address 02:54:42:00:00:02 mtu 1500 netns tb-west-b type veth peer name end0 mtu 1500 netns tb-west-b-access.emulator
ip link add name wire0 mtu 1500 netns tb-west-b-access.emulator type veth peer name wire1 mtu 1500 netns tb-west-b-access.emulator
ip link add name eth1 address 02:54:42:00:00:03 mtu 1500 netns tb-west type veth peer name end1 mtu 1500 netns tb-west-b-access.emulator
ip link add name eth2 address 02:54:42:00:00:04 mtu 1500 netns tb-west type veth peer name end0 mtu 1500 netns tb-wan.emulator
ip link add name wire0 mtu 1500 netns tb-wan.emulator type veth peer name wire1 mtu 1500 netns tb-wan.emulator
ip link add name eth0 address 02:54:42:00:00:05 mtu 1500 netns tb-east type veth peer name end1 mtu 1500 netns tb-wan.emulator
ip link add name eth1 address 02:54:42:00:00:06 mtu 1500 netns tb-east type veth peer name end0 mtu 1500 netns tb-east-a-access.emulator
ip link add name wire0 mtu 1500 netns tb-east-a-access.emulator type veth peer name wire1 mtu 1500 netns tb-east-a-access.emulator
ip link add name eth0 address 02:54:42:00:00:07 mtu 1500 netns tb-east-a type veth peer name end1 mtu 1500 netns tb-east-a-access.emulator
ip link add name eth2 address 02:54:42:00:00:08 mtu 1500 netns tb-east type veth peer name end0 mtu 1500 netns tb-east-b-access.emulator
ip link add name wire0 mtu 1500 netns tb-east-b-access.emulator type veth peer name wire1 mtu 1500 netns tb-east-b-access.emulator
ip link add name eth0 address 02:54:42:00:00:09 mtu 1500 netns tb-east-b type veth peer name end1 mtu 1500 netns tb-east-b-access.emulator
ip netns exec tb-west-a sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-west-a sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-west-a sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-west-a sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-west-a address add 10.0.0.1/24 dev eth0
ip -n tb-west-a link set lo up
ip -n tb-west-a link set eth0 up
ip -n tb-west-a neighbour replace 10.0.0.2 lladdr 02:54:42:00:00:01 dev eth0 nud permanent
ip -n tb-west-a route replace default via 10.0.0.2 dev eth0
ip netns exec tb-west-b sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-west-b sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-west-b sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-west-b sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-west-b address add 10.0.1.1/24 dev eth0
ip -n tb-west-b link set lo up
ip -n tb-west-b link set eth0 up
ip -n tb-west-b neighbour replace 10.0.1.2 lladdr 02:54:42:00:00:03 dev eth0 nud permanent
ip -n tb-west-b route replace default via 10.0.1.2 dev eth0
ip netns exec tb-west sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-west sh -c 'echo 1 > /proc/sys/net/ipv4/ip_forward'
ip netns exec tb-west sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/forwarding'
ip netns exec tb-west sh -c 'echo 0 > /proc/sys/net/ipv4/conf/all/rp_filter'
ip netns exec tb-west sh -c 'echo 0 > /proc/sys/net/ipv4/conf/all/send_redirects'
ip netns exec tb-west sh -c 'echo 0 > /proc/sys/net/ipv4/conf/default/send_redirects'
ip netns exec tb-west sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth0/send_redirects'
ip netns exec tb-west sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth1/send_redirects'
ip netns exec tb-west sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth2/send_redirects'
ip -n tb-west address add 10.0.0.2/24 dev eth0
ip -n tb-west address add 10.0.1.2/24 dev eth1
ip -n tb-west address add 10.0.2.1/24 dev eth2
ip -n tb-west link set lo up
ip -n tb-west link set eth0 up
ip -n tb-west link set eth1 up
ip -n tb-west link set eth2 up
ip -n tb-west neighbour replace 10.0.0.1 lladdr 02:54:42:00:00:00 dev eth0 nud permanent
ip -n tb-west neighbour replace 10.0.1.1 lladdr 02:54:42:00:00:02 dev eth1 nud permanent
ip -n tb-west neighbour replace 10.0.2.2 lladdr 02:54:42:00:00:05 dev eth2 nud permanent
ip -n tb-west route replace default via 10.0.2.2 dev eth2
ip netns exec tb-east sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-east sh -c 'echo 1 > /proc/sys/net/ipv4/ip_forward'
ip netns exec tb-east sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/forwarding'
ip netns exec tb-east sh -c 'echo 0 > /proc/sys/net/ipv4/conf/all/rp_filter'
ip netns exec tb-east sh -c 'echo 0 > /proc/sys/net/ipv4/conf/all/send_redirects'
ip netns exec tb-east sh -c 'echo 0 > /proc/sys/net/ipv4/conf/default/send_redirects'
ip netns exec tb-east sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth0/send_redirects'
ip netns exec tb-east sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth1/send_redirects'
ip netns exec tb-east sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth2/send_redirects'
ip -n tb-east address add 10.0.2.2/24 dev eth0
ip -n tb-east address add 10.0.3.1/24 dev eth1
ip -n tb-east address add 10.0.4.1/24 dev eth2
ip -n tb-east link set lo up
ip -n tb-east link set eth0 up
ip -n tb-east link set eth1 up
ip -n tb-east link set eth2 up
ip -n tb-east neighbour replace 10.0.2.1 lladdr 02:54:42:00:00:04 dev eth0 nud permanent
ip -n tb-east neighbour replace 10.0.3.2 lladdr 02:54:42:00:00:07 dev eth1 nud permanent
ip -n tb-east neighbour replace 10.0.4.2 lladdr 02:54:42:00:00:09 dev eth2 nud permanent
ip -n tb-east route replace default via 10.0.2.1 dev eth0
ip netns exec tb-east-a sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-east-a sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-east-a sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-east-a sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-east-a address add 10.0.3.2/24 dev eth0
ip -n tb-east-a link set lo up
ip -n tb-east-a link set eth0 up
ip -n tb-east-a neighbour replace 10.0.3.1 lladdr 02:54:42:00:00:06 dev eth0 nud permanent
ip -n tb-east-a route replace default via 10.0.3.1 dev eth0
ip netns exec tb-east-b sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-east-b sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-east-b sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-east-b sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-east-b address add 10.0.4.2/24 dev eth0
ip -n tb-east-b link set lo up
ip -n tb-east-b link set eth0 up
ip -n tb-east-b neighbour replace 10.0.4.1 lladdr 02:54:42:00:00:08 dev eth0 nud permanent
ip -n tb-east-b route replace default via 10.0.4.1 dev eth0
ip netns exec tb-west-a ethtool -K eth0 gro on
ip netns exec tb-west-a sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-west-a sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-west-b ethtool -K eth0 gro on
ip netns exec tb-west-b sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-west-b sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-east-a ethtool -K eth0 gro on
ip netns exec tb-east-a sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-east-a sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-east-b ethtool -K eth0 gro on
ip netns exec tb-east-b sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-east-b sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-west-a-access.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-west-b-access.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-wan.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-east-a-access.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-east-b-access.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-west-a-access.emulator link set end0 up
ip -n tb-west-a-access.emulator link set end1 up
ip -n tb-west-a-access.emulator link set wire0 up
ip -n tb-west-a-access.emulator link set wire1 up
ip -n tb-west-b-access.emulator link set end0 up
ip -n tb-west-b-access.emulator link set end1 up
ip -n tb-west-b-access.emulator link set wire0 up
ip -n tb-west-b-access.emulator link set wire1 up
ip -n tb-wan.emulator link set end0 up
ip -n tb-wan.emulator link set end1 up
ip -n tb-wan.emulator link set wire0 up
ip -n tb-wan.emulator link set wire1 up
ip -n tb-east-a-access.emulator link set end0 up
ip -n tb-east-a-access.emulator link set end1 up
ip -n tb-east-a-access.emulator link set wire0 up
ip -n tb-east-a-access.emulator link set wire1 up
ip -n tb-east-b-access.emulator link set end0 up
ip -n tb-east-b-access.emulator link set end1 up
ip -n tb-east-b-access.emulator link set wire0 up
ip -n tb-east-b-access.emulator link set wire1 up
ip netns exec tb-west-a-access.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-west-a-access.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-west-a-access.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-west-a-access.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-west-a-access.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 500us
tc -n tb-west-a-access.emulator qdisc add dev end1 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
tc -n tb-west-a-access.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 500us
tc -n tb-west-a-access.emulator qdisc add dev end0 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
ip netns exec tb-west-a-access.emulator nft 'add table netdev testbed'
ip netns exec tb-west-a-access.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-west-a-access.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-west-a-access.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-west-a-access.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-west-a-access.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-west-a-access.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-west-a-access.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-west-a-access.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-west-a-access.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-west-a-access.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-west-a-access.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-west-a-access.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-west-a-access.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-west-a-access.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-west-a-access.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-west-a-access.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-west-a-access.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-west-a-access.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-west-a-access.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-west-a-access.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-west-a-access.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-west-a-access.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-west-a-access.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-west-a-access.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-west-b-access.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-west-b-access.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-west-b-access.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-west-b-access.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-west-b-access.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 500us
tc -n tb-west-b-access.emulator qdisc add dev end1 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
tc -n tb-west-b-access.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 500us
tc -n tb-west-b-access.emulator qdisc add dev end0 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
ip netns exec tb-west-b-access.emulator nft 'add table netdev testbed'
ip netns exec tb-west-b-access.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-west-b-access.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-west-b-access.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-west-b-access.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-west-b-access.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-west-b-access.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-west-b-access.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-west-b-access.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-west-b-access.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-west-b-access.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-west-b-access.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-west-b-access.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-west-b-access.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-west-b-access.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-west-b-access.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-west-b-access.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-west-b-access.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-west-b-access.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-west-b-access.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-west-b-access.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-west-b-access.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-west-b-access.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-west-b-access.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-west-b-access.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-wan.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-wan.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-wan.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-wan.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-wan.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 100000us
tc -n tb-wan.emulator qdisc add dev end1 root handle 2: tbf rate 100000000bit burst 2271 limit 2500000
tc -n tb-wan.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 100000us
tc -n tb-wan.emulator qdisc add dev end0 root handle 2: tbf rate 100000000bit burst 2271 limit 2500000
ip netns exec tb-wan.emulator nft 'add table netdev testbed'
ip netns exec tb-wan.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-wan.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-wan.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-wan.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-wan.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-wan.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-wan.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-wan.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-wan.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-wan.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-wan.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-wan.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-wan.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-wan.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-wan.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-wan.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-wan.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-wan.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-wan.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-wan.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-wan.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-wan.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-wan.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-wan.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-east-a-access.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-east-a-access.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-east-a-access.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-east-a-access.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-east-a-access.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 500us
tc -n tb-east-a-access.emulator qdisc add dev end1 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
tc -n tb-east-a-access.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 500us
tc -n tb-east-a-access.emulator qdisc add dev end0 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
ip netns exec tb-east-a-access.emulator nft 'add table netdev testbed'
ip netns exec tb-east-a-access.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-east-a-access.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-east-a-access.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-east-a-access.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-east-a-access.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-east-a-access.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-east-a-access.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-east-a-access.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-east-a-access.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-east-a-access.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-east-a-access.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-east-a-access.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-east-a-access.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-east-a-access.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-east-a-access.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-east-a-access.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-east-a-access.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-east-a-access.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-east-a-access.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-east-a-access.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-east-a-access.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-east-a-access.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-east-a-access.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-east-a-access.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-east-b-access.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-east-b-access.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-east-b-access.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-east-b-access.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-east-b-access.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 500us
tc -n tb-east-b-access.emulator qdisc add dev end1 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
tc -n tb-east-b-access.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 500us
tc -n tb-east-b-access.emulator qdisc add dev end0 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
ip netns exec tb-east-b-access.emulator nft 'add table netdev testbed'
ip netns exec tb-east-b-access.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-east-b-access.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-east-b-access.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-east-b-access.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-east-b-access.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-east-b-access.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-east-b-access.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-east-b-access.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-east-b-access.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-east-b-access.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-east-b-access.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-east-b-access.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-east-b-access.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-east-b-access.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-east-b-access.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-east-b-access.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-east-b-access.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-east-b-access.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-east-b-access.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-east-b-access.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-east-b-access.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-east-b-access.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-east-b-access.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-east-b-access.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'

# While the workload runs, counted from its start:
# 10 s:
#   tc -n tb-wan.emulator qdisc change dev end1 root handle 2: tbf rate 5000000bit burst 2271 limit 2500000
#   tc -n tb-wan.emulator qdisc change dev end0 root handle 2: tbf rate 5000000bit burst 2271 limit 2500000
# 20 s:
#   tc -n tb-wan.emulator qdisc change dev end1 root handle 2: tbf rate 100000000bit burst 2271 limit 2500000
#   tc -n tb-wan.emulator qdisc change dev end0 root handle 2: tbf rate 100000000bit burst 2271 limit 2500000

# To take it down:
#   ip netns exec tb-east-b-access.emulator nft 'delete table netdev testbed'
#   tc -n tb-east-b-access.emulator qdisc del dev end0 root
#   tc -n tb-east-b-access.emulator qdisc del dev wire1 root
#   tc -n tb-east-b-access.emulator qdisc del dev end1 root
#   tc -n tb-east-b-access.emulator qdisc del dev wire0 root
#   ip netns exec tb-east-a-access.emulator nft 'delete table netdev testbed'
#   tc -n tb-east-a-access.emulator qdisc del dev end0 root
#   tc -n tb-east-a-access.emulator qdisc del dev wire1 root
#   tc -n tb-east-a-access.emulator qdisc del dev end1 root
#   tc -n tb-east-a-access.emulator qdisc del dev wire0 root
#   ip netns exec tb-wan.emulator nft 'delete table netdev testbed'
#   tc -n tb-wan.emulator qdisc del dev end0 root
#   tc -n tb-wan.emulator qdisc del dev wire1 root
#   tc -n tb-wan.emulator qdisc del dev end1 root
#   tc -n tb-wan.emulator qdisc del dev wire0 root
#   ip netns exec tb-west-b-access.emulator nft 'delete table netdev testbed'
#   tc -n tb-west-b-access.emulator qdisc del dev end0 root
#   tc -n tb-west-b-access.emulator qdisc del dev wire1 root
#   tc -n tb-west-b-access.emulator qdisc del dev end1 root
#   tc -n tb-west-b-access.emulator qdisc del dev wire0 root
#   ip netns exec tb-west-a-access.emulator nft 'delete table netdev testbed'
#   tc -n tb-west-a-access.emulator qdisc del dev end0 root
#   tc -n tb-west-a-access.emulator qdisc del dev wire1 root
#   tc -n tb-west-a-access.emulator qdisc del dev end1 root
#   tc -n tb-west-a-access.emulator qdisc del dev wire0 root
#   ip netns del tb-east-b-access.emulator
#   ip netns del tb-east-a-access.emulator
#   ip netns del tb-wan.emulator
#   ip netns del tb-west-b-access.emulator
#   ip netns del tb-west-a-access.emulator
#   ip netns del tb-east-b
#   ip netns del tb-east-a
#   ip netns del tb-east
#   ip netns del tb-west
#   ip netns del tb-west-b
#   ip netns del tb-west-a
