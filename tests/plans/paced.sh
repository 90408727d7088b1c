#!/bin/sh -e
ip netns add tb-a
ip netns add tb-b
ip netns add tb-c
ip netns add tb-cloud.emulator
ip netns add tb-radio.emulator
ip link add name eth0 address 02:54:42:00:00:00 mtu 1500 netns tb-a type veth peer name end0 mtu 1500 netns tb-cloud.emulator
ip link add name wire0 mtu 1500 netns tb-cloud.emulator type veth peer name wire1 mtu 1500 netns tb-cloud.emulator
ip link add name eth0 address 02:54:42:00:00:01 mtu 1500 netns tb-b type veth peer name end1 mtu 1500 netns tb-cloud.emulator
ip link add name eth1 address 02:54:42:00:00:02 mtu 1500 netns tb-a type veth peer name end0 mtu 1500 netns tb-radio.emulator
ip link add name wire0 mtu 1500 netns tb-radio.emulator type veth peer name wire1 mtu 1500 netns tb-radio.emulator
ip link add name eth0 address 02:54:42:00:00:03 mtu 1500 netns tb-c type veth peer name end1 mtu 1500 netns tb-radio.emulator
ip netns exec tb-a sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-a sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-a sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-a sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-a address add 10.0.0.1/24 dev eth0
ip -n tb-a address add 10.0.1.1/24 dev eth1
ip -n tb-a link set lo up
ip -n tb-a link set eth0 up
ip -n tb-a link set eth1 up
ip -n tb-a neighbour replace 10.0.0.2 lladdr 02:54:42:00:00:01 dev eth0 nud permanent
ip -n tb-a neighbour replace 10.0.1.2 lladdr 02:54:42:00:00:03 dev eth1 nud permanent
ip netns exec tb-b sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-b sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-b sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-b sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-b address add 10.0.0.2/24 dev eth0
ip -n tb-b link set lo up
ip -n tb-b link set eth0 up
ip -n tb-b neighbour replace 10.0.0.1 lladdr 02:54:42:00:00:00 dev eth0 nud permanent
ip netns exec tb-c sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-c sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-c sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-c sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-c address add 10.0.1.2/24 dev eth0
ip -n tb-c link set lo up
ip -n tb-c link set eth0 up
ip -n tb-c neighbour replace 10.0.1.1 lladdr 02:54:42:00:00:02 dev eth0 nud permanent
ip netns exec tb-a ethtool -K eth0 gro on
ip netns exec tb-a sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-a sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-a ethtool -K eth1 gro on
ip netns exec tb-a sh -c 'echo 20000 > /sys/class/net/eth1/gro_flush_timeout'
ip netns exec tb-a sh -c 'echo 1 > /sys/class/net/eth1/napi_defer_hard_irqs'
ip netns exec tb-b ethtool -K eth0 gro on
ip netns exec tb-b sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-b sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-c ethtool -K eth0 gro on
ip netns exec tb-c sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-c sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-cloud.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-radio.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-cloud.emulator link set end0 up
ip -n tb-cloud.emulator link set end1 up
ip -n tb-cloud.emulator link set wire0 up
ip -n tb-cloud.emulator link set wire1 up
ip -n tb-radio.emulator link set end0 up
ip -n tb-radio.emulator link set end1 up
ip -n tb-radio.emulator link set wire0 up
ip -n tb-radio.emulator link set wire1 up
ip netns exec tb-cloud.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-cloud.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-cloud.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-cloud.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-cloud.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 5000us
ip netns exec tb-cloud.emulator sh -c 'echo '"'"'qdisc add dev end1 root handle 6: tbflow limit 2147483648 refill 625000000 credit 3125 bytes 6250000'"'"' | qdisc'  # tbflow is ours: kernel/lab/patches/
ip netns exec tb-cloud.emulator sh -c 'echo '"'"'qdisc add dev end1 parent 6:1 handle 2: tbshaper limit 12500000 rate 1250000000 burst 6250 refill 93750000 credit 325000000000'"'"' | qdisc'  # tbshaper is ours: kernel/lab/patches/
tc -n tb-cloud.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 5000us
ip netns exec tb-cloud.emulator sh -c 'echo '"'"'qdisc add dev end0 root handle 4: tbpolicer limit 2147483648 refill 1000000 credit 65536'"'"' | qdisc'  # tbpolicer is ours: kernel/lab/patches/
ip netns exec tb-cloud.emulator sh -c 'echo '"'"'qdisc add dev end0 parent 4:1 handle 6: tbflow limit 2147483648 refill 500000 credit 32768 bytes 0'"'"' | qdisc'  # tbflow is ours: kernel/lab/patches/
tc -n tb-cloud.emulator qdisc add dev end0 parent 6:1 handle 2: tbf rate 1000000000bit burst 2271 limit 1250000
ip netns exec tb-cloud.emulator nft 'add table netdev testbed'
ip netns exec tb-cloud.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-cloud.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-cloud.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-cloud.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-cloud.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-cloud.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-cloud.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-cloud.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-cloud.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-cloud.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-cloud.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-cloud.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-cloud.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-cloud.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-cloud.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-cloud.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-cloud.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-cloud.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-cloud.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-cloud.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-cloud.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-cloud.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-cloud.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-cloud.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-radio.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-radio.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-radio.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-radio.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
ip netns exec tb-radio.emulator sh -c 'echo '"'"'qdisc add dev end1 root handle 2: tbtrace limit 1514 bytes 1514 period 3000000 tick 1000000 runs 1x2,2 start 1'"'"' | qdisc'  # tbtrace is ours: kernel/lab/patches/
tc -n tb-radio.emulator qdisc add dev end1 parent 2:1 handle 3: pfifo limit 50
ip netns exec tb-radio.emulator sh -c 'echo '"'"'qdisc add dev end0 root handle 2: tbtrace limit 1514 bytes 1514 period 60000000000 tick 1 runs 6056000x1651+26010321944576000,9994846400x8256+5202064388915200,9999211520x41281+1040412877783040,10099909440x40869+1040412877783040,9900626240x8256+5202064388915200,10000934400x1651+26010321944576000 start 1'"'"' | qdisc'  # tbtrace is ours: kernel/lab/patches/
tc -n tb-radio.emulator qdisc add dev end0 parent 2:1 handle 3: pfifo limit 50
ip netns exec tb-radio.emulator nft 'add table netdev testbed'
ip netns exec tb-radio.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-radio.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-radio.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-radio.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-radio.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-radio.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-radio.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-radio.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-radio.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-radio.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-radio.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-radio.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-radio.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-radio.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-radio.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-radio.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-radio.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-radio.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-radio.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-radio.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-radio.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-radio.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-radio.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-radio.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'

# While the workload runs, counted from its start:
# 0 s:
#   ip netns exec tb-radio.emulator sh -c 'echo '"'"'qdisc change dev end1 root handle 2: tbtrace start 1'"'"' | qdisc'  # tbtrace is ours: kernel/lab/patches/
#   ip netns exec tb-radio.emulator sh -c 'echo '"'"'qdisc change dev end0 root handle 2: tbtrace start 1'"'"' | qdisc'  # tbtrace is ours: kernel/lab/patches/

# To take it down:
#   ip netns exec tb-radio.emulator nft 'delete table netdev testbed'
#   tc -n tb-radio.emulator qdisc del dev end0 root
#   tc -n tb-radio.emulator qdisc del dev end1 root
#   ip netns exec tb-cloud.emulator nft 'delete table netdev testbed'
#   tc -n tb-cloud.emulator qdisc del dev end0 root
#   tc -n tb-cloud.emulator qdisc del dev wire1 root
#   tc -n tb-cloud.emulator qdisc del dev end1 root
#   tc -n tb-cloud.emulator qdisc del dev wire0 root
#   ip netns del tb-radio.emulator
#   ip netns del tb-cloud.emulator
#   ip netns del tb-c
#   ip netns del tb-b
#   ip netns del tb-a

# The lab kernel was told first:
#   sh -c 'echo '"'"'33554432 33554432 33554432'"'"' > /proc/sys/net/ipv4/tcp_mem'
#   sh -c 'echo 2147483647 > /proc/sys/net/core/rmem_max'
#   sh -c 'echo 2147483647 > /proc/sys/net/core/wmem_max'
#   sh -c 'echo 2147483647 > /proc/sys/net/core/netdev_max_backlog'
#   sh -c 'echo 1000000 > /proc/sys/net/core/netdev_budget'
#   sh -c 'echo 1000000 > /proc/sys/net/core/dev_weight'
