#!/bin/sh -e
ip netns add tb-a
ip netns add tb-b
ip netns add tb-s
ip netns add tb-r
ip netns add tb-c
ip netns add tb-d
ip link add name eth0 address 02:54:42:00:00:00 mtu 1500 netns tb-a type veth peer name eth0 address 02:54:42:00:00:01 mtu 1500 netns tb-s
ip link add name eth0 address 02:54:42:00:00:02 mtu 1500 netns tb-b type veth peer name eth1 address 02:54:42:00:00:03 mtu 1500 netns tb-s
ip link add name eth2 address 02:54:42:00:00:04 mtu 1500 netns tb-s type veth peer name eth0 address 02:54:42:00:00:05 mtu 1500 netns tb-r
ip link add name eth1 address 02:54:42:00:00:06 mtu 1500 netns tb-r type veth peer name eth0 address 02:54:42:00:00:07 mtu 1500 netns tb-c
ip link add name eth2 address 02:54:42:00:00:08 mtu 1500 netns tb-r type veth peer name eth0 address 02:54:42:00:00:09 mtu 1500 netns tb-d
ip netns exec tb-a sh -c 'echo 0 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-a sh -c 'echo 0 > /proc/sys/net/ipv6/conf/default/accept_dad'
ip netns exec tb-a sh -c 'echo 0 > /proc/sys/net/ipv6/conf/default/accept_ra'
ip netns exec tb-a sh -c 'echo 0 > /proc/sys/net/ipv6/conf/eth0/accept_dad'
ip netns exec tb-a sh -c 'echo 0 > /proc/sys/net/ipv6/conf/eth0/accept_ra'
ip netns exec tb-a sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-a sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-a sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-a address add fd54:42:0:1::1/64 dev eth0 nodad
ip -n tb-a link set lo up
ip -n tb-a link set eth0 up
ip -n tb-a neighbour replace fd54:42:0:1::2 lladdr 02:54:42:00:00:02 dev eth0 nud permanent
ip -n tb-a neighbour replace fd54:42:0:1::3 lladdr 02:54:42:00:00:05 dev eth0 nud permanent
ip -n tb-a route replace ::/0 via fd54:42:0:1::3 dev eth0
ip netns exec tb-b sh -c 'echo 0 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-b sh -c 'echo 0 > /proc/sys/net/ipv6/conf/default/accept_dad'
ip netns exec tb-b sh -c 'echo 0 > /proc/sys/net/ipv6/conf/default/accept_ra'
ip netns exec tb-b sh -c 'echo 0 > /proc/sys/net/ipv6/conf/eth0/accept_dad'
ip netns exec tb-b sh -c 'echo 0 > /proc/sys/net/ipv6/conf/eth0/accept_ra'
ip netns exec tb-b sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-b sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-b sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-b address add fd54:42:0:1::2/64 dev eth0 nodad
ip -n tb-b link set lo up
ip -n tb-b link set eth0 up
ip -n tb-b neighbour replace fd54:42:0:1::1 lladdr 02:54:42:00:00:00 dev eth0 nud permanent
ip -n tb-b neighbour replace fd54:42:0:1::3 lladdr 02:54:42:00:00:05 dev eth0 nud permanent
ip -n tb-b route replace ::/0 via fd54:42:0:1::3 dev eth0
ip netns exec tb-s sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-s link add br0 type bridge stp_state 0 mcast_snooping 0
ip -n tb-s link set eth0 master br0
ip -n tb-s link set eth1 master br0
ip -n tb-s link set eth2 master br0
ip -n tb-s link set br0 up
ip -n tb-s link set lo up
ip -n tb-s link set eth0 up
ip -n tb-s link set eth1 up
ip -n tb-s link set eth2 up
ip netns exec tb-r sh -c 'echo 0 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-r sh -c 'echo 0 > /proc/sys/net/ipv6/conf/default/accept_dad'
ip netns exec tb-r sh -c 'echo 0 > /proc/sys/net/ipv6/conf/default/accept_ra'
ip netns exec tb-r sh -c 'echo 0 > /proc/sys/net/ipv6/conf/eth0/accept_dad'
ip netns exec tb-r sh -c 'echo 0 > /proc/sys/net/ipv6/conf/eth0/accept_ra'
ip netns exec tb-r sh -c 'echo 0 > /proc/sys/net/ipv6/conf/eth1/accept_dad'
ip netns exec tb-r sh -c 'echo 0 > /proc/sys/net/ipv6/conf/eth1/accept_ra'
ip netns exec tb-r sh -c 'echo 0 > /proc/sys/net/ipv6/conf/eth2/accept_dad'
ip netns exec tb-r sh -c 'echo 0 > /proc/sys/net/ipv6/conf/eth2/accept_ra'
ip netns exec tb-r sh -c 'echo 1 > /proc/sys/net/ipv4/ip_forward'
ip netns exec tb-r sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/forwarding'
ip netns exec tb-r sh -c 'echo 0 > /proc/sys/net/ipv4/conf/all/rp_filter'
ip netns exec tb-r sh -c 'echo 0 > /proc/sys/net/ipv4/conf/all/send_redirects'
ip netns exec tb-r sh -c 'echo 0 > /proc/sys/net/ipv4/conf/default/send_redirects'
ip netns exec tb-r sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth0/send_redirects'
ip netns exec tb-r sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth1/send_redirects'
ip netns exec tb-r sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth2/send_redirects'
ip -n tb-r address add fd54:42:0:1::3/64 dev eth0 nodad
ip -n tb-r address add fd54:42::1/64 dev eth1 nodad
ip -n tb-r address add fd54:42:0:2::1/64 dev eth2 nodad
ip -n tb-r link set lo up
ip -n tb-r link set eth0 up
ip -n tb-r link set eth1 up
ip -n tb-r link set eth2 up
ip -n tb-r neighbour replace fd54:42:0:1::1 lladdr 02:54:42:00:00:00 dev eth0 nud permanent
ip -n tb-r neighbour replace fd54:42:0:1::2 lladdr 02:54:42:00:00:02 dev eth0 nud permanent
ip -n tb-r neighbour replace fd54:42::99 lladdr 02:54:42:00:00:07 dev eth1 nud permanent
ip -n tb-r neighbour replace fd54:42:0:2::2 lladdr 02:54:42:00:00:09 dev eth2 nud permanent
ip netns exec tb-c sh -c 'echo 0 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-c sh -c 'echo 0 > /proc/sys/net/ipv6/conf/default/accept_dad'
ip netns exec tb-c sh -c 'echo 0 > /proc/sys/net/ipv6/conf/default/accept_ra'
ip netns exec tb-c sh -c 'echo 0 > /proc/sys/net/ipv6/conf/eth0/accept_dad'
ip netns exec tb-c sh -c 'echo 0 > /proc/sys/net/ipv6/conf/eth0/accept_ra'
ip netns exec tb-c sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-c sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-c sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-c address add fd54:42::99/64 dev eth0 nodad
ip -n tb-c link set lo up
ip -n tb-c link set eth0 up
ip -n tb-c neighbour replace fd54:42::1 lladdr 02:54:42:00:00:06 dev eth0 nud permanent
ip -n tb-c route replace ::/0 via fd54:42::1 dev eth0
ip netns exec tb-d sh -c 'echo 0 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-d sh -c 'echo 0 > /proc/sys/net/ipv6/conf/default/accept_dad'
ip netns exec tb-d sh -c 'echo 0 > /proc/sys/net/ipv6/conf/default/accept_ra'
ip netns exec tb-d sh -c 'echo 0 > /proc/sys/net/ipv6/conf/eth0/accept_dad'
ip netns exec tb-d sh -c 'echo 0 > /proc/sys/net/ipv6/conf/eth0/accept_ra'
ip netns exec tb-d sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-d sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-d sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-d address add fd54:42:0:2::2/64 dev eth0 nodad
ip -n tb-d link set lo up
ip -n tb-d link set eth0 up
ip -n tb-d neighbour replace fd54:42:0:2::1 lladdr 02:54:42:00:00:08 dev eth0 nud permanent
ip -n tb-d route replace ::/0 via fd54:42:0:2::1 dev eth0
ip netns exec tb-s ethtool -K eth0 tso off gso off tx-udp-segmentation off
ip netns exec tb-a ethtool -K eth0 gro on
ip netns exec tb-a sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-a sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-s ethtool -K eth1 tso off gso off tx-udp-segmentation off
ip netns exec tb-b ethtool -K eth0 gro on
ip netns exec tb-b sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-b sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-r ethtool -K eth1 tso off gso off tx-udp-segmentation off
ip netns exec tb-c ethtool -K eth0 gro on
ip netns exec tb-c sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-c sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-r ethtool -K eth2 tso off gso off tx-udp-segmentation off
ip netns exec tb-d ethtool -K eth0 gro on
ip netns exec tb-d sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-d sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'

# To take it down:
#   ip -n tb-s link del br0
#   ip netns del tb-d
#   ip netns del tb-c
#   ip netns del tb-r
#   ip netns del tb-s
#   ip netns del tb-b
#   ip netns del tb-a
