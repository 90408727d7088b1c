#!/bin/sh -e
ip link add tbo-eth1 mtu 1500 type veth peer name tbi-eth1 mtu 1500
echo 1 > /proc/sys/net/ipv6/conf/tbo-eth1/disable_ipv6
echo 1 > /proc/sys/net/ipv6/conf/tbi-eth1/disable_ipv6
echo 1 > /proc/sys/net/ipv6/conf/eth1/disable_ipv6
nft 'table netdev testbed-eth1 {
  chain in {
    type filter hook ingress device "eth1" priority -400; policy accept;
    fwd to "tbo-eth1"
  }
  chain out {
    type filter hook ingress device "tbo-eth1" priority -400; policy accept;
    fwd to "eth1"
  }
}
'
ip link set eth1 promisc on
ip link set tbo-eth1 up
ip link set eth1 up
ip netns add tb-a
ip netns add tb-s
ip link add name eth0 address 02:54:42:00:00:00 mtu 1500 netns tb-a type veth peer name eth0 address 02:54:42:00:00:01 mtu 1500 netns tb-s
ip netns exec tb-a sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-a sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-a sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-a sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-a address add 10.0.0.1/24 dev eth0
ip -n tb-a link set lo up
ip -n tb-a link set eth0 up
ip netns exec tb-s sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-s link add br0 type bridge stp_state 0 mcast_snooping 0
ip -n tb-s link set eth0 master br0
ip link set tbi-eth1 netns tb-s name nic0
ip -n tb-s link set nic0 master br0
ip -n tb-s link set nic0 up
ip -n tb-s link set br0 up
ip -n tb-s link set lo up
ip -n tb-s link set eth0 up
ip netns exec tb-s ethtool -K eth0 tso off gso off tx-udp-segmentation off
ip netns exec tb-a ethtool -K eth0 gro on
ip netns exec tb-a sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-a sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'

# To take it down:
#   ip -n tb-s link del br0
#   ip netns del tb-s
#   ip netns del tb-a
#   ip link set eth1 down
#   ip link set eth1 promisc off
#   nft delete table netdev testbed-eth1
