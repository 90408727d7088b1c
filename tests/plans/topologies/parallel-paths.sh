#!/bin/sh -e
ip netns add tb-client
ip netns add tb-neighbour
ip netns add tb-edge
ip netns add tb-busy
ip netns add tb-idle
ip netns add tb-to-busy.emulator
ip netns add tb-to-idle.emulator
ip link add name eth0 address 02:54:42:00:00:00 mtu 9000 netns tb-client type veth peer name eth0 address 02:54:42:00:00:01 mtu 9000 netns tb-edge
ip link add name eth0 address 02:54:42:00:00:02 mtu 9000 netns tb-neighbour type veth peer name eth1 address 02:54:42:00:00:03 mtu 9000 netns tb-edge
ip link add name eth2 address 02:54:42:00:00:04 mtu 9000 netns tb-edge type veth peer name end0 mtu 9000 netns tb-to-busy.emulator
ip link add name wire0 mtu 9000 netns tb-to-busy.emulator type veth peer name wire1 mtu 9000 netns tb-to-busy.emulator
ip link add name eth0 address 02:54:42:00:00:05 mtu 9000 netns tb-busy type veth peer name end1 mtu 9000 netns tb-to-busy.emulator
ip link add name eth3 address 02:54:42:00:00:06 mtu 9000 netns tb-edge type veth peer name end0 mtu 9000 netns tb-to-idle.emulator
ip link add name wire0 mtu 9000 netns tb-to-idle.emulator type veth peer name wire1 mtu 9000 netns tb-to-idle.emulator
ip link add name eth0 address 02:54:42:00:00:07 mtu 9000 netns tb-idle type veth peer name end1 mtu 9000 netns tb-to-idle.emulator
ip netns exec tb-client sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-client sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-client sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-client sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-client address add 10.0.0.1/24 dev eth0
ip -n tb-client link set lo up
ip -n tb-client link set eth0 up
ip -n tb-client neighbour replace 10.0.0.2 lladdr 02:54:42:00:00:01 dev eth0 nud permanent
ip -n tb-client route replace default via 10.0.0.2 dev eth0
ip netns exec tb-neighbour sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-neighbour sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-neighbour sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-neighbour sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-neighbour address add 10.0.1.1/24 dev eth0
ip -n tb-neighbour link set lo up
ip -n tb-neighbour link set eth0 up
ip -n tb-neighbour neighbour replace 10.0.1.2 lladdr 02:54:42:00:00:03 dev eth0 nud permanent
ip -n tb-neighbour route replace default via 10.0.1.2 dev eth0
ip netns exec tb-edge sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-edge sh -c 'echo 1 > /proc/sys/net/ipv4/ip_forward'
ip netns exec tb-edge sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/forwarding'
ip netns exec tb-edge sh -c 'echo 0 > /proc/sys/net/ipv4/conf/all/rp_filter'
ip netns exec tb-edge sh -c 'echo 0 > /proc/sys/net/ipv4/conf/all/send_redirects'
ip netns exec tb-edge sh -c 'echo 0 > /proc/sys/net/ipv4/conf/default/send_redirects'
ip netns exec tb-edge sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth0/send_redirects'
ip netns exec tb-edge sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth1/send_redirects'
ip netns exec tb-edge sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth2/send_redirects'
ip netns exec tb-edge sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth3/send_redirects'
ip -n tb-edge address add 10.0.0.2/24 dev eth0
ip -n tb-edge address add 10.0.1.2/24 dev eth1
ip -n tb-edge address add 10.0.2.1/24 dev eth2
ip -n tb-edge address add 10.0.3.1/24 dev eth3
ip -n tb-edge link set lo up
ip -n tb-edge link set eth0 up
ip -n tb-edge link set eth1 up
ip -n tb-edge link set eth2 up
ip -n tb-edge link set eth3 up
ip -n tb-edge neighbour replace 10.0.0.1 lladdr 02:54:42:00:00:00 dev eth0 nud permanent
ip -n tb-edge neighbour replace 10.0.1.1 lladdr 02:54:42:00:00:02 dev eth1 nud permanent
ip -n tb-edge neighbour replace 10.0.2.2 lladdr 02:54:42:00:00:05 dev eth2 nud permanent
ip -n tb-edge neighbour replace 10.0.3.2 lladdr 02:54:42:00:00:07 dev eth3 nud permanent
ip netns exec tb-busy sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-busy sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-busy sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-busy sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-busy address add 10.0.2.2/24 dev eth0
ip -n tb-busy link set lo up
ip -n tb-busy link set eth0 up
ip -n tb-busy neighbour replace 10.0.2.1 lladdr 02:54:42:00:00:04 dev eth0 nud permanent
ip -n tb-busy route replace default via 10.0.2.1 dev eth0
ip netns exec tb-idle sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-idle sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-idle sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-idle sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-idle address add 10.0.3.2/24 dev eth0
ip -n tb-idle link set lo up
ip -n tb-idle link set eth0 up
ip -n tb-idle neighbour replace 10.0.3.1 lladdr 02:54:42:00:00:06 dev eth0 nud permanent
ip -n tb-idle route replace default via 10.0.3.1 dev eth0
ip netns exec tb-edge ethtool -K eth0 tso off gso off tx-udp-segmentation off
ip netns exec tb-client ethtool -K eth0 gro on
ip netns exec tb-client sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-client sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-edge ethtool -K eth1 tso off gso off tx-udp-segmentation off
ip netns exec tb-neighbour ethtool -K eth0 gro on
ip netns exec tb-neighbour sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-neighbour sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-busy ethtool -K eth0 gro on
ip netns exec tb-busy sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-busy sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-idle ethtool -K eth0 gro on
ip netns exec tb-idle sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-idle sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-to-busy.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-to-idle.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-to-busy.emulator link set end0 up
ip -n tb-to-busy.emulator link set end1 up
ip -n tb-to-busy.emulator link set wire0 up
ip -n tb-to-busy.emulator link set wire1 up
ip -n tb-to-idle.emulator link set end0 up
ip -n tb-to-idle.emulator link set end1 up
ip -n tb-to-idle.emulator link set wire0 up
ip -n tb-to-idle.emulator link set wire1 up
ip netns exec tb-to-busy.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-to-busy.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-to-busy.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-to-busy.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-to-busy.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 40000us
tc -n tb-to-busy.emulator qdisc add dev end1 root handle 2: tbf rate 10000000000bit burst 13521 limit 100000000
tc -n tb-to-busy.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 40000us
tc -n tb-to-busy.emulator qdisc add dev end0 root handle 2: tbf rate 10000000000bit burst 13521 limit 100000000
ip netns exec tb-to-busy.emulator nft 'add table netdev testbed'
ip netns exec tb-to-busy.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-to-busy.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-to-busy.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-to-busy.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-to-busy.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-to-busy.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-to-busy.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-to-busy.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-to-busy.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-to-busy.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-to-busy.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-to-busy.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-to-busy.emulator nft 'add rule netdev testbed data-forward meta length > 9000 counter name "oversize-forward"'
ip netns exec tb-to-busy.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-to-busy.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-to-busy.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-to-busy.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-to-busy.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-to-busy.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-to-busy.emulator nft 'add rule netdev testbed data-backward meta length > 9000 counter name "oversize-backward"'
ip netns exec tb-to-busy.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-to-busy.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-to-busy.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-to-busy.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-to-idle.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-to-idle.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-to-idle.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-to-idle.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-to-idle.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 40500us
tc -n tb-to-idle.emulator qdisc add dev end1 root handle 2: tbf rate 10000000000bit burst 13521 limit 101250000
tc -n tb-to-idle.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 40500us
tc -n tb-to-idle.emulator qdisc add dev end0 root handle 2: tbf rate 10000000000bit burst 13521 limit 101250000
ip netns exec tb-to-idle.emulator nft 'add table netdev testbed'
ip netns exec tb-to-idle.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-to-idle.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-to-idle.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-to-idle.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-to-idle.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-to-idle.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-to-idle.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-to-idle.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-to-idle.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-to-idle.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-to-idle.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-to-idle.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-to-idle.emulator nft 'add rule netdev testbed data-forward meta length > 9000 counter name "oversize-forward"'
ip netns exec tb-to-idle.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-to-idle.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-to-idle.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-to-idle.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-to-idle.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-to-idle.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-to-idle.emulator nft 'add rule netdev testbed data-backward meta length > 9000 counter name "oversize-backward"'
ip netns exec tb-to-idle.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-to-idle.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-to-idle.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-to-idle.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'

# To take it down:
#   ip netns exec tb-to-idle.emulator nft 'delete table netdev testbed'
#   tc -n tb-to-idle.emulator qdisc del dev end0 root
#   tc -n tb-to-idle.emulator qdisc del dev wire1 root
#   tc -n tb-to-idle.emulator qdisc del dev end1 root
#   tc -n tb-to-idle.emulator qdisc del dev wire0 root
#   ip netns exec tb-to-busy.emulator nft 'delete table netdev testbed'
#   tc -n tb-to-busy.emulator qdisc del dev end0 root
#   tc -n tb-to-busy.emulator qdisc del dev wire1 root
#   tc -n tb-to-busy.emulator qdisc del dev end1 root
#   tc -n tb-to-busy.emulator qdisc del dev wire0 root
#   ip netns del tb-to-idle.emulator
#   ip netns del tb-to-busy.emulator
#   ip netns del tb-idle
#   ip netns del tb-busy
#   ip netns del tb-edge
#   ip netns del tb-neighbour
#   ip netns del tb-client
