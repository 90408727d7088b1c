#!/bin/sh -e
ip netns add tb-client
ip netns add tb-server
ip netns add tb-left
ip netns add tb-right
ip netns add tb-left-edge
ip netns add tb-right-edge
ip netns add tb-wan.emulator
ip link add name eth0 address 02:54:42:00:00:00 mtu 1500 netns tb-client type veth peer name eth0 address 02:54:42:00:00:01 mtu 1500 netns tb-left
ip link add name eth1 address 02:54:42:00:00:02 mtu 1500 netns tb-left type veth peer name eth0 address 02:54:42:00:00:03 mtu 1500 netns tb-left-edge
ip link add name eth1 address 02:54:42:00:00:04 mtu 1500 netns tb-left-edge type veth peer name end0 mtu 1500 netns tb-wan.emulator
ip link add name wire0 mtu 1500 netns tb-wan.emulator type veth peer name wire1 mtu 1500 netns tb-wan.emulator
ip link add name eth0 address 02:54:42:00:00:05 mtu 1500 netns tb-right-edge type veth peer name end1 mtu 1500 netns tb-wan.emulator
ip link add name eth1 address 02:54:42:00:00:06 mtu 1500 netns tb-right-edge type veth peer name eth0 address 02:54:42:00:00:07 mtu 1500 netns tb-right
ip link add name eth1 address 02:54:42:00:00:08 mtu 1500 netns tb-right type veth peer name eth0 address 02:54:42:00:00:09 mtu 1500 netns tb-server
ip netns exec tb-client sh -c 'echo 0 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-client sh -c 'echo 0 > /proc/sys/net/ipv6/conf/default/accept_dad'
ip netns exec tb-client sh -c 'echo 0 > /proc/sys/net/ipv6/conf/default/accept_ra'
ip netns exec tb-client sh -c 'echo 0 > /proc/sys/net/ipv6/conf/eth0/accept_dad'
ip netns exec tb-client sh -c 'echo 0 > /proc/sys/net/ipv6/conf/eth0/accept_ra'
ip netns exec tb-client sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-client sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-client sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-client address add 10.0.0.1/24 dev eth0
ip -n tb-client address add fd54:42::1/64 dev eth0 nodad
ip -n tb-client link set lo up
ip -n tb-client link set eth0 up
ip -n tb-client neighbour replace 10.0.0.2 lladdr 02:54:42:00:00:03 dev eth0 nud permanent
ip -n tb-client neighbour replace fd54:42::2 lladdr 02:54:42:00:00:03 dev eth0 nud permanent
ip -n tb-client route replace default via 10.0.0.2 dev eth0
ip -n tb-client route replace ::/0 via fd54:42::2 dev eth0
ip netns exec tb-server sh -c 'echo 0 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-server sh -c 'echo 0 > /proc/sys/net/ipv6/conf/default/accept_dad'
ip netns exec tb-server sh -c 'echo 0 > /proc/sys/net/ipv6/conf/default/accept_ra'
ip netns exec tb-server sh -c 'echo 0 > /proc/sys/net/ipv6/conf/eth0/accept_dad'
ip netns exec tb-server sh -c 'echo 0 > /proc/sys/net/ipv6/conf/eth0/accept_ra'
ip netns exec tb-server sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-server sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-server sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-server address add 10.0.2.2/24 dev eth0
ip -n tb-server address add fd54:42:0:2::2/64 dev eth0 nodad
ip -n tb-server link set lo up
ip -n tb-server link set eth0 up
ip -n tb-server neighbour replace 10.0.2.1 lladdr 02:54:42:00:00:06 dev eth0 nud permanent
ip -n tb-server neighbour replace fd54:42:0:2::1 lladdr 02:54:42:00:00:06 dev eth0 nud permanent
ip -n tb-server route replace default via 10.0.2.1 dev eth0
ip -n tb-server route replace ::/0 via fd54:42:0:2::1 dev eth0
ip netns exec tb-left sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-left link add br0 type bridge stp_state 0 mcast_snooping 0
ip -n tb-left link set eth0 master br0
ip -n tb-left link set eth1 master br0
ip -n tb-left link set br0 up
ip -n tb-left link set lo up
ip -n tb-left link set eth0 up
ip -n tb-left link set eth1 up
ip netns exec tb-right sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-right link add br0 type bridge stp_state 0 mcast_snooping 0
ip -n tb-right link set eth0 master br0
ip -n tb-right link set eth1 master br0
ip -n tb-right link set br0 up
ip -n tb-right link set lo up
ip -n tb-right link set eth0 up
ip -n tb-right link set eth1 up
ip netns exec tb-left-edge sh -c 'echo 0 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-left-edge sh -c 'echo 0 > /proc/sys/net/ipv6/conf/default/accept_dad'
ip netns exec tb-left-edge sh -c 'echo 0 > /proc/sys/net/ipv6/conf/default/accept_ra'
ip netns exec tb-left-edge sh -c 'echo 0 > /proc/sys/net/ipv6/conf/eth0/accept_dad'
ip netns exec tb-left-edge sh -c 'echo 0 > /proc/sys/net/ipv6/conf/eth0/accept_ra'
ip netns exec tb-left-edge sh -c 'echo 0 > /proc/sys/net/ipv6/conf/eth1/accept_dad'
ip netns exec tb-left-edge sh -c 'echo 0 > /proc/sys/net/ipv6/conf/eth1/accept_ra'
ip netns exec tb-left-edge sh -c 'echo 1 > /proc/sys/net/ipv4/ip_forward'
ip netns exec tb-left-edge sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/forwarding'
ip netns exec tb-left-edge sh -c 'echo 0 > /proc/sys/net/ipv4/conf/all/rp_filter'
ip netns exec tb-left-edge sh -c 'echo 0 > /proc/sys/net/ipv4/conf/all/send_redirects'
ip netns exec tb-left-edge sh -c 'echo 0 > /proc/sys/net/ipv4/conf/default/send_redirects'
ip netns exec tb-left-edge sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth0/send_redirects'
ip netns exec tb-left-edge sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth1/send_redirects'
ip -n tb-left-edge address add 10.0.0.2/24 dev eth0
ip -n tb-left-edge address add fd54:42::2/64 dev eth0 nodad
ip -n tb-left-edge address add 10.0.1.1/24 dev eth1
ip -n tb-left-edge address add fd54:42:0:1::1/64 dev eth1 nodad
ip -n tb-left-edge link set lo up
ip -n tb-left-edge link set eth0 up
ip -n tb-left-edge link set eth1 up
ip -n tb-left-edge neighbour replace 10.0.0.1 lladdr 02:54:42:00:00:00 dev eth0 nud permanent
ip -n tb-left-edge neighbour replace fd54:42::1 lladdr 02:54:42:00:00:00 dev eth0 nud permanent
ip -n tb-left-edge neighbour replace 10.0.1.2 lladdr 02:54:42:00:00:05 dev eth1 nud permanent
ip -n tb-left-edge neighbour replace fd54:42:0:1::2 lladdr 02:54:42:00:00:05 dev eth1 nud permanent
ip -n tb-left-edge route replace default via 10.0.1.2 dev eth1
ip -n tb-left-edge route replace ::/0 via fd54:42:0:1::2 dev eth1
ip netns exec tb-right-edge sh -c 'echo 0 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-right-edge sh -c 'echo 0 > /proc/sys/net/ipv6/conf/default/accept_dad'
ip netns exec tb-right-edge sh -c 'echo 0 > /proc/sys/net/ipv6/conf/default/accept_ra'
ip netns exec tb-right-edge sh -c 'echo 0 > /proc/sys/net/ipv6/conf/eth0/accept_dad'
ip netns exec tb-right-edge sh -c 'echo 0 > /proc/sys/net/ipv6/conf/eth0/accept_ra'
ip netns exec tb-right-edge sh -c 'echo 0 > /proc/sys/net/ipv6/conf/eth1/accept_dad'
ip netns exec tb-right-edge sh -c 'echo 0 > /proc/sys/net/ipv6/conf/eth1/accept_ra'
ip netns exec tb-right-edge sh -c 'echo 1 > /proc/sys/net/ipv4/ip_forward'
ip netns exec tb-right-edge sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/forwarding'
ip netns exec tb-right-edge sh -c 'echo 0 > /proc/sys/net/ipv4/conf/all/rp_filter'
ip netns exec tb-right-edge sh -c 'echo 0 > /proc/sys/net/ipv4/conf/all/send_redirects'
ip netns exec tb-right-edge sh -c 'echo 0 > /proc/sys/net/ipv4/conf/default/send_redirects'
ip netns exec tb-right-edge sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth0/send_redirects'
ip netns exec tb-right-edge sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth1/send_redirects'
ip -n tb-right-edge address add 10.0.1.2/24 dev eth0
ip -n tb-right-edge address add fd54:42:0:1::2/64 dev eth0 nodad
ip -n tb-right-edge address add 10.0.2.1/24 dev eth1
ip -n tb-right-edge address add fd54:42:0:2::1/64 dev eth1 nodad
ip -n tb-right-edge link set lo up
ip -n tb-right-edge link set eth0 up
ip -n tb-right-edge link set eth1 up
ip -n tb-right-edge neighbour replace 10.0.1.1 lladdr 02:54:42:00:00:04 dev eth0 nud permanent
ip -n tb-right-edge neighbour replace fd54:42:0:1::1 lladdr 02:54:42:00:00:04 dev eth0 nud permanent
ip -n tb-right-edge neighbour replace 10.0.2.2 lladdr 02:54:42:00:00:09 dev eth1 nud permanent
ip -n tb-right-edge neighbour replace fd54:42:0:2::2 lladdr 02:54:42:00:00:09 dev eth1 nud permanent
ip -n tb-right-edge route replace default via 10.0.1.1 dev eth0
ip -n tb-right-edge route replace ::/0 via fd54:42:0:1::1 dev eth0
ip netns exec tb-left ethtool -K eth0 tso off gso off tx-udp-segmentation off
ip netns exec tb-client ethtool -K eth0 gro on
ip netns exec tb-client sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-client sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-right ethtool -K eth1 tso off gso off tx-udp-segmentation off
ip netns exec tb-server ethtool -K eth0 gro on
ip netns exec tb-server sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-server sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-wan.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-wan.emulator link set end0 up
ip -n tb-wan.emulator link set end1 up
ip -n tb-wan.emulator link set wire0 up
ip -n tb-wan.emulator link set wire1 up
ip netns exec tb-wan.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-wan.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-wan.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-wan.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-wan.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 20000us
tc -n tb-wan.emulator qdisc add dev end1 root handle 2: tbf rate 100000000bit burst 2271 limit 500000
tc -n tb-wan.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 20000us
tc -n tb-wan.emulator qdisc add dev end0 root handle 2: tbf rate 100000000bit burst 2271 limit 500000
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

# To take it down:
#   ip netns exec tb-wan.emulator nft 'delete table netdev testbed'
#   tc -n tb-wan.emulator qdisc del dev end0 root
#   tc -n tb-wan.emulator qdisc del dev wire1 root
#   tc -n tb-wan.emulator qdisc del dev end1 root
#   tc -n tb-wan.emulator qdisc del dev wire0 root
#   ip -n tb-right link del br0
#   ip -n tb-left link del br0
#   ip netns del tb-wan.emulator
#   ip netns del tb-right-edge
#   ip netns del tb-left-edge
#   ip netns del tb-right
#   ip netns del tb-left
#   ip netns del tb-server
#   ip netns del tb-client
