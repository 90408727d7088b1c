#!/bin/sh -e
ip netns add tb-a
ip netns add tb-b
ip netns add tb-c
ip netns add tb-r1
ip netns add tb-r2
ip link add name eth0 address 02:54:42:00:00:00 mtu 1500 netns tb-a type veth peer name eth0 address 02:54:42:00:00:01 mtu 1500 netns tb-r1
ip link add name eth1 address 02:54:42:00:00:02 mtu 1500 netns tb-r1 type veth peer name eth0 address 02:54:42:00:00:03 mtu 1500 netns tb-r2
ip link add name eth1 address 02:54:42:00:00:04 mtu 1500 netns tb-r2 type veth peer name eth0 address 02:54:42:00:00:05 mtu 1500 netns tb-b
ip link add name eth2 address 02:54:42:00:00:06 mtu 1500 netns tb-r1 type veth peer name eth0 address 02:54:42:00:00:07 mtu 1500 netns tb-c
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
ip -n tb-b address add 10.0.2.2/24 dev eth0
ip -n tb-b link set lo up
ip -n tb-b link set eth0 up
ip -n tb-b neighbour replace 10.0.2.1 lladdr 02:54:42:00:00:04 dev eth0 nud permanent
ip -n tb-b route replace default via 10.0.2.1 dev eth0
ip netns exec tb-c sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-c sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-c sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-c sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-c address add 10.0.3.2/24 dev eth0
ip -n tb-c link set lo up
ip -n tb-c link set eth0 up
ip -n tb-c neighbour replace 10.0.3.1 lladdr 02:54:42:00:00:06 dev eth0 nud permanent
ip -n tb-c route replace default via 10.0.3.1 dev eth0
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
ip -n tb-r1 address add 10.0.1.1/24 dev eth1
ip -n tb-r1 address add 10.0.3.1/24 dev eth2
ip -n tb-r1 link set lo up
ip -n tb-r1 link set eth0 up
ip -n tb-r1 link set eth1 up
ip -n tb-r1 link set eth2 up
ip -n tb-r1 neighbour replace 10.0.0.1 lladdr 02:54:42:00:00:00 dev eth0 nud permanent
ip -n tb-r1 neighbour replace 10.0.1.2 lladdr 02:54:42:00:00:03 dev eth1 nud permanent
ip -n tb-r1 neighbour replace 10.0.3.2 lladdr 02:54:42:00:00:07 dev eth2 nud permanent
ip -n tb-r1 route replace default via 10.0.1.2 dev eth1
ip netns exec tb-r2 sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-r2 sh -c 'echo 1 > /proc/sys/net/ipv4/ip_forward'
ip netns exec tb-r2 sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/forwarding'
ip netns exec tb-r2 sh -c 'echo 0 > /proc/sys/net/ipv4/conf/all/rp_filter'
ip netns exec tb-r2 sh -c 'echo 0 > /proc/sys/net/ipv4/conf/all/send_redirects'
ip netns exec tb-r2 sh -c 'echo 0 > /proc/sys/net/ipv4/conf/default/send_redirects'
ip netns exec tb-r2 sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth0/send_redirects'
ip netns exec tb-r2 sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth1/send_redirects'
ip -n tb-r2 address add 10.0.1.2/24 dev eth0
ip -n tb-r2 address add 10.0.2.1/24 dev eth1
ip -n tb-r2 link set lo up
ip -n tb-r2 link set eth0 up
ip -n tb-r2 link set eth1 up
ip -n tb-r2 neighbour replace 10.0.1.1 lladdr 02:54:42:00:00:02 dev eth0 nud permanent
ip -n tb-r2 neighbour replace 10.0.2.2 lladdr 02:54:42:00:00:05 dev eth1 nud permanent
ip -n tb-r2 route replace default via 10.0.1.1 dev eth0
ip -n tb-r2 route replace 192.0.2.0/24 via 10.0.2.2
ip netns exec tb-r1 ethtool -K eth0 tso off gso off tx-udp-segmentation off
ip netns exec tb-a ethtool -K eth0 gro on
ip netns exec tb-a sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-a sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-r2 ethtool -K eth1 tso off gso off tx-udp-segmentation off
ip netns exec tb-b ethtool -K eth0 gro on
ip netns exec tb-b sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-b sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-r1 ethtool -K eth2 tso off gso off tx-udp-segmentation off
ip netns exec tb-c ethtool -K eth0 gro on
ip netns exec tb-c sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-c sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'

# To take it down:
#   ip netns del tb-r2
#   ip netns del tb-r1
#   ip netns del tb-c
#   ip netns del tb-b
#   ip netns del tb-a
