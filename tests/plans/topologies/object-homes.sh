#!/bin/sh -e
ip netns add tb-home
ip netns add tb-isp
ip netns add tb-edge
ip netns add tb-store-us
ip netns add tb-store-eu
ip netns add tb-store-sa
ip netns add tb-store-ap
ip netns add tb-access.emulator
ip netns add tb-peering.emulator
ip netns add tb-us.emulator
ip netns add tb-eu.emulator
ip netns add tb-sa.emulator
ip netns add tb-ap.emulator
ip link add name eth0 address 02:54:42:00:00:00 mtu 1500 netns tb-isp type veth peer name end0 mtu 1500 netns tb-access.emulator
ip link add name wire0 mtu 1500 netns tb-access.emulator type veth peer name wire1 mtu 1500 netns tb-access.emulator
ip link add name eth0 address 02:54:42:00:00:01 mtu 1500 netns tb-home type veth peer name end1 mtu 1500 netns tb-access.emulator
ip link add name eth0 address 02:54:42:00:00:02 mtu 1500 netns tb-edge type veth peer name end0 mtu 1500 netns tb-peering.emulator
ip link add name wire0 mtu 1500 netns tb-peering.emulator type veth peer name wire1 mtu 1500 netns tb-peering.emulator
ip link add name eth1 address 02:54:42:00:00:03 mtu 1500 netns tb-isp type veth peer name end1 mtu 1500 netns tb-peering.emulator
ip link add name eth0 address 02:54:42:00:00:04 mtu 1500 netns tb-store-us type veth peer name end0 mtu 1500 netns tb-us.emulator
ip link add name wire0 mtu 1500 netns tb-us.emulator type veth peer name wire1 mtu 1500 netns tb-us.emulator
ip link add name eth2 address 02:54:42:00:00:05 mtu 1500 netns tb-isp type veth peer name end1 mtu 1500 netns tb-us.emulator
ip link add name eth0 address 02:54:42:00:00:06 mtu 1500 netns tb-store-eu type veth peer name end0 mtu 1500 netns tb-eu.emulator
ip link add name wire0 mtu 1500 netns tb-eu.emulator type veth peer name wire1 mtu 1500 netns tb-eu.emulator
ip link add name eth3 address 02:54:42:00:00:07 mtu 1500 netns tb-isp type veth peer name end1 mtu 1500 netns tb-eu.emulator
ip link add name eth0 address 02:54:42:00:00:08 mtu 1500 netns tb-store-sa type veth peer name end0 mtu 1500 netns tb-sa.emulator
ip link add name wire0 mtu 1500 netns tb-sa.emulator type veth peer name wire1 mtu 1500 netns tb-sa.emulator
ip link add name eth4 address 02:54:42:00:00:09 mtu 1500 netns tb-isp type veth peer name end1 mtu 1500 netns tb-sa.emulator
ip link add name eth0 address 02:54:42:00:00:0a mtu 1500 netns tb-store-ap type veth peer name end0 mtu 1500 netns tb-ap.emulator
ip link add name wire0 mtu 1500 netns tb-ap.emulator type veth peer name wire1 mtu 1500 netns tb-ap.emulator
ip link add name eth5 address 02:54:42:00:00:0b mtu 1500 netns tb-isp type veth peer name end1 mtu 1500 netns tb-ap.emulator
ip netns exec tb-home sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-home sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-home sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-home sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-home address add 10.0.0.2/24 dev eth0
ip -n tb-home link set lo up
ip -n tb-home link set eth0 up
ip -n tb-home neighbour replace 10.0.0.1 lladdr 02:54:42:00:00:00 dev eth0 nud permanent
ip -n tb-home route replace default via 10.0.0.1 dev eth0
ip netns exec tb-isp sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-isp sh -c 'echo 1 > /proc/sys/net/ipv4/ip_forward'
ip netns exec tb-isp sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/forwarding'
ip netns exec tb-isp sh -c 'echo 0 > /proc/sys/net/ipv4/conf/all/rp_filter'
ip netns exec tb-isp sh -c 'echo 0 > /proc/sys/net/ipv4/conf/all/send_redirects'
ip netns exec tb-isp sh -c 'echo 0 > /proc/sys/net/ipv4/conf/default/send_redirects'
ip netns exec tb-isp sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth0/send_redirects'
ip netns exec tb-isp sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth1/send_redirects'
ip netns exec tb-isp sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth2/send_redirects'
ip netns exec tb-isp sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth3/send_redirects'
ip netns exec tb-isp sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth4/send_redirects'
ip netns exec tb-isp sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth5/send_redirects'
ip -n tb-isp address add 10.0.0.1/24 dev eth0
ip -n tb-isp address add 10.0.1.2/24 dev eth1
ip -n tb-isp address add 10.0.2.2/24 dev eth2
ip -n tb-isp address add 10.0.3.2/24 dev eth3
ip -n tb-isp address add 10.0.4.2/24 dev eth4
ip -n tb-isp address add 10.0.5.2/24 dev eth5
ip -n tb-isp link set lo up
ip -n tb-isp link set eth0 up
ip -n tb-isp link set eth1 up
ip -n tb-isp link set eth2 up
ip -n tb-isp link set eth3 up
ip -n tb-isp link set eth4 up
ip -n tb-isp link set eth5 up
ip -n tb-isp neighbour replace 10.0.0.2 lladdr 02:54:42:00:00:01 dev eth0 nud permanent
ip -n tb-isp neighbour replace 10.0.1.1 lladdr 02:54:42:00:00:02 dev eth1 nud permanent
ip -n tb-isp neighbour replace 10.0.2.1 lladdr 02:54:42:00:00:04 dev eth2 nud permanent
ip -n tb-isp neighbour replace 10.0.3.1 lladdr 02:54:42:00:00:06 dev eth3 nud permanent
ip -n tb-isp neighbour replace 10.0.4.1 lladdr 02:54:42:00:00:08 dev eth4 nud permanent
ip -n tb-isp neighbour replace 10.0.5.1 lladdr 02:54:42:00:00:0a dev eth5 nud permanent
ip netns exec tb-edge sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-edge sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-edge sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-edge sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-edge address add 10.0.1.1/24 dev eth0
ip -n tb-edge link set lo up
ip -n tb-edge link set eth0 up
ip -n tb-edge neighbour replace 10.0.1.2 lladdr 02:54:42:00:00:03 dev eth0 nud permanent
ip -n tb-edge route replace default via 10.0.1.2 dev eth0
ip netns exec tb-store-us sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-store-us sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-store-us sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-store-us sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-store-us address add 10.0.2.1/24 dev eth0
ip -n tb-store-us link set lo up
ip -n tb-store-us link set eth0 up
ip -n tb-store-us neighbour replace 10.0.2.2 lladdr 02:54:42:00:00:05 dev eth0 nud permanent
ip -n tb-store-us route replace default via 10.0.2.2 dev eth0
ip netns exec tb-store-eu sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-store-eu sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-store-eu sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-store-eu sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-store-eu address add 10.0.3.1/24 dev eth0
ip -n tb-store-eu link set lo up
ip -n tb-store-eu link set eth0 up
ip -n tb-store-eu neighbour replace 10.0.3.2 lladdr 02:54:42:00:00:07 dev eth0 nud permanent
ip -n tb-store-eu route replace default via 10.0.3.2 dev eth0
ip netns exec tb-store-sa sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-store-sa sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-store-sa sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-store-sa sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-store-sa address add 10.0.4.1/24 dev eth0
ip -n tb-store-sa link set lo up
ip -n tb-store-sa link set eth0 up
ip -n tb-store-sa neighbour replace 10.0.4.2 lladdr 02:54:42:00:00:09 dev eth0 nud permanent
ip -n tb-store-sa route replace default via 10.0.4.2 dev eth0
ip netns exec tb-store-ap sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-store-ap sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-store-ap sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-store-ap sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-store-ap address add 10.0.5.1/24 dev eth0
ip -n tb-store-ap link set lo up
ip -n tb-store-ap link set eth0 up
ip -n tb-store-ap neighbour replace 10.0.5.2 lladdr 02:54:42:00:00:0b dev eth0 nud permanent
ip -n tb-store-ap route replace default via 10.0.5.2 dev eth0
ip netns exec tb-home ethtool -K eth0 gro on
ip netns exec tb-home sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-home sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-edge ethtool -K eth0 gro on
ip netns exec tb-edge sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-edge sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-store-us ethtool -K eth0 gro on
ip netns exec tb-store-us sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-store-us sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-store-eu ethtool -K eth0 gro on
ip netns exec tb-store-eu sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-store-eu sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-store-sa ethtool -K eth0 gro on
ip netns exec tb-store-sa sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-store-sa sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-store-ap ethtool -K eth0 gro on
ip netns exec tb-store-ap sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-store-ap sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-access.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-peering.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-us.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-eu.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-sa.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-ap.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-access.emulator link set end0 up
ip -n tb-access.emulator link set end1 up
ip -n tb-access.emulator link set wire0 up
ip -n tb-access.emulator link set wire1 up
ip -n tb-peering.emulator link set end0 up
ip -n tb-peering.emulator link set end1 up
ip -n tb-peering.emulator link set wire0 up
ip -n tb-peering.emulator link set wire1 up
ip -n tb-us.emulator link set end0 up
ip -n tb-us.emulator link set end1 up
ip -n tb-us.emulator link set wire0 up
ip -n tb-us.emulator link set wire1 up
ip -n tb-eu.emulator link set end0 up
ip -n tb-eu.emulator link set end1 up
ip -n tb-eu.emulator link set wire0 up
ip -n tb-eu.emulator link set wire1 up
ip -n tb-sa.emulator link set end0 up
ip -n tb-sa.emulator link set end1 up
ip -n tb-sa.emulator link set wire0 up
ip -n tb-sa.emulator link set wire1 up
ip -n tb-ap.emulator link set end0 up
ip -n tb-ap.emulator link set end1 up
ip -n tb-ap.emulator link set wire0 up
ip -n tb-ap.emulator link set wire1 up
ip netns exec tb-access.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-access.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-access.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-access.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-access.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 5000us
tc -n tb-access.emulator qdisc add dev end1 root handle 2: tbf rate 50000000bit burst 2271 limit 151400
tc -n tb-access.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 5000us
tc -n tb-access.emulator qdisc add dev end0 root handle 2: tbf rate 50000000bit burst 2271 limit 151400
ip netns exec tb-access.emulator nft 'add table netdev testbed'
ip netns exec tb-access.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-access.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-access.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-access.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-access.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-access.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-access.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-access.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-access.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-access.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-access.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-access.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-access.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-access.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-access.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-access.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-access.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-access.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-access.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-access.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-access.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-access.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-access.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-access.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-peering.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-peering.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-peering.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-peering.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-peering.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 3000us
tc -n tb-peering.emulator qdisc add dev end1 root handle 2: tbf rate 1000000000bit burst 2271 limit 750000
tc -n tb-peering.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 3000us
tc -n tb-peering.emulator qdisc add dev end0 root handle 2: tbf rate 1000000000bit burst 2271 limit 750000
ip netns exec tb-peering.emulator nft 'add table netdev testbed'
ip netns exec tb-peering.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-peering.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-peering.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-peering.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-peering.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-peering.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-peering.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-peering.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-peering.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-peering.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-peering.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-peering.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-peering.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-peering.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-peering.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-peering.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-peering.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-peering.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-peering.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-peering.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-peering.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-peering.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-peering.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-peering.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-us.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-us.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-us.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-us.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-us.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 15000us
tc -n tb-us.emulator qdisc add dev end1 root handle 2: tbf rate 40000000bit burst 2271 limit 151400
tc -n tb-us.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 15000us
tc -n tb-us.emulator qdisc add dev end0 root handle 2: tbf rate 40000000bit burst 2271 limit 151400
ip netns exec tb-us.emulator nft 'add table netdev testbed'
ip netns exec tb-us.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-us.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-us.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-us.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-us.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-us.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-us.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-us.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-us.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-us.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-us.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-us.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-us.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-us.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-us.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-us.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-us.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-us.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-us.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-us.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-us.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-us.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-us.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-us.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-eu.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-eu.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-eu.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-eu.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-eu.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 45000us
tc -n tb-eu.emulator qdisc add dev end1 root handle 2: tbf rate 20000000bit burst 2271 limit 225000
tc -n tb-eu.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 45000us
tc -n tb-eu.emulator qdisc add dev end0 root handle 2: tbf rate 20000000bit burst 2271 limit 225000
ip netns exec tb-eu.emulator nft 'add table netdev testbed'
ip netns exec tb-eu.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-eu.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-eu.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-eu.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-eu.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-eu.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-eu.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-eu.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-eu.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-eu.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-eu.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-eu.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-eu.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-eu.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-eu.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-eu.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-eu.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-eu.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-eu.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-eu.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-eu.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-eu.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-eu.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-eu.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-sa.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-sa.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-sa.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-sa.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-sa.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 65000us
tc -n tb-sa.emulator qdisc add dev end1 root handle 2: tbf rate 10000000bit burst 2271 limit 162500
tc -n tb-sa.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 65000us
tc -n tb-sa.emulator qdisc add dev end0 root handle 2: tbf rate 10000000bit burst 2271 limit 162500
ip netns exec tb-sa.emulator nft 'add table netdev testbed'
ip netns exec tb-sa.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-sa.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-sa.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-sa.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-sa.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-sa.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-sa.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-sa.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-sa.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-sa.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-sa.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-sa.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-sa.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-sa.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-sa.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-sa.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-sa.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-sa.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-sa.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-sa.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-sa.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-sa.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-sa.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-sa.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-ap.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-ap.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-ap.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-ap.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-ap.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 115000us
tc -n tb-ap.emulator qdisc add dev end1 root handle 2: tbf rate 10000000bit burst 2271 limit 287500
tc -n tb-ap.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 115000us
tc -n tb-ap.emulator qdisc add dev end0 root handle 2: tbf rate 10000000bit burst 2271 limit 287500
ip netns exec tb-ap.emulator nft 'add table netdev testbed'
ip netns exec tb-ap.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-ap.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-ap.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-ap.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-ap.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-ap.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-ap.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-ap.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-ap.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-ap.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-ap.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-ap.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-ap.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-ap.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-ap.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-ap.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-ap.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-ap.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-ap.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-ap.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-ap.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-ap.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-ap.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-ap.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'

# To take it down:
#   ip netns exec tb-ap.emulator nft 'delete table netdev testbed'
#   tc -n tb-ap.emulator qdisc del dev end0 root
#   tc -n tb-ap.emulator qdisc del dev wire1 root
#   tc -n tb-ap.emulator qdisc del dev end1 root
#   tc -n tb-ap.emulator qdisc del dev wire0 root
#   ip netns exec tb-sa.emulator nft 'delete table netdev testbed'
#   tc -n tb-sa.emulator qdisc del dev end0 root
#   tc -n tb-sa.emulator qdisc del dev wire1 root
#   tc -n tb-sa.emulator qdisc del dev end1 root
#   tc -n tb-sa.emulator qdisc del dev wire0 root
#   ip netns exec tb-eu.emulator nft 'delete table netdev testbed'
#   tc -n tb-eu.emulator qdisc del dev end0 root
#   tc -n tb-eu.emulator qdisc del dev wire1 root
#   tc -n tb-eu.emulator qdisc del dev end1 root
#   tc -n tb-eu.emulator qdisc del dev wire0 root
#   ip netns exec tb-us.emulator nft 'delete table netdev testbed'
#   tc -n tb-us.emulator qdisc del dev end0 root
#   tc -n tb-us.emulator qdisc del dev wire1 root
#   tc -n tb-us.emulator qdisc del dev end1 root
#   tc -n tb-us.emulator qdisc del dev wire0 root
#   ip netns exec tb-peering.emulator nft 'delete table netdev testbed'
#   tc -n tb-peering.emulator qdisc del dev end0 root
#   tc -n tb-peering.emulator qdisc del dev wire1 root
#   tc -n tb-peering.emulator qdisc del dev end1 root
#   tc -n tb-peering.emulator qdisc del dev wire0 root
#   ip netns exec tb-access.emulator nft 'delete table netdev testbed'
#   tc -n tb-access.emulator qdisc del dev end0 root
#   tc -n tb-access.emulator qdisc del dev wire1 root
#   tc -n tb-access.emulator qdisc del dev end1 root
#   tc -n tb-access.emulator qdisc del dev wire0 root
#   ip netns del tb-ap.emulator
#   ip netns del tb-sa.emulator
#   ip netns del tb-eu.emulator
#   ip netns del tb-us.emulator
#   ip netns del tb-peering.emulator
#   ip netns del tb-access.emulator
#   ip netns del tb-store-ap
#   ip netns del tb-store-sa
#   ip netns del tb-store-eu
#   ip netns del tb-store-us
#   ip netns del tb-edge
#   ip netns del tb-isp
#   ip netns del tb-home
