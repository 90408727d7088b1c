#!/bin/sh -e
ip netns add tb-pc
ip netns add tb-phone
ip netns add tb-lan
ip netns add tb-home
ip netns add tb-isp
ip netns add tb-server
ip netns add tb-access.emulator
ip link add name eth0 address 02:54:42:00:00:00 mtu 1500 netns tb-pc type veth peer name eth0 address 02:54:42:00:00:01 mtu 1500 netns tb-lan
ip link add name eth0 address 02:54:42:00:00:02 mtu 1500 netns tb-phone type veth peer name eth1 address 02:54:42:00:00:03 mtu 1500 netns tb-lan
ip link add name eth2 address 02:54:42:00:00:04 mtu 1500 netns tb-lan type veth peer name eth0 address 02:54:42:00:00:05 mtu 1500 netns tb-home
ip link add name eth1 address 02:54:42:00:00:06 mtu 1500 netns tb-home type veth peer name end0 mtu 1500 netns tb-access.emulator
ip link add name wire0 mtu 1500 netns tb-access.emulator type veth peer name wire1 mtu 1500 netns tb-access.emulator
ip link add name eth0 address 02:54:42:00:00:07 mtu 1500 netns tb-isp type veth peer name end1 mtu 1500 netns tb-access.emulator
ip link add name eth1 address 02:54:42:00:00:08 mtu 1500 netns tb-isp type veth peer name eth0 address 02:54:42:00:00:09 mtu 1500 netns tb-server
ip netns exec tb-pc sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-pc sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-pc sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-pc sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-pc address add 10.0.0.1/24 dev eth0
ip -n tb-pc link set lo up
ip -n tb-pc link set eth0 up
ip -n tb-pc neighbour replace 10.0.0.2 lladdr 02:54:42:00:00:02 dev eth0 nud permanent
ip -n tb-pc neighbour replace 10.0.0.3 lladdr 02:54:42:00:00:05 dev eth0 nud permanent
ip -n tb-pc route replace default via 10.0.0.3 dev eth0
ip netns exec tb-phone sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-phone sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-phone sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-phone sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-phone address add 10.0.0.2/24 dev eth0
ip -n tb-phone link set lo up
ip -n tb-phone link set eth0 up
ip -n tb-phone neighbour replace 10.0.0.1 lladdr 02:54:42:00:00:00 dev eth0 nud permanent
ip -n tb-phone neighbour replace 10.0.0.3 lladdr 02:54:42:00:00:05 dev eth0 nud permanent
ip -n tb-phone route replace default via 10.0.0.3 dev eth0
ip netns exec tb-lan sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-lan link add br0 type bridge stp_state 0 mcast_snooping 0
ip -n tb-lan link set eth0 master br0
ip -n tb-lan link set eth1 master br0
ip -n tb-lan link set eth2 master br0
ip -n tb-lan link set br0 up
ip -n tb-lan link set lo up
ip -n tb-lan link set eth0 up
ip -n tb-lan link set eth1 up
ip -n tb-lan link set eth2 up
ip netns exec tb-home sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-home sh -c 'echo 1 > /proc/sys/net/ipv4/ip_forward'
ip netns exec tb-home sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/forwarding'
ip netns exec tb-home sh -c 'echo 0 > /proc/sys/net/ipv4/conf/all/rp_filter'
ip netns exec tb-home sh -c 'echo 0 > /proc/sys/net/ipv4/conf/all/send_redirects'
ip netns exec tb-home sh -c 'echo 0 > /proc/sys/net/ipv4/conf/default/send_redirects'
ip netns exec tb-home sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth0/send_redirects'
ip netns exec tb-home sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth1/send_redirects'
ip -n tb-home address add 10.0.0.3/24 dev eth0
ip -n tb-home address add 10.0.1.1/24 dev eth1
ip netns exec tb-home nft 'add table ip testbed'
ip netns exec tb-home nft 'add chain ip testbed leaving { type nat hook postrouting priority 100 ; }'
ip netns exec tb-home nft 'add rule ip testbed leaving meta oifname eth1 counter masquerade'
ip netns exec tb-home nft 'add chain ip testbed coming { type nat hook prerouting priority -100 ; }'
ip netns exec tb-home nft 'add rule ip testbed coming meta iifname eth1 tcp dport 8080 counter dnat to 10.0.0.1:80'
ip netns exec tb-home nft 'add table inet testbed'
ip netns exec tb-home nft 'add chain inet testbed forwarded { type filter hook forward priority 0 ; }'
ip netns exec tb-home nft 'add rule inet testbed forwarded ct state established,related counter accept'
ip netns exec tb-home nft 'add rule inet testbed forwarded ip saddr 10.0.0.1 counter accept'
ip netns exec tb-home nft 'add rule inet testbed forwarded ip saddr 10.0.0.2 tcp dport 443 counter accept'
ip netns exec tb-home nft 'add rule inet testbed forwarded ip daddr 10.0.0.1 tcp dport 80 counter accept'
ip netns exec tb-home nft 'add rule inet testbed forwarded meta l4proto icmp counter accept'
ip netns exec tb-home nft 'add rule inet testbed forwarded meta l4proto ipv6-icmp counter accept'
ip netns exec tb-home nft 'add rule inet testbed forwarded counter drop'
ip -n tb-home link set lo up
ip -n tb-home link set eth0 up
ip -n tb-home link set eth1 up
ip -n tb-home neighbour replace 10.0.0.1 lladdr 02:54:42:00:00:00 dev eth0 nud permanent
ip -n tb-home neighbour replace 10.0.0.2 lladdr 02:54:42:00:00:02 dev eth0 nud permanent
ip -n tb-home neighbour replace 10.0.1.2 lladdr 02:54:42:00:00:07 dev eth1 nud permanent
ip -n tb-home route replace default via 10.0.1.2 dev eth1
ip netns exec tb-isp sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-isp sh -c 'echo 1 > /proc/sys/net/ipv4/ip_forward'
ip netns exec tb-isp sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/forwarding'
ip netns exec tb-isp sh -c 'echo 0 > /proc/sys/net/ipv4/conf/all/rp_filter'
ip netns exec tb-isp sh -c 'echo 0 > /proc/sys/net/ipv4/conf/all/send_redirects'
ip netns exec tb-isp sh -c 'echo 0 > /proc/sys/net/ipv4/conf/default/send_redirects'
ip netns exec tb-isp sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth0/send_redirects'
ip netns exec tb-isp sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth1/send_redirects'
ip -n tb-isp address add 10.0.1.2/24 dev eth0
ip -n tb-isp address add 10.0.2.1/24 dev eth1
ip -n tb-isp link set lo up
ip -n tb-isp link set eth0 up
ip -n tb-isp link set eth1 up
ip -n tb-isp neighbour replace 10.0.1.1 lladdr 02:54:42:00:00:06 dev eth0 nud permanent
ip -n tb-isp neighbour replace 10.0.2.2 lladdr 02:54:42:00:00:09 dev eth1 nud permanent
ip netns exec tb-server sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-server sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-server sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-server sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-server address add 10.0.2.2/24 dev eth0
ip -n tb-server link set lo up
ip -n tb-server link set eth0 up
ip -n tb-server neighbour replace 10.0.2.1 lladdr 02:54:42:00:00:08 dev eth0 nud permanent
ip -n tb-server route replace default via 10.0.2.1 dev eth0
ip netns exec tb-lan ethtool -K eth0 tso off gso off tx-udp-segmentation off
ip netns exec tb-pc ethtool -K eth0 gro on
ip netns exec tb-pc sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-pc sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-lan ethtool -K eth1 tso off gso off tx-udp-segmentation off
ip netns exec tb-phone ethtool -K eth0 gro on
ip netns exec tb-phone sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-phone sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-isp ethtool -K eth1 tso off gso off tx-udp-segmentation off
ip netns exec tb-server ethtool -K eth0 gro on
ip netns exec tb-server sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-server sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-access.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-access.emulator link set end0 up
ip -n tb-access.emulator link set end1 up
ip -n tb-access.emulator link set wire0 up
ip -n tb-access.emulator link set wire1 up
ip netns exec tb-access.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-access.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-access.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-access.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-access.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 5000us
tc -n tb-access.emulator qdisc add dev end1 root handle 2: tbf rate 10000000bit burst 2271 limit 151400
tc -n tb-access.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 5000us
tc -n tb-access.emulator qdisc add dev end0 root handle 2: tbf rate 10000000bit burst 2271 limit 151400
ip netns exec tb-access.emulator nft 'add table netdev testbed'
ip netns exec tb-access.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-access.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-access.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-access.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-access.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-access.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-access.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-access.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-access.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-access.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-access.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-access.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-access.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-access.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-access.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-access.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-access.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-access.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-access.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-access.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-access.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-access.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-access.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-access.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'

# To take it down:
#   ip netns exec tb-access.emulator nft 'delete table netdev testbed'
#   tc -n tb-access.emulator qdisc del dev end0 root
#   tc -n tb-access.emulator qdisc del dev wire1 root
#   tc -n tb-access.emulator qdisc del dev end1 root
#   tc -n tb-access.emulator qdisc del dev wire0 root
#   ip netns exec tb-home nft 'delete table inet testbed'
#   ip netns exec tb-home nft 'delete table ip testbed'
#   ip -n tb-lan link del br0
#   ip netns del tb-access.emulator
#   ip netns del tb-server
#   ip netns del tb-isp
#   ip netns del tb-home
#   ip netns del tb-lan
#   ip netns del tb-phone
#   ip netns del tb-pc
