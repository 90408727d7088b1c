#!/bin/sh -e
ip netns add tb-host-1
ip netns add tb-host-2
ip netns add tb-host-3
ip netns add tb-host-4
ip netns add tb-router-1
ip netns add tb-router-2
ip netns add tb-router-3
ip netns add tb-router-4
ip netns add tb-hop-1.emulator
ip netns add tb-hop-2.emulator
ip netns add tb-hop-3.emulator
ip link add name eth0 address 02:54:42:00:00:00 mtu 1500 netns tb-host-1 type veth peer name eth0 address 02:54:42:00:00:01 mtu 1500 netns tb-router-1
ip link add name eth0 address 02:54:42:00:00:02 mtu 1500 netns tb-host-2 type veth peer name eth0 address 02:54:42:00:00:03 mtu 1500 netns tb-router-2
ip link add name eth0 address 02:54:42:00:00:04 mtu 1500 netns tb-host-3 type veth peer name eth0 address 02:54:42:00:00:05 mtu 1500 netns tb-router-3
ip link add name eth0 address 02:54:42:00:00:06 mtu 1500 netns tb-host-4 type veth peer name eth0 address 02:54:42:00:00:07 mtu 1500 netns tb-router-4
ip link add name eth1 address 02:54:42:00:00:08 mtu 1500 netns tb-router-1 type veth peer name end0 mtu 1500 netns tb-hop-1.emulator
ip link add name wire0 mtu 1500 netns tb-hop-1.emulator type veth peer name wire1 mtu 1500 netns tb-hop-1.emulator
ip link add name eth1 address 02:54:42:00:00:09 mtu 1500 netns tb-router-2 type veth peer name end1 mtu 1500 netns tb-hop-1.emulator
ip link add name eth2 address 02:54:42:00:00:0a mtu 1500 netns tb-router-2 type veth peer name end0 mtu 1500 netns tb-hop-2.emulator
ip link add name wire0 mtu 1500 netns tb-hop-2.emulator type veth peer name wire1 mtu 1500 netns tb-hop-2.emulator
ip link add name eth1 address 02:54:42:00:00:0b mtu 1500 netns tb-router-3 type veth peer name end1 mtu 1500 netns tb-hop-2.emulator
ip link add name eth2 address 02:54:42:00:00:0c mtu 1500 netns tb-router-3 type veth peer name end0 mtu 1500 netns tb-hop-3.emulator
ip link add name wire0 mtu 1500 netns tb-hop-3.emulator type veth peer name wire1 mtu 1500 netns tb-hop-3.emulator
ip link add name eth1 address 02:54:42:00:00:0d mtu 1500 netns tb-router-4 type veth peer name end1 mtu 1500 netns tb-hop-3.emulator
ip netns exec tb-host-1 sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-host-1 sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-host-1 sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-host-1 sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-host-1 address add 10.0.0.1/24 dev eth0
ip -n tb-host-1 link set lo up
ip -n tb-host-1 link set eth0 up
ip -n tb-host-1 neighbour replace 10.0.0.2 lladdr 02:54:42:00:00:01 dev eth0 nud permanent
ip -n tb-host-1 route replace default via 10.0.0.2 dev eth0
ip netns exec tb-host-2 sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-host-2 sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-host-2 sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-host-2 sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-host-2 address add 10.0.1.1/24 dev eth0
ip -n tb-host-2 link set lo up
ip -n tb-host-2 link set eth0 up
ip -n tb-host-2 neighbour replace 10.0.1.2 lladdr 02:54:42:00:00:03 dev eth0 nud permanent
ip -n tb-host-2 route replace default via 10.0.1.2 dev eth0
ip netns exec tb-host-3 sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-host-3 sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-host-3 sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-host-3 sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-host-3 address add 10.0.2.1/24 dev eth0
ip -n tb-host-3 link set lo up
ip -n tb-host-3 link set eth0 up
ip -n tb-host-3 neighbour replace 10.0.2.2 lladdr 02:54:42:00:00:05 dev eth0 nud permanent
ip -n tb-host-3 route replace default via 10.0.2.2 dev eth0
ip netns exec tb-host-4 sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-host-4 sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-host-4 sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-host-4 sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-host-4 address add 10.0.3.1/24 dev eth0
ip -n tb-host-4 link set lo up
ip -n tb-host-4 link set eth0 up
ip -n tb-host-4 neighbour replace 10.0.3.2 lladdr 02:54:42:00:00:07 dev eth0 nud permanent
ip -n tb-host-4 route replace default via 10.0.3.2 dev eth0
ip netns exec tb-router-1 sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-router-1 sh -c 'echo 1 > /proc/sys/net/ipv4/ip_forward'
ip netns exec tb-router-1 sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/forwarding'
ip netns exec tb-router-1 sh -c 'echo 0 > /proc/sys/net/ipv4/conf/all/rp_filter'
ip netns exec tb-router-1 sh -c 'echo 0 > /proc/sys/net/ipv4/conf/all/send_redirects'
ip netns exec tb-router-1 sh -c 'echo 0 > /proc/sys/net/ipv4/conf/default/send_redirects'
ip netns exec tb-router-1 sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth0/send_redirects'
ip netns exec tb-router-1 sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth1/send_redirects'
ip -n tb-router-1 address add 10.0.0.2/24 dev eth0
ip -n tb-router-1 address add 10.0.4.1/24 dev eth1
ip -n tb-router-1 link set lo up
ip -n tb-router-1 link set eth0 up
ip -n tb-router-1 link set eth1 up
ip -n tb-router-1 neighbour replace 10.0.0.1 lladdr 02:54:42:00:00:00 dev eth0 nud permanent
ip -n tb-router-1 neighbour replace 10.0.4.2 lladdr 02:54:42:00:00:09 dev eth1 nud permanent
ip -n tb-router-1 route replace default via 10.0.4.2 dev eth1
ip netns exec tb-router-2 sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-router-2 sh -c 'echo 1 > /proc/sys/net/ipv4/ip_forward'
ip netns exec tb-router-2 sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/forwarding'
ip netns exec tb-router-2 sh -c 'echo 0 > /proc/sys/net/ipv4/conf/all/rp_filter'
ip netns exec tb-router-2 sh -c 'echo 0 > /proc/sys/net/ipv4/conf/all/send_redirects'
ip netns exec tb-router-2 sh -c 'echo 0 > /proc/sys/net/ipv4/conf/default/send_redirects'
ip netns exec tb-router-2 sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth0/send_redirects'
ip netns exec tb-router-2 sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth1/send_redirects'
ip netns exec tb-router-2 sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth2/send_redirects'
ip -n tb-router-2 address add 10.0.1.2/24 dev eth0
ip -n tb-router-2 address add 10.0.4.2/24 dev eth1
ip -n tb-router-2 address add 10.0.5.1/24 dev eth2
ip -n tb-router-2 link set lo up
ip -n tb-router-2 link set eth0 up
ip -n tb-router-2 link set eth1 up
ip -n tb-router-2 link set eth2 up
ip -n tb-router-2 neighbour replace 10.0.1.1 lladdr 02:54:42:00:00:02 dev eth0 nud permanent
ip -n tb-router-2 neighbour replace 10.0.4.1 lladdr 02:54:42:00:00:08 dev eth1 nud permanent
ip -n tb-router-2 neighbour replace 10.0.5.2 lladdr 02:54:42:00:00:0b dev eth2 nud permanent
ip -n tb-router-2 route replace 10.0.0.0/24 via 10.0.4.1 dev eth1
ip -n tb-router-2 route replace 10.0.2.0/24 via 10.0.5.2 dev eth2
ip -n tb-router-2 route replace 10.0.6.0/24 via 10.0.5.2 dev eth2
ip -n tb-router-2 route replace 10.0.3.0/24 via 10.0.5.2 dev eth2
ip netns exec tb-router-3 sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-router-3 sh -c 'echo 1 > /proc/sys/net/ipv4/ip_forward'
ip netns exec tb-router-3 sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/forwarding'
ip netns exec tb-router-3 sh -c 'echo 0 > /proc/sys/net/ipv4/conf/all/rp_filter'
ip netns exec tb-router-3 sh -c 'echo 0 > /proc/sys/net/ipv4/conf/all/send_redirects'
ip netns exec tb-router-3 sh -c 'echo 0 > /proc/sys/net/ipv4/conf/default/send_redirects'
ip netns exec tb-router-3 sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth0/send_redirects'
ip netns exec tb-router-3 sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth1/send_redirects'
ip netns exec tb-router-3 sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth2/send_redirects'
ip -n tb-router-3 address add 10.0.2.2/24 dev eth0
ip -n tb-router-3 address add 10.0.5.2/24 dev eth1
ip -n tb-router-3 address add 10.0.6.1/24 dev eth2
ip -n tb-router-3 link set lo up
ip -n tb-router-3 link set eth0 up
ip -n tb-router-3 link set eth1 up
ip -n tb-router-3 link set eth2 up
ip -n tb-router-3 neighbour replace 10.0.2.1 lladdr 02:54:42:00:00:04 dev eth0 nud permanent
ip -n tb-router-3 neighbour replace 10.0.5.1 lladdr 02:54:42:00:00:0a dev eth1 nud permanent
ip -n tb-router-3 neighbour replace 10.0.6.2 lladdr 02:54:42:00:00:0d dev eth2 nud permanent
ip -n tb-router-3 route replace 10.0.1.0/24 via 10.0.5.1 dev eth1
ip -n tb-router-3 route replace 10.0.4.0/24 via 10.0.5.1 dev eth1
ip -n tb-router-3 route replace 10.0.3.0/24 via 10.0.6.2 dev eth2
ip -n tb-router-3 route replace 10.0.0.0/24 via 10.0.5.1 dev eth1
ip netns exec tb-router-4 sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-router-4 sh -c 'echo 1 > /proc/sys/net/ipv4/ip_forward'
ip netns exec tb-router-4 sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/forwarding'
ip netns exec tb-router-4 sh -c 'echo 0 > /proc/sys/net/ipv4/conf/all/rp_filter'
ip netns exec tb-router-4 sh -c 'echo 0 > /proc/sys/net/ipv4/conf/all/send_redirects'
ip netns exec tb-router-4 sh -c 'echo 0 > /proc/sys/net/ipv4/conf/default/send_redirects'
ip netns exec tb-router-4 sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth0/send_redirects'
ip netns exec tb-router-4 sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth1/send_redirects'
ip -n tb-router-4 address add 10.0.3.2/24 dev eth0
ip -n tb-router-4 address add 10.0.6.2/24 dev eth1
ip -n tb-router-4 link set lo up
ip -n tb-router-4 link set eth0 up
ip -n tb-router-4 link set eth1 up
ip -n tb-router-4 neighbour replace 10.0.3.1 lladdr 02:54:42:00:00:06 dev eth0 nud permanent
ip -n tb-router-4 neighbour replace 10.0.6.1 lladdr 02:54:42:00:00:0c dev eth1 nud permanent
ip -n tb-router-4 route replace default via 10.0.6.1 dev eth1
ip netns exec tb-router-1 ethtool -K eth0 tso off gso off tx-udp-segmentation off
ip netns exec tb-host-1 ethtool -K eth0 gro on
ip netns exec tb-host-1 sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-host-1 sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-router-2 ethtool -K eth0 tso off gso off tx-udp-segmentation off
ip netns exec tb-host-2 ethtool -K eth0 gro on
ip netns exec tb-host-2 sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-host-2 sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-router-3 ethtool -K eth0 tso off gso off tx-udp-segmentation off
ip netns exec tb-host-3 ethtool -K eth0 gro on
ip netns exec tb-host-3 sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-host-3 sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-router-4 ethtool -K eth0 tso off gso off tx-udp-segmentation off
ip netns exec tb-host-4 ethtool -K eth0 gro on
ip netns exec tb-host-4 sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-host-4 sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-hop-1.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-hop-2.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-hop-3.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-hop-1.emulator link set end0 up
ip -n tb-hop-1.emulator link set end1 up
ip -n tb-hop-1.emulator link set wire0 up
ip -n tb-hop-1.emulator link set wire1 up
ip -n tb-hop-2.emulator link set end0 up
ip -n tb-hop-2.emulator link set end1 up
ip -n tb-hop-2.emulator link set wire0 up
ip -n tb-hop-2.emulator link set wire1 up
ip -n tb-hop-3.emulator link set end0 up
ip -n tb-hop-3.emulator link set end1 up
ip -n tb-hop-3.emulator link set wire0 up
ip -n tb-hop-3.emulator link set wire1 up
ip netns exec tb-hop-1.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-hop-1.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-hop-1.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-hop-1.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-hop-1.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 5000us
tc -n tb-hop-1.emulator qdisc add dev end1 root handle 2: tbf rate 1000000000bit burst 2271 limit 1514
tc -n tb-hop-1.emulator qdisc add dev end1 parent 2:1 handle 3: pfifo limit 100
tc -n tb-hop-1.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 5000us
tc -n tb-hop-1.emulator qdisc add dev end0 root handle 2: tbf rate 1000000000bit burst 2271 limit 1514
tc -n tb-hop-1.emulator qdisc add dev end0 parent 2:1 handle 3: pfifo limit 100
ip netns exec tb-hop-1.emulator nft 'add table netdev testbed'
ip netns exec tb-hop-1.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-hop-1.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-hop-1.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-hop-1.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-hop-1.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-hop-1.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-hop-1.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-hop-1.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-hop-1.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-hop-1.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-hop-1.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-hop-1.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-hop-1.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-hop-1.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-hop-1.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-hop-1.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-hop-1.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-hop-1.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-hop-1.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-hop-1.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-hop-1.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-hop-1.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-hop-1.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-hop-1.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-hop-2.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-hop-2.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-hop-2.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-hop-2.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-hop-2.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 5000us
tc -n tb-hop-2.emulator qdisc add dev end1 root handle 2: tbf rate 1000000000bit burst 2271 limit 1514
tc -n tb-hop-2.emulator qdisc add dev end1 parent 2:1 handle 3: pfifo limit 100
tc -n tb-hop-2.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 5000us
tc -n tb-hop-2.emulator qdisc add dev end0 root handle 2: tbf rate 1000000000bit burst 2271 limit 1514
tc -n tb-hop-2.emulator qdisc add dev end0 parent 2:1 handle 3: pfifo limit 100
ip netns exec tb-hop-2.emulator nft 'add table netdev testbed'
ip netns exec tb-hop-2.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-hop-2.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-hop-2.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-hop-2.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-hop-2.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-hop-2.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-hop-2.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-hop-2.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-hop-2.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-hop-2.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-hop-2.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-hop-2.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-hop-2.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-hop-2.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-hop-2.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-hop-2.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-hop-2.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-hop-2.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-hop-2.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-hop-2.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-hop-2.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-hop-2.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-hop-2.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-hop-2.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-hop-3.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-hop-3.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-hop-3.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-hop-3.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-hop-3.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 5000us
tc -n tb-hop-3.emulator qdisc add dev end1 root handle 2: tbf rate 1000000000bit burst 2271 limit 1514
tc -n tb-hop-3.emulator qdisc add dev end1 parent 2:1 handle 3: pfifo limit 100
tc -n tb-hop-3.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 5000us
tc -n tb-hop-3.emulator qdisc add dev end0 root handle 2: tbf rate 1000000000bit burst 2271 limit 1514
tc -n tb-hop-3.emulator qdisc add dev end0 parent 2:1 handle 3: pfifo limit 100
ip netns exec tb-hop-3.emulator nft 'add table netdev testbed'
ip netns exec tb-hop-3.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-hop-3.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-hop-3.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-hop-3.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-hop-3.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-hop-3.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-hop-3.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-hop-3.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-hop-3.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-hop-3.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-hop-3.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-hop-3.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-hop-3.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-hop-3.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-hop-3.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-hop-3.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-hop-3.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-hop-3.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-hop-3.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-hop-3.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-hop-3.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-hop-3.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-hop-3.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-hop-3.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'

# To take it down:
#   ip netns exec tb-hop-3.emulator nft 'delete table netdev testbed'
#   tc -n tb-hop-3.emulator qdisc del dev end0 root
#   tc -n tb-hop-3.emulator qdisc del dev wire1 root
#   tc -n tb-hop-3.emulator qdisc del dev end1 root
#   tc -n tb-hop-3.emulator qdisc del dev wire0 root
#   ip netns exec tb-hop-2.emulator nft 'delete table netdev testbed'
#   tc -n tb-hop-2.emulator qdisc del dev end0 root
#   tc -n tb-hop-2.emulator qdisc del dev wire1 root
#   tc -n tb-hop-2.emulator qdisc del dev end1 root
#   tc -n tb-hop-2.emulator qdisc del dev wire0 root
#   ip netns exec tb-hop-1.emulator nft 'delete table netdev testbed'
#   tc -n tb-hop-1.emulator qdisc del dev end0 root
#   tc -n tb-hop-1.emulator qdisc del dev wire1 root
#   tc -n tb-hop-1.emulator qdisc del dev end1 root
#   tc -n tb-hop-1.emulator qdisc del dev wire0 root
#   ip netns del tb-hop-3.emulator
#   ip netns del tb-hop-2.emulator
#   ip netns del tb-hop-1.emulator
#   ip netns del tb-router-4
#   ip netns del tb-router-3
#   ip netns del tb-router-2
#   ip netns del tb-router-1
#   ip netns del tb-host-4
#   ip netns del tb-host-3
#   ip netns del tb-host-2
#   ip netns del tb-host-1
