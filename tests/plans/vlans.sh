#!/bin/sh -e
ip netns add tb-a
ip netns add tb-b
ip netns add tb-c
ip netns add tb-left
ip netns add tb-right
ip netns add tb-r
ip link add name eth0 address 02:54:42:00:00:00 mtu 1500 netns tb-a type veth peer name eth0 address 02:54:42:00:00:01 mtu 1500 netns tb-left
ip link add name eth1 address 02:54:42:00:00:02 mtu 1500 netns tb-left type veth peer name eth0 address 02:54:42:00:00:03 mtu 1500 netns tb-b
ip link add name eth2 address 02:54:42:00:00:04 mtu 1500 netns tb-left type veth peer name eth0 address 02:54:42:00:00:05 mtu 1500 netns tb-right
ip link add name eth1 address 02:54:42:00:00:06 mtu 1500 netns tb-right type veth peer name eth0 address 02:54:42:00:00:07 mtu 1500 netns tb-c
ip link add name eth2 address 02:54:42:00:00:08 mtu 1500 netns tb-right type veth peer name eth0 address 02:54:42:00:00:09 mtu 1500 netns tb-r
ip netns exec tb-a sh -c 'echo 0 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-a sh -c 'echo 0 > /proc/sys/net/ipv6/conf/default/accept_dad'
ip netns exec tb-a sh -c 'echo 0 > /proc/sys/net/ipv6/conf/default/accept_ra'
ip netns exec tb-a sh -c 'echo 0 > /proc/sys/net/ipv6/conf/eth0/accept_dad'
ip netns exec tb-a sh -c 'echo 0 > /proc/sys/net/ipv6/conf/eth0/accept_ra'
ip netns exec tb-a sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-a sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-a sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-a address add 10.0.1.2/24 dev eth0
ip -n tb-a address add fd00:10::2/64 dev eth0 nodad
ip -n tb-a link set lo up
ip -n tb-a link set eth0 up
ip -n tb-a neighbour replace 10.0.1.3 lladdr 02:54:42:00:00:07 dev eth0 nud permanent
ip -n tb-a neighbour replace fd00:10::3 lladdr 02:54:42:00:00:07 dev eth0 nud permanent
ip -n tb-a neighbour replace 10.0.1.1 lladdr 02:54:42:00:00:09 dev eth0 nud permanent
ip -n tb-a neighbour replace fd00:10::1 lladdr 02:54:42:00:00:09 dev eth0 nud permanent
ip -n tb-a route replace default via 10.0.1.1 dev eth0
ip -n tb-a route replace ::/0 via fd00:10::1 dev eth0
ip netns exec tb-b sh -c 'echo 0 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-b sh -c 'echo 0 > /proc/sys/net/ipv6/conf/default/accept_dad'
ip netns exec tb-b sh -c 'echo 0 > /proc/sys/net/ipv6/conf/default/accept_ra'
ip netns exec tb-b sh -c 'echo 0 > /proc/sys/net/ipv6/conf/eth0/accept_dad'
ip netns exec tb-b sh -c 'echo 0 > /proc/sys/net/ipv6/conf/eth0/accept_ra'
ip netns exec tb-b sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-b sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-b sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-b address add 10.0.0.1/24 dev eth0
ip -n tb-b address add fd54:42::1/64 dev eth0 nodad
ip -n tb-b link set lo up
ip -n tb-b link set eth0 up
ip -n tb-b neighbour replace 10.0.0.2 lladdr 02:54:42:00:00:09 dev eth0 nud permanent
ip -n tb-b neighbour replace fd54:42::2 lladdr 02:54:42:00:00:09 dev eth0 nud permanent
ip -n tb-b route replace default via 10.0.0.2 dev eth0
ip -n tb-b route replace ::/0 via fd54:42::2 dev eth0
ip netns exec tb-c sh -c 'echo 0 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-c sh -c 'echo 0 > /proc/sys/net/ipv6/conf/default/accept_dad'
ip netns exec tb-c sh -c 'echo 0 > /proc/sys/net/ipv6/conf/default/accept_ra'
ip netns exec tb-c sh -c 'echo 0 > /proc/sys/net/ipv6/conf/eth0/accept_dad'
ip netns exec tb-c sh -c 'echo 0 > /proc/sys/net/ipv6/conf/eth0/accept_ra'
ip netns exec tb-c sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-c sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-c sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-c address add 10.0.1.3/24 dev eth0
ip -n tb-c address add fd00:10::3/64 dev eth0 nodad
ip -n tb-c link set lo up
ip -n tb-c link set eth0 up
ip -n tb-c neighbour replace 10.0.1.2 lladdr 02:54:42:00:00:00 dev eth0 nud permanent
ip -n tb-c neighbour replace fd00:10::2 lladdr 02:54:42:00:00:00 dev eth0 nud permanent
ip -n tb-c neighbour replace 10.0.1.1 lladdr 02:54:42:00:00:09 dev eth0 nud permanent
ip -n tb-c neighbour replace fd00:10::1 lladdr 02:54:42:00:00:09 dev eth0 nud permanent
ip -n tb-c route replace default via 10.0.1.1 dev eth0
ip -n tb-c route replace ::/0 via fd00:10::1 dev eth0
ip -n tb-c route replace 10.9.0.0/16 via 10.0.1.1
ip netns exec tb-left sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-left link add br0 type bridge stp_state 0 mcast_snooping 0 vlan_filtering 1 vlan_default_pvid 0
ip -n tb-left link set eth0 master br0
ip -n tb-left link set eth1 master br0
ip -n tb-left link set eth2 master br0
bridge -n tb-left vlan add dev eth0 vid 10 pvid untagged
bridge -n tb-left vlan add dev eth1 vid 20 pvid untagged
bridge -n tb-left vlan add dev eth2 vid 20
bridge -n tb-left vlan add dev eth2 vid 10
ip -n tb-left link set br0 up
ip -n tb-left link set lo up
ip -n tb-left link set eth0 up
ip -n tb-left link set eth1 up
ip -n tb-left link set eth2 up
ip netns exec tb-right sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-right link add br0 type bridge stp_state 0 mcast_snooping 0 vlan_filtering 1 vlan_default_pvid 0
ip -n tb-right link set eth0 master br0
ip -n tb-right link set eth1 master br0
ip -n tb-right link set eth2 master br0
bridge -n tb-right vlan add dev eth0 vid 10
bridge -n tb-right vlan add dev eth0 vid 20
bridge -n tb-right vlan add dev eth1 vid 10 pvid untagged
bridge -n tb-right vlan add dev eth2 vid 10
bridge -n tb-right vlan add dev eth2 vid 20
ip -n tb-right link set br0 up
ip -n tb-right link set lo up
ip -n tb-right link set eth0 up
ip -n tb-right link set eth1 up
ip -n tb-right link set eth2 up
ip netns exec tb-r sh -c 'echo 0 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-r sh -c 'echo 0 > /proc/sys/net/ipv6/conf/default/accept_dad'
ip netns exec tb-r sh -c 'echo 0 > /proc/sys/net/ipv6/conf/default/accept_ra'
ip netns exec tb-r sh -c 'echo 0 > /proc/sys/net/ipv6/conf/eth0/accept_dad'
ip netns exec tb-r sh -c 'echo 0 > /proc/sys/net/ipv6/conf/eth0/accept_ra'
ip netns exec tb-r sh -c 'echo 1 > /proc/sys/net/ipv4/ip_forward'
ip netns exec tb-r sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/forwarding'
ip netns exec tb-r sh -c 'echo 0 > /proc/sys/net/ipv4/conf/all/rp_filter'
ip netns exec tb-r sh -c 'echo 0 > /proc/sys/net/ipv4/conf/all/send_redirects'
ip netns exec tb-r sh -c 'echo 0 > /proc/sys/net/ipv4/conf/default/send_redirects'
ip netns exec tb-r sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth0/send_redirects'
ip -n tb-r link add link eth0 name eth0.10 type vlan protocol 802.1Q id 10
ip -n tb-r link add link eth0 name eth0.20 type vlan protocol 802.1Q id 20
ip -n tb-r address add 10.0.1.1/24 dev eth0.10
ip -n tb-r address add fd00:10::1/64 dev eth0.10 nodad
ip -n tb-r address add 10.0.0.2/24 dev eth0.20
ip -n tb-r address add fd54:42::2/64 dev eth0.20 nodad
ip -n tb-r link set lo up
ip -n tb-r link set eth0 up
ip -n tb-r link set eth0.10 up
ip -n tb-r link set eth0.20 up
ip -n tb-r neighbour replace 10.0.1.2 lladdr 02:54:42:00:00:00 dev eth0.10 nud permanent
ip -n tb-r neighbour replace fd00:10::2 lladdr 02:54:42:00:00:00 dev eth0.10 nud permanent
ip -n tb-r neighbour replace 10.0.1.3 lladdr 02:54:42:00:00:07 dev eth0.10 nud permanent
ip -n tb-r neighbour replace fd00:10::3 lladdr 02:54:42:00:00:07 dev eth0.10 nud permanent
ip -n tb-r neighbour replace 10.0.0.1 lladdr 02:54:42:00:00:03 dev eth0.20 nud permanent
ip -n tb-r neighbour replace fd54:42::1 lladdr 02:54:42:00:00:03 dev eth0.20 nud permanent
ip netns exec tb-left ethtool -K eth0 tso off gso off tx-udp-segmentation off
ip netns exec tb-a ethtool -K eth0 gro on
ip netns exec tb-a sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-a sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-left ethtool -K eth1 tso off gso off tx-udp-segmentation off
ip netns exec tb-b ethtool -K eth0 gro on
ip netns exec tb-b sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-b sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-right ethtool -K eth1 tso off gso off tx-udp-segmentation off
ip netns exec tb-c ethtool -K eth0 gro on
ip netns exec tb-c sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-c sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'

# To take it down:
#   ip -n tb-right link del br0
#   ip -n tb-left link del br0
#   ip netns del tb-r
#   ip netns del tb-right
#   ip netns del tb-left
#   ip netns del tb-c
#   ip netns del tb-b
#   ip netns del tb-a
