#!/bin/sh -e
ip netns add tb-a
ip netns add tb-b
ip netns add tb-path.emulator
ip link add name eth0 address 02:54:42:00:00:00 mtu 1500 netns tb-a type veth peer name end0 mtu 1500 netns tb-path.emulator
ip link add name wire0 mtu 1500 netns tb-path.emulator type veth peer name wire1 mtu 1500 netns tb-path.emulator
ip link add name eth0 address 02:54:42:00:00:01 mtu 1500 netns tb-b type veth peer name end1 mtu 1500 netns tb-path.emulator
ip netns exec tb-a sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-a sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-a sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-a sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-a address add 10.0.0.1/24 dev eth0
ip -n tb-a link set lo up
ip -n tb-a link set eth0 up
ip -n tb-a neighbour replace 10.0.0.2 lladdr 02:54:42:00:00:01 dev eth0 nud permanent
ip netns exec tb-b sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-b sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-b sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-b sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-b address add 10.0.0.2/24 dev eth0
ip -n tb-b link set lo up
ip -n tb-b link set eth0 up
ip -n tb-b neighbour replace 10.0.0.1 lladdr 02:54:42:00:00:00 dev eth0 nud permanent
ip netns exec tb-a ethtool -K eth0 gro on
ip netns exec tb-a sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-a sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-b ethtool -K eth0 gro on
ip netns exec tb-b sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-b sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-path.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip link add name exit0 mtu 1500 netns tb-path.emulator type veth peer name exit1 mtu 1500 netns tb-path.emulator
ip link add name late0 mtu 1500 netns tb-path.emulator type veth peer name late1 mtu 1500 netns tb-path.emulator
ip link add name once0 mtu 1500 netns tb-path.emulator type veth peer name once1 mtu 1500 netns tb-path.emulator
ip link add name twin0 mtu 1500 netns tb-path.emulator type veth peer name twin1 mtu 1500 netns tb-path.emulator
ip -n tb-path.emulator link set end0 up
ip -n tb-path.emulator link set end1 up
ip -n tb-path.emulator link set wire0 up
ip -n tb-path.emulator link set wire1 up
ip -n tb-path.emulator link set exit0 up
ip -n tb-path.emulator link set exit1 up
ip -n tb-path.emulator link set late0 up
ip -n tb-path.emulator link set late1 up
ip -n tb-path.emulator link set once0 up
ip -n tb-path.emulator link set once1 up
ip -n tb-path.emulator link set twin0 up
ip -n tb-path.emulator link set twin1 up
ip netns exec tb-path.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-path.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-path.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-path.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
ip netns exec tb-path.emulator ethtool -K wire0 tx off tso off gso off
ip netns exec tb-path.emulator ethtool -K wire1 tx off tso off gso off
tc -n tb-path.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 5000us
tc -n tb-path.emulator qdisc add dev exit0 root handle 2: tbf rate 100000000bit burst 2271 limit 151400
tc -n tb-path.emulator qdisc add dev late0 root handle 7: netem limit 2147483647 delay 424us
tc -n tb-path.emulator qdisc add dev twin0 root handle 8: netem limit 2147483647 duplicate 100%
tc -n tb-path.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 5000us
tc -n tb-path.emulator qdisc add dev exit1 root handle 2: tbf rate 100000000bit burst 2271 limit 151400
tc -n tb-path.emulator qdisc add dev end0 root handle 9: netem limit 2147483647 slot 4000000ns 4000000ns bytes 32768
ip netns exec tb-path.emulator nft 'add table netdev testbed'
ip netns exec tb-path.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-path.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-path.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-path.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-path.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-path.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-path.emulator nft 'add chain netdev testbed corrupt-forward-met'
ip netns exec tb-path.emulator nft 'add chain netdev testbed corrupt-forward'
ip netns exec tb-path.emulator nft 'add chain netdev testbed duplicate-forward-met'
ip netns exec tb-path.emulator nft 'add chain netdev testbed duplicate-forward'
ip netns exec tb-path.emulator nft 'add chain netdev testbed reorder-forward-met'
ip netns exec tb-path.emulator nft 'add chain netdev testbed reorder-forward'
ip netns exec tb-path.emulator nft 'add chain netdev testbed enter-forward'
ip netns exec tb-path.emulator nft 'add chain netdev testbed cut-forward'
ip netns exec tb-path.emulator nft 'add chain netdev testbed leave-forward'
ip netns exec tb-path.emulator nft 'add counter netdev testbed corrupt-came-forward'
ip netns exec tb-path.emulator nft 'add counter netdev testbed corrupt-met-forward'
ip netns exec tb-path.emulator nft 'add counter netdev testbed duplicate-came-forward'
ip netns exec tb-path.emulator nft 'add counter netdev testbed duplicate-met-forward'
ip netns exec tb-path.emulator nft 'add counter netdev testbed reorder-came-forward'
ip netns exec tb-path.emulator nft 'add counter netdev testbed reorder-met-forward'
ip netns exec tb-path.emulator nft 'add counter netdev testbed down-lost-forward'
ip netns exec tb-path.emulator nft 'add counter netdev testbed down-left-forward'
ip netns exec tb-path.emulator nft 'add rule netdev testbed corrupt-forward meta l4proto tcp jump corrupt-forward-met'
ip netns exec tb-path.emulator nft 'add rule netdev testbed corrupt-forward meta l4proto udp jump corrupt-forward-met'
ip netns exec tb-path.emulator nft 'add rule netdev testbed corrupt-forward-met counter name "corrupt-came-forward"'
ip netns exec tb-path.emulator nft 'add rule netdev testbed corrupt-forward-met numgen random mod 1000000000 < 1000000 counter name "corrupt-met-forward" @th,64,8 set @th,64,8 ^ 0x1'
ip netns exec tb-path.emulator nft 'add rule netdev testbed duplicate-forward meta l4proto tcp meta length > 100 jump duplicate-forward-met'
ip netns exec tb-path.emulator nft 'add rule netdev testbed duplicate-forward meta l4proto udp jump duplicate-forward-met'
ip netns exec tb-path.emulator nft 'add rule netdev testbed duplicate-forward-met counter name "duplicate-came-forward"'
ip netns exec tb-path.emulator nft 'add rule netdev testbed duplicate-forward-met numgen inc mod 100 == 99 counter name "duplicate-met-forward" fwd to "twin0"'
ip netns exec tb-path.emulator nft 'add rule netdev testbed reorder-forward meta l4proto tcp meta length > 100 jump reorder-forward-met'
ip netns exec tb-path.emulator nft 'add rule netdev testbed reorder-forward meta l4proto udp jump reorder-forward-met'
ip netns exec tb-path.emulator nft 'add rule netdev testbed reorder-forward-met counter name "reorder-came-forward"'
ip netns exec tb-path.emulator nft 'add rule netdev testbed reorder-forward-met numgen inc mod 100 == 99 counter name "reorder-met-forward" fwd to "late0"'
ip netns exec tb-path.emulator nft 'add rule netdev testbed enter-forward meta mark set 16'
ip netns exec tb-path.emulator nft 'add rule netdev testbed cut-forward meta mark != 16 counter name "down-lost-forward" drop'
ip netns exec tb-path.emulator nft 'add rule netdev testbed leave-forward meta mark != 16 counter name "down-lost-forward" drop'
ip netns exec tb-path.emulator nft 'add rule netdev testbed leave-forward counter name "down-left-forward"'
ip netns exec tb-path.emulator nft 'add rule netdev testbed leave-forward fwd to "end1"'
ip netns exec tb-path.emulator nft 'add chain netdev testbed from-once1 { type filter hook ingress device "once1" priority 0 ; }'
ip netns exec tb-path.emulator nft 'add rule netdev testbed from-once1 fwd to "exit0"'
ip netns exec tb-path.emulator nft 'add chain netdev testbed from-twin1 { type filter hook ingress device "twin1" priority 0 ; }'
ip netns exec tb-path.emulator nft 'add rule netdev testbed from-twin1 fwd to "exit0"'
ip netns exec tb-path.emulator nft 'add chain netdev testbed from-exit1 { type filter hook ingress device "exit1" priority 0 ; }'
ip netns exec tb-path.emulator nft 'add rule netdev testbed from-exit1 jump reorder-forward'
ip netns exec tb-path.emulator nft 'add rule netdev testbed from-exit1 jump leave-forward'
ip netns exec tb-path.emulator nft 'add chain netdev testbed from-late1 { type filter hook ingress device "late1" priority 0 ; }'
ip netns exec tb-path.emulator nft 'add rule netdev testbed from-late1 jump leave-forward'
ip netns exec tb-path.emulator nft 'add chain netdev testbed ack_loss-backward-met'
ip netns exec tb-path.emulator nft 'add chain netdev testbed ack_loss-backward'
ip netns exec tb-path.emulator nft 'add chain netdev testbed corrupt-backward-met'
ip netns exec tb-path.emulator nft 'add chain netdev testbed corrupt-backward'
ip netns exec tb-path.emulator nft 'add chain netdev testbed enter-backward'
ip netns exec tb-path.emulator nft 'add chain netdev testbed cut-backward'
ip netns exec tb-path.emulator nft 'add chain netdev testbed leave-backward'
ip netns exec tb-path.emulator nft 'add counter netdev testbed ack_loss-came-backward'
ip netns exec tb-path.emulator nft 'add counter netdev testbed ack_loss-met-backward'
ip netns exec tb-path.emulator nft 'add counter netdev testbed corrupt-came-backward'
ip netns exec tb-path.emulator nft 'add counter netdev testbed corrupt-met-backward'
ip netns exec tb-path.emulator nft 'add counter netdev testbed down-lost-backward'
ip netns exec tb-path.emulator nft 'add counter netdev testbed down-left-backward'
ip netns exec tb-path.emulator nft 'add rule netdev testbed ack_loss-backward @th,104,8 & 0x17 == 0x10 ip length 40 tcp doff 5 jump ack_loss-backward-met'
ip netns exec tb-path.emulator nft 'add rule netdev testbed ack_loss-backward @th,104,8 & 0x17 == 0x10 ip length 44 tcp doff 6 jump ack_loss-backward-met'
ip netns exec tb-path.emulator nft 'add rule netdev testbed ack_loss-backward @th,104,8 & 0x17 == 0x10 ip length 48 tcp doff 7 jump ack_loss-backward-met'
ip netns exec tb-path.emulator nft 'add rule netdev testbed ack_loss-backward @th,104,8 & 0x17 == 0x10 ip length 52 tcp doff 8 jump ack_loss-backward-met'
ip netns exec tb-path.emulator nft 'add rule netdev testbed ack_loss-backward @th,104,8 & 0x17 == 0x10 ip length 56 tcp doff 9 jump ack_loss-backward-met'
ip netns exec tb-path.emulator nft 'add rule netdev testbed ack_loss-backward @th,104,8 & 0x17 == 0x10 ip length 60 tcp doff 10 jump ack_loss-backward-met'
ip netns exec tb-path.emulator nft 'add rule netdev testbed ack_loss-backward @th,104,8 & 0x17 == 0x10 ip length 64 tcp doff 11 jump ack_loss-backward-met'
ip netns exec tb-path.emulator nft 'add rule netdev testbed ack_loss-backward @th,104,8 & 0x17 == 0x10 ip length 68 tcp doff 12 jump ack_loss-backward-met'
ip netns exec tb-path.emulator nft 'add rule netdev testbed ack_loss-backward @th,104,8 & 0x17 == 0x10 ip length 72 tcp doff 13 jump ack_loss-backward-met'
ip netns exec tb-path.emulator nft 'add rule netdev testbed ack_loss-backward @th,104,8 & 0x17 == 0x10 ip length 76 tcp doff 14 jump ack_loss-backward-met'
ip netns exec tb-path.emulator nft 'add rule netdev testbed ack_loss-backward @th,104,8 & 0x17 == 0x10 ip length 80 tcp doff 15 jump ack_loss-backward-met'
ip netns exec tb-path.emulator nft 'add rule netdev testbed ack_loss-backward @th,104,8 & 0x17 == 0x10 ip6 length 20 tcp doff 5 jump ack_loss-backward-met'
ip netns exec tb-path.emulator nft 'add rule netdev testbed ack_loss-backward @th,104,8 & 0x17 == 0x10 ip6 length 24 tcp doff 6 jump ack_loss-backward-met'
ip netns exec tb-path.emulator nft 'add rule netdev testbed ack_loss-backward @th,104,8 & 0x17 == 0x10 ip6 length 28 tcp doff 7 jump ack_loss-backward-met'
ip netns exec tb-path.emulator nft 'add rule netdev testbed ack_loss-backward @th,104,8 & 0x17 == 0x10 ip6 length 32 tcp doff 8 jump ack_loss-backward-met'
ip netns exec tb-path.emulator nft 'add rule netdev testbed ack_loss-backward @th,104,8 & 0x17 == 0x10 ip6 length 36 tcp doff 9 jump ack_loss-backward-met'
ip netns exec tb-path.emulator nft 'add rule netdev testbed ack_loss-backward @th,104,8 & 0x17 == 0x10 ip6 length 40 tcp doff 10 jump ack_loss-backward-met'
ip netns exec tb-path.emulator nft 'add rule netdev testbed ack_loss-backward @th,104,8 & 0x17 == 0x10 ip6 length 44 tcp doff 11 jump ack_loss-backward-met'
ip netns exec tb-path.emulator nft 'add rule netdev testbed ack_loss-backward @th,104,8 & 0x17 == 0x10 ip6 length 48 tcp doff 12 jump ack_loss-backward-met'
ip netns exec tb-path.emulator nft 'add rule netdev testbed ack_loss-backward @th,104,8 & 0x17 == 0x10 ip6 length 52 tcp doff 13 jump ack_loss-backward-met'
ip netns exec tb-path.emulator nft 'add rule netdev testbed ack_loss-backward @th,104,8 & 0x17 == 0x10 ip6 length 56 tcp doff 14 jump ack_loss-backward-met'
ip netns exec tb-path.emulator nft 'add rule netdev testbed ack_loss-backward @th,104,8 & 0x17 == 0x10 ip6 length 60 tcp doff 15 jump ack_loss-backward-met'
ip netns exec tb-path.emulator nft 'add rule netdev testbed ack_loss-backward-met counter name "ack_loss-came-backward"'
ip netns exec tb-path.emulator nft 'add rule netdev testbed ack_loss-backward-met numgen inc mod 10 == 2 counter name "ack_loss-met-backward" drop'
ip netns exec tb-path.emulator nft 'add rule netdev testbed corrupt-backward meta l4proto tcp jump corrupt-backward-met'
ip netns exec tb-path.emulator nft 'add rule netdev testbed corrupt-backward meta l4proto udp jump corrupt-backward-met'
ip netns exec tb-path.emulator nft 'add rule netdev testbed corrupt-backward-met counter name "corrupt-came-backward"'
ip netns exec tb-path.emulator nft 'add rule netdev testbed corrupt-backward-met numgen random mod 1000000000 < 1000000 counter name "corrupt-met-backward" @th,64,8 set @th,64,8 ^ 0x1'
ip netns exec tb-path.emulator nft 'add rule netdev testbed enter-backward meta mark set 16'
ip netns exec tb-path.emulator nft 'add rule netdev testbed cut-backward meta mark != 16 counter name "down-lost-backward" drop'
ip netns exec tb-path.emulator nft 'add rule netdev testbed leave-backward meta mark != 16 counter name "down-lost-backward" drop'
ip netns exec tb-path.emulator nft 'add rule netdev testbed leave-backward counter name "down-left-backward"'
ip netns exec tb-path.emulator nft 'add rule netdev testbed leave-backward fwd to "end0"'
ip netns exec tb-path.emulator nft 'add chain netdev testbed from-exit0 { type filter hook ingress device "exit0" priority 0 ; }'
ip netns exec tb-path.emulator nft 'add rule netdev testbed from-exit0 jump leave-backward'
ip netns exec tb-path.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-path.emulator nft 'add rule netdev testbed from-end0 jump enter-forward'
ip netns exec tb-path.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-path.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-path.emulator nft 'add rule netdev testbed from-end1 jump enter-backward'
ip netns exec tb-path.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-path.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-path.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-path.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-path.emulator nft 'add counter netdev testbed passed-forward'
ip netns exec tb-path.emulator nft 'add counter netdev testbed policed-forward'
ip netns exec tb-path.emulator nft 'add chain netdev testbed policy-forward'
ip netns exec tb-path.emulator nft 'add rule netdev testbed policy-forward counter name "passed-forward"'
ip netns exec tb-path.emulator nft 'add rule netdev testbed policy-forward quota over 5000000 bytes meta mark set 0x1'
ip netns exec tb-path.emulator nft 'add rule netdev testbed policy-forward limit rate over 6250000 bytes/second burst 1500 bytes meta mark 0x1 counter name "policed-forward" drop'
ip netns exec tb-path.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-path.emulator nft 'add rule netdev testbed from-wire1 jump cut-forward'
ip netns exec tb-path.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-path.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-path.emulator nft 'add rule netdev testbed from-wire1 jump policy-forward'
ip netns exec tb-path.emulator nft 'add rule netdev testbed from-wire1 jump enter-forward'
ip netns exec tb-path.emulator nft 'add rule netdev testbed from-wire1 jump corrupt-forward'
ip netns exec tb-path.emulator nft 'add rule netdev testbed from-wire1 jump duplicate-forward'
ip netns exec tb-path.emulator nft 'add rule netdev testbed from-wire1 fwd to "once0"'
ip netns exec tb-path.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-path.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-path.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-path.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-path.emulator nft 'add rule netdev testbed from-wire0 jump cut-backward'
ip netns exec tb-path.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-path.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-path.emulator nft 'add rule netdev testbed from-wire0 jump ack_loss-backward'
ip netns exec tb-path.emulator nft 'add rule netdev testbed from-wire0 jump corrupt-backward'
ip netns exec tb-path.emulator nft 'add rule netdev testbed from-wire0 fwd to "exit1"'

# While the workload runs, counted from its start:
# 0.5 s:
#   tc -n tb-path.emulator qdisc change dev exit0 root handle 2: tbf rate 100000000000bit burst 62500 limit 151400
#   tc -n tb-path.emulator qdisc change dev exit1 root handle 2: tbf rate 100000000000bit burst 62500 limit 151400
#   ip netns exec tb-path.emulator nft 'add counter netdev testbed down-lost-forward-1'
#   ip netns exec tb-path.emulator nft 'add counter netdev testbed down-left-forward-1'
#   ip netns exec tb-path.emulator nft 'flush chain netdev testbed enter-forward'
#   ip netns exec tb-path.emulator nft 'flush chain netdev testbed cut-forward'
#   ip netns exec tb-path.emulator nft 'flush chain netdev testbed leave-forward'
#   ip netns exec tb-path.emulator nft 'add rule netdev testbed enter-forward meta mark set 32'
#   ip netns exec tb-path.emulator nft 'add rule netdev testbed cut-forward counter name "down-lost-forward-1" drop'
#   ip netns exec tb-path.emulator nft 'add rule netdev testbed leave-forward counter name "down-lost-forward-1" drop'
#   ip netns exec tb-path.emulator nft 'add rule netdev testbed leave-forward counter name "down-left-forward-1"'
#   ip netns exec tb-path.emulator nft 'add rule netdev testbed leave-forward fwd to "end1"'
#   ip netns exec tb-path.emulator nft 'add counter netdev testbed down-lost-backward-1'
#   ip netns exec tb-path.emulator nft 'add counter netdev testbed down-left-backward-1'
#   ip netns exec tb-path.emulator nft 'flush chain netdev testbed enter-backward'
#   ip netns exec tb-path.emulator nft 'flush chain netdev testbed cut-backward'
#   ip netns exec tb-path.emulator nft 'flush chain netdev testbed leave-backward'
#   ip netns exec tb-path.emulator nft 'add rule netdev testbed enter-backward meta mark set 32'
#   ip netns exec tb-path.emulator nft 'add rule netdev testbed cut-backward counter name "down-lost-backward-1" drop'
#   ip netns exec tb-path.emulator nft 'add rule netdev testbed leave-backward counter name "down-lost-backward-1" drop'
#   ip netns exec tb-path.emulator nft 'add rule netdev testbed leave-backward counter name "down-left-backward-1"'
#   ip netns exec tb-path.emulator nft 'add rule netdev testbed leave-backward fwd to "end0"'
# 0.7 s:
#   tc -n tb-path.emulator qdisc change dev exit0 root handle 2: tbf rate 100000000bit burst 2271 limit 151400
#   tc -n tb-path.emulator qdisc change dev exit1 root handle 2: tbf rate 100000000bit burst 2271 limit 151400
#   ip netns exec tb-path.emulator nft 'add counter netdev testbed down-lost-forward-2'
#   ip netns exec tb-path.emulator nft 'add counter netdev testbed down-left-forward-2'
#   ip netns exec tb-path.emulator nft 'flush chain netdev testbed enter-forward'
#   ip netns exec tb-path.emulator nft 'flush chain netdev testbed cut-forward'
#   ip netns exec tb-path.emulator nft 'flush chain netdev testbed leave-forward'
#   ip netns exec tb-path.emulator nft 'add rule netdev testbed enter-forward meta mark set 48'
#   ip netns exec tb-path.emulator nft 'add rule netdev testbed cut-forward meta mark != 48 counter name "down-lost-forward-2" drop'
#   ip netns exec tb-path.emulator nft 'add rule netdev testbed leave-forward meta mark != 48 counter name "down-lost-forward-2" drop'
#   ip netns exec tb-path.emulator nft 'add rule netdev testbed leave-forward counter name "down-left-forward-2"'
#   ip netns exec tb-path.emulator nft 'add rule netdev testbed leave-forward fwd to "end1"'
#   ip netns exec tb-path.emulator nft 'add counter netdev testbed down-lost-backward-2'
#   ip netns exec tb-path.emulator nft 'add counter netdev testbed down-left-backward-2'
#   ip netns exec tb-path.emulator nft 'flush chain netdev testbed enter-backward'
#   ip netns exec tb-path.emulator nft 'flush chain netdev testbed cut-backward'
#   ip netns exec tb-path.emulator nft 'flush chain netdev testbed leave-backward'
#   ip netns exec tb-path.emulator nft 'add rule netdev testbed enter-backward meta mark set 48'
#   ip netns exec tb-path.emulator nft 'add rule netdev testbed cut-backward meta mark != 48 counter name "down-lost-backward-2" drop'
#   ip netns exec tb-path.emulator nft 'add rule netdev testbed leave-backward meta mark != 48 counter name "down-lost-backward-2" drop'
#   ip netns exec tb-path.emulator nft 'add rule netdev testbed leave-backward counter name "down-left-backward-2"'
#   ip netns exec tb-path.emulator nft 'add rule netdev testbed leave-backward fwd to "end0"'

# To take it down:
#   ip netns exec tb-path.emulator nft 'delete table netdev testbed'
#   tc -n tb-path.emulator qdisc del dev end0 root
#   tc -n tb-path.emulator qdisc del dev exit1 root
#   tc -n tb-path.emulator qdisc del dev wire1 root
#   tc -n tb-path.emulator qdisc del dev twin0 root
#   tc -n tb-path.emulator qdisc del dev late0 root
#   tc -n tb-path.emulator qdisc del dev exit0 root
#   tc -n tb-path.emulator qdisc del dev wire0 root
#   ip netns del tb-path.emulator
#   ip netns del tb-b
#   ip netns del tb-a

# The lab kernel was told first:
#   sh -c 'echo '"'"'33554432 33554432 33554432'"'"' > /proc/sys/net/ipv4/tcp_mem'
#   sh -c 'echo 2147483647 > /proc/sys/net/core/rmem_max'
#   sh -c 'echo 2147483647 > /proc/sys/net/core/wmem_max'
#   sh -c 'echo 2147483647 > /proc/sys/net/core/netdev_max_backlog'
#   sh -c 'echo 1000000 > /proc/sys/net/core/netdev_budget'
#   sh -c 'echo 1000000 > /proc/sys/net/core/dev_weight'
