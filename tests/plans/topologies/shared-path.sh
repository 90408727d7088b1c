#!/bin/sh -e
ip netns add tb-us
ip netns add tb-others
ip netns add tb-us-dc
ip netns add tb-eu-dc
ip netns add tb-eu
ip netns add tb-us-access.emulator
ip netns add tb-others-access.emulator
ip netns add tb-wan.emulator
ip netns add tb-eu-access.emulator
ip link add name eth0 address 02:54:42:00:00:00 mtu 1500 netns tb-us type veth peer name end0 mtu 1500 netns tb-us-access.emulator
ip link add name wire0 mtu 1500 netns tb-us-access.emulator type veth peer name wire1 mtu 1500 netns tb-us-access.emulator
ip link add name eth0 address 02:54:42:00:00:01 mtu 1500 netns tb-us-dc type veth peer name end1 mtu 1500 netns tb-us-access.emulator
ip link add name eth0 address 02:54:42:00:00:02 mtu 1500 netns tb-others type veth peer name end0 mtu 1500 netns tb-others-access.emulator
ip link add name wire0 mtu 1500 netns tb-others-access.emulator type veth peer name wire1 mtu 1500 netns tb-others-access.emulator
ip link add name eth1 address 02:54:42:00:00:03 mtu 1500 netns tb-us-dc type veth peer name end1 mtu 1500 netns tb-others-access.emulator
ip link add name eth2 address 02:54:42:00:00:04 mtu 1500 netns tb-us-dc type veth peer name end0 mtu 1500 netns tb-wan.emulator
ip link add name wire0 mtu 1500 netns tb-wan.emulator type veth peer name wire1 mtu 1500 netns tb-wan.emulator
ip link add name eth0 address 02:54:42:00:00:05 mtu 1500 netns tb-eu-dc type veth peer name end1 mtu 1500 netns tb-wan.emulator
ip link add name eth1 address 02:54:42:00:00:06 mtu 1500 netns tb-eu-dc type veth peer name end0 mtu 1500 netns tb-eu-access.emulator
ip link add name wire0 mtu 1500 netns tb-eu-access.emulator type veth peer name wire1 mtu 1500 netns tb-eu-access.emulator
ip link add name eth0 address 02:54:42:00:00:07 mtu 1500 netns tb-eu type veth peer name end1 mtu 1500 netns tb-eu-access.emulator
ip netns exec tb-us sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-us sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-us sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-us sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-us address add 10.0.0.1/24 dev eth0
ip -n tb-us link set lo up
ip -n tb-us link set eth0 up
ip -n tb-us neighbour replace 10.0.0.2 lladdr 02:54:42:00:00:01 dev eth0 nud permanent
ip -n tb-us route replace default via 10.0.0.2 dev eth0
ip netns exec tb-others sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-others sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-others sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-others sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-others address add 10.0.1.1/24 dev eth0
ip -n tb-others link set lo up
ip -n tb-others link set eth0 up
ip -n tb-others neighbour replace 10.0.1.2 lladdr 02:54:42:00:00:03 dev eth0 nud permanent
ip -n tb-others route replace default via 10.0.1.2 dev eth0
ip netns exec tb-us-dc sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-us-dc sh -c 'echo 1 > /proc/sys/net/ipv4/ip_forward'
ip netns exec tb-us-dc sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/forwarding'
ip netns exec tb-us-dc sh -c 'echo 0 > /proc/sys/net/ipv4/conf/all/rp_filter'
ip netns exec tb-us-dc sh -c 'echo 0 > /proc/sys/net/ipv4/conf/all/send_redirects'
ip netns exec tb-us-dc sh -c 'echo 0 > /proc/sys/net/ipv4/conf/default/send_redirects'
ip netns exec tb-us-dc sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth0/send_redirects'
ip netns exec tb-us-dc sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth1/send_redirects'
ip netns exec tb-us-dc sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth2/send_redirects'
ip -n tb-us-dc address add 10.0.0.2/24 dev eth0
ip -n tb-us-dc address add 10.0.1.2/24 dev eth1
ip -n tb-us-dc address add 10.0.2.1/24 dev eth2
ip -n tb-us-dc link set lo up
ip -n tb-us-dc link set eth0 up
ip -n tb-us-dc link set eth1 up
ip -n tb-us-dc link set eth2 up
ip -n tb-us-dc neighbour replace 10.0.0.1 lladdr 02:54:42:00:00:00 dev eth0 nud permanent
ip -n tb-us-dc neighbour replace 10.0.1.1 lladdr 02:54:42:00:00:02 dev eth1 nud permanent
ip -n tb-us-dc neighbour replace 10.0.2.2 lladdr 02:54:42:00:00:05 dev eth2 nud permanent
ip -n tb-us-dc route replace default via 10.0.2.2 dev eth2
ip netns exec tb-eu-dc sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-eu-dc sh -c 'echo 1 > /proc/sys/net/ipv4/ip_forward'
ip netns exec tb-eu-dc sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/forwarding'
ip netns exec tb-eu-dc sh -c 'echo 0 > /proc/sys/net/ipv4/conf/all/rp_filter'
ip netns exec tb-eu-dc sh -c 'echo 0 > /proc/sys/net/ipv4/conf/all/send_redirects'
ip netns exec tb-eu-dc sh -c 'echo 0 > /proc/sys/net/ipv4/conf/default/send_redirects'
ip netns exec tb-eu-dc sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth0/send_redirects'
ip netns exec tb-eu-dc sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth1/send_redirects'
ip -n tb-eu-dc address add 10.0.2.2/24 dev eth0
ip -n tb-eu-dc address add 10.0.3.1/24 dev eth1
ip -n tb-eu-dc link set lo up
ip -n tb-eu-dc link set eth0 up
ip -n tb-eu-dc link set eth1 up
ip -n tb-eu-dc neighbour replace 10.0.2.1 lladdr 02:54:42:00:00:04 dev eth0 nud permanent
ip -n tb-eu-dc neighbour replace 10.0.3.2 lladdr 02:54:42:00:00:07 dev eth1 nud permanent
ip -n tb-eu-dc route replace default via 10.0.2.1 dev eth0
ip netns exec tb-eu sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-eu sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-eu sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-eu sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-eu address add 10.0.3.2/24 dev eth0
ip -n tb-eu link set lo up
ip -n tb-eu link set eth0 up
ip -n tb-eu neighbour replace 10.0.3.1 lladdr 02:54:42:00:00:06 dev eth0 nud permanent
ip -n tb-eu route replace default via 10.0.3.1 dev eth0
ip netns exec tb-us ethtool -K eth0 gro on
ip netns exec tb-us sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-us sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-others ethtool -K eth0 gro on
ip netns exec tb-others sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-others sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-eu ethtool -K eth0 gro on
ip netns exec tb-eu sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-eu sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-us-access.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-others-access.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-wan.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-eu-access.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-us-access.emulator link set end0 up
ip -n tb-us-access.emulator link set end1 up
ip -n tb-us-access.emulator link set wire0 up
ip -n tb-us-access.emulator link set wire1 up
ip -n tb-others-access.emulator link set end0 up
ip -n tb-others-access.emulator link set end1 up
ip -n tb-others-access.emulator link set wire0 up
ip -n tb-others-access.emulator link set wire1 up
ip -n tb-wan.emulator link set end0 up
ip -n tb-wan.emulator link set end1 up
ip -n tb-wan.emulator link set wire0 up
ip -n tb-wan.emulator link set wire1 up
ip -n tb-eu-access.emulator link set end0 up
ip -n tb-eu-access.emulator link set end1 up
ip -n tb-eu-access.emulator link set wire0 up
ip -n tb-eu-access.emulator link set wire1 up
ip netns exec tb-us-access.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-us-access.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-us-access.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-us-access.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-us-access.emulator qdisc add dev end1 root handle 2: tbf rate 850000000bit burst 2271 limit 1514
tc -n tb-us-access.emulator qdisc add dev end1 parent 2:1 handle 3: pfifo limit 1000
tc -n tb-us-access.emulator qdisc add dev end0 root handle 2: tbf rate 850000000bit burst 2271 limit 1514
tc -n tb-us-access.emulator qdisc add dev end0 parent 2:1 handle 3: pfifo limit 1000
ip netns exec tb-us-access.emulator nft 'add table netdev testbed'
ip netns exec tb-us-access.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-us-access.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-us-access.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-us-access.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-us-access.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-us-access.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-us-access.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-us-access.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-us-access.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-us-access.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-us-access.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-us-access.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-us-access.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-us-access.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-us-access.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-us-access.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-us-access.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-us-access.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-us-access.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-us-access.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-us-access.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-us-access.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-us-access.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-us-access.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-others-access.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-others-access.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-others-access.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-others-access.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-others-access.emulator qdisc add dev end1 root handle 2: tbf rate 10000000000bit burst 6250 limit 1514
tc -n tb-others-access.emulator qdisc add dev end1 parent 2:1 handle 3: pfifo limit 10000
tc -n tb-others-access.emulator qdisc add dev end0 root handle 2: tbf rate 10000000000bit burst 6250 limit 1514
tc -n tb-others-access.emulator qdisc add dev end0 parent 2:1 handle 3: pfifo limit 10000
ip netns exec tb-others-access.emulator nft 'add table netdev testbed'
ip netns exec tb-others-access.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-others-access.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-others-access.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-others-access.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-others-access.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-others-access.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-others-access.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-others-access.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-others-access.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-others-access.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-others-access.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-others-access.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-others-access.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-others-access.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-others-access.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-others-access.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-others-access.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-others-access.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-others-access.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-others-access.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-others-access.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-others-access.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-others-access.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-others-access.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-wan.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-wan.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-wan.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-wan.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-wan.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 40000us
tc -n tb-wan.emulator qdisc add dev end1 root handle 2: tbf rate 1700000000bit burst 2271 limit 17000000
tc -n tb-wan.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 40000us
tc -n tb-wan.emulator qdisc add dev end0 root handle 2: tbf rate 1700000000bit burst 2271 limit 17000000
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
ip netns exec tb-eu-access.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-eu-access.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-eu-access.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-eu-access.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-eu-access.emulator qdisc add dev end1 root handle 2: tbf rate 10000000000bit burst 6250 limit 1514
tc -n tb-eu-access.emulator qdisc add dev end1 parent 2:1 handle 3: pfifo limit 10000
tc -n tb-eu-access.emulator qdisc add dev end0 root handle 2: tbf rate 10000000000bit burst 6250 limit 1514
tc -n tb-eu-access.emulator qdisc add dev end0 parent 2:1 handle 3: pfifo limit 10000
ip netns exec tb-eu-access.emulator nft 'add table netdev testbed'
ip netns exec tb-eu-access.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-eu-access.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-eu-access.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-eu-access.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-eu-access.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-eu-access.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-eu-access.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-eu-access.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-eu-access.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-eu-access.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-eu-access.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-eu-access.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-eu-access.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-eu-access.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-eu-access.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-eu-access.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-eu-access.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-eu-access.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-eu-access.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-eu-access.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-eu-access.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-eu-access.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-eu-access.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-eu-access.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'

# To take it down:
#   ip netns exec tb-eu-access.emulator nft 'delete table netdev testbed'
#   tc -n tb-eu-access.emulator qdisc del dev end0 root
#   tc -n tb-eu-access.emulator qdisc del dev end1 root
#   ip netns exec tb-wan.emulator nft 'delete table netdev testbed'
#   tc -n tb-wan.emulator qdisc del dev end0 root
#   tc -n tb-wan.emulator qdisc del dev wire1 root
#   tc -n tb-wan.emulator qdisc del dev end1 root
#   tc -n tb-wan.emulator qdisc del dev wire0 root
#   ip netns exec tb-others-access.emulator nft 'delete table netdev testbed'
#   tc -n tb-others-access.emulator qdisc del dev end0 root
#   tc -n tb-others-access.emulator qdisc del dev end1 root
#   ip netns exec tb-us-access.emulator nft 'delete table netdev testbed'
#   tc -n tb-us-access.emulator qdisc del dev end0 root
#   tc -n tb-us-access.emulator qdisc del dev end1 root
#   ip netns del tb-eu-access.emulator
#   ip netns del tb-wan.emulator
#   ip netns del tb-others-access.emulator
#   ip netns del tb-us-access.emulator
#   ip netns del tb-eu
#   ip netns del tb-eu-dc
#   ip netns del tb-us-dc
#   ip netns del tb-others
#   ip netns del tb-us
