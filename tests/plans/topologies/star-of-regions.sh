#!/bin/sh -e
ip netns add tb-eu
ip netns add tb-us
ip netns add tb-sa
ip netns add tb-ap
ip netns add tb-eu-edge
ip netns add tb-us-edge
ip netns add tb-sa-edge
ip netns add tb-ap-edge
ip netns add tb-backbone
ip netns add tb-eu-access.emulator
ip netns add tb-us-access.emulator
ip netns add tb-sa-access.emulator
ip netns add tb-ap-access.emulator
ip netns add tb-eu-ray.emulator
ip netns add tb-us-ray.emulator
ip netns add tb-sa-ray.emulator
ip netns add tb-ap-ray.emulator
ip link add name eth0 address 02:54:42:00:00:00 mtu 1500 netns tb-eu type veth peer name end0 mtu 1500 netns tb-eu-access.emulator
ip link add name wire0 mtu 1500 netns tb-eu-access.emulator type veth peer name wire1 mtu 1500 netns tb-eu-access.emulator
ip link add name eth0 address 02:54:42:00:00:01 mtu 1500 netns tb-eu-edge type veth peer name end1 mtu 1500 netns tb-eu-access.emulator
ip link add name eth0 address 02:54:42:00:00:02 mtu 1500 netns tb-us type veth peer name end0 mtu 1500 netns tb-us-access.emulator
ip link add name wire0 mtu 1500 netns tb-us-access.emulator type veth peer name wire1 mtu 1500 netns tb-us-access.emulator
ip link add name eth0 address 02:54:42:00:00:03 mtu 1500 netns tb-us-edge type veth peer name end1 mtu 1500 netns tb-us-access.emulator
ip link add name eth0 address 02:54:42:00:00:04 mtu 1500 netns tb-sa type veth peer name end0 mtu 1500 netns tb-sa-access.emulator
ip link add name wire0 mtu 1500 netns tb-sa-access.emulator type veth peer name wire1 mtu 1500 netns tb-sa-access.emulator
ip link add name eth0 address 02:54:42:00:00:05 mtu 1500 netns tb-sa-edge type veth peer name end1 mtu 1500 netns tb-sa-access.emulator
ip link add name eth0 address 02:54:42:00:00:06 mtu 1500 netns tb-ap type veth peer name end0 mtu 1500 netns tb-ap-access.emulator
ip link add name wire0 mtu 1500 netns tb-ap-access.emulator type veth peer name wire1 mtu 1500 netns tb-ap-access.emulator
ip link add name eth0 address 02:54:42:00:00:07 mtu 1500 netns tb-ap-edge type veth peer name end1 mtu 1500 netns tb-ap-access.emulator
ip link add name eth1 address 02:54:42:00:00:08 mtu 1500 netns tb-eu-edge type veth peer name end0 mtu 1500 netns tb-eu-ray.emulator
ip link add name wire0 mtu 1500 netns tb-eu-ray.emulator type veth peer name wire1 mtu 1500 netns tb-eu-ray.emulator
ip link add name eth0 address 02:54:42:00:00:09 mtu 1500 netns tb-backbone type veth peer name end1 mtu 1500 netns tb-eu-ray.emulator
ip link add name eth1 address 02:54:42:00:00:0a mtu 1500 netns tb-us-edge type veth peer name end0 mtu 1500 netns tb-us-ray.emulator
ip link add name wire0 mtu 1500 netns tb-us-ray.emulator type veth peer name wire1 mtu 1500 netns tb-us-ray.emulator
ip link add name eth1 address 02:54:42:00:00:0b mtu 1500 netns tb-backbone type veth peer name end1 mtu 1500 netns tb-us-ray.emulator
ip link add name eth1 address 02:54:42:00:00:0c mtu 1500 netns tb-sa-edge type veth peer name end0 mtu 1500 netns tb-sa-ray.emulator
ip link add name wire0 mtu 1500 netns tb-sa-ray.emulator type veth peer name wire1 mtu 1500 netns tb-sa-ray.emulator
ip link add name eth2 address 02:54:42:00:00:0d mtu 1500 netns tb-backbone type veth peer name end1 mtu 1500 netns tb-sa-ray.emulator
ip link add name eth1 address 02:54:42:00:00:0e mtu 1500 netns tb-ap-edge type veth peer name end0 mtu 1500 netns tb-ap-ray.emulator
ip link add name wire0 mtu 1500 netns tb-ap-ray.emulator type veth peer name wire1 mtu 1500 netns tb-ap-ray.emulator
ip link add name eth3 address 02:54:42:00:00:0f mtu 1500 netns tb-backbone type veth peer name end1 mtu 1500 netns tb-ap-ray.emulator
ip netns exec tb-eu sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-eu sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-eu sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-eu sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-eu address add 10.0.0.1/24 dev eth0
ip -n tb-eu link set lo up
ip -n tb-eu link set eth0 up
ip -n tb-eu neighbour replace 10.0.0.2 lladdr 02:54:42:00:00:01 dev eth0 nud permanent
ip -n tb-eu route replace default via 10.0.0.2 dev eth0
ip netns exec tb-us sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-us sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-us sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-us sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-us address add 10.0.1.1/24 dev eth0
ip -n tb-us link set lo up
ip -n tb-us link set eth0 up
ip -n tb-us neighbour replace 10.0.1.2 lladdr 02:54:42:00:00:03 dev eth0 nud permanent
ip -n tb-us route replace default via 10.0.1.2 dev eth0
ip netns exec tb-sa sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-sa sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-sa sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-sa sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-sa address add 10.0.2.1/24 dev eth0
ip -n tb-sa link set lo up
ip -n tb-sa link set eth0 up
ip -n tb-sa neighbour replace 10.0.2.2 lladdr 02:54:42:00:00:05 dev eth0 nud permanent
ip -n tb-sa route replace default via 10.0.2.2 dev eth0
ip netns exec tb-ap sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-ap sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-ap sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-ap sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-ap address add 10.0.3.1/24 dev eth0
ip -n tb-ap link set lo up
ip -n tb-ap link set eth0 up
ip -n tb-ap neighbour replace 10.0.3.2 lladdr 02:54:42:00:00:07 dev eth0 nud permanent
ip -n tb-ap route replace default via 10.0.3.2 dev eth0
ip netns exec tb-eu-edge sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-eu-edge sh -c 'echo 1 > /proc/sys/net/ipv4/ip_forward'
ip netns exec tb-eu-edge sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/forwarding'
ip netns exec tb-eu-edge sh -c 'echo 0 > /proc/sys/net/ipv4/conf/all/rp_filter'
ip netns exec tb-eu-edge sh -c 'echo 0 > /proc/sys/net/ipv4/conf/all/send_redirects'
ip netns exec tb-eu-edge sh -c 'echo 0 > /proc/sys/net/ipv4/conf/default/send_redirects'
ip netns exec tb-eu-edge sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth0/send_redirects'
ip netns exec tb-eu-edge sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth1/send_redirects'
ip -n tb-eu-edge address add 10.0.0.2/24 dev eth0
ip -n tb-eu-edge address add 10.0.4.1/24 dev eth1
ip -n tb-eu-edge link set lo up
ip -n tb-eu-edge link set eth0 up
ip -n tb-eu-edge link set eth1 up
ip -n tb-eu-edge neighbour replace 10.0.0.1 lladdr 02:54:42:00:00:00 dev eth0 nud permanent
ip -n tb-eu-edge neighbour replace 10.0.4.2 lladdr 02:54:42:00:00:09 dev eth1 nud permanent
ip -n tb-eu-edge route replace default via 10.0.4.2 dev eth1
ip netns exec tb-us-edge sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-us-edge sh -c 'echo 1 > /proc/sys/net/ipv4/ip_forward'
ip netns exec tb-us-edge sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/forwarding'
ip netns exec tb-us-edge sh -c 'echo 0 > /proc/sys/net/ipv4/conf/all/rp_filter'
ip netns exec tb-us-edge sh -c 'echo 0 > /proc/sys/net/ipv4/conf/all/send_redirects'
ip netns exec tb-us-edge sh -c 'echo 0 > /proc/sys/net/ipv4/conf/default/send_redirects'
ip netns exec tb-us-edge sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth0/send_redirects'
ip netns exec tb-us-edge sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth1/send_redirects'
ip -n tb-us-edge address add 10.0.1.2/24 dev eth0
ip -n tb-us-edge address add 10.0.5.1/24 dev eth1
ip -n tb-us-edge link set lo up
ip -n tb-us-edge link set eth0 up
ip -n tb-us-edge link set eth1 up
ip -n tb-us-edge neighbour replace 10.0.1.1 lladdr 02:54:42:00:00:02 dev eth0 nud permanent
ip -n tb-us-edge neighbour replace 10.0.5.2 lladdr 02:54:42:00:00:0b dev eth1 nud permanent
ip -n tb-us-edge route replace default via 10.0.5.2 dev eth1
ip netns exec tb-sa-edge sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-sa-edge sh -c 'echo 1 > /proc/sys/net/ipv4/ip_forward'
ip netns exec tb-sa-edge sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/forwarding'
ip netns exec tb-sa-edge sh -c 'echo 0 > /proc/sys/net/ipv4/conf/all/rp_filter'
ip netns exec tb-sa-edge sh -c 'echo 0 > /proc/sys/net/ipv4/conf/all/send_redirects'
ip netns exec tb-sa-edge sh -c 'echo 0 > /proc/sys/net/ipv4/conf/default/send_redirects'
ip netns exec tb-sa-edge sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth0/send_redirects'
ip netns exec tb-sa-edge sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth1/send_redirects'
ip -n tb-sa-edge address add 10.0.2.2/24 dev eth0
ip -n tb-sa-edge address add 10.0.6.1/24 dev eth1
ip -n tb-sa-edge link set lo up
ip -n tb-sa-edge link set eth0 up
ip -n tb-sa-edge link set eth1 up
ip -n tb-sa-edge neighbour replace 10.0.2.1 lladdr 02:54:42:00:00:04 dev eth0 nud permanent
ip -n tb-sa-edge neighbour replace 10.0.6.2 lladdr 02:54:42:00:00:0d dev eth1 nud permanent
ip -n tb-sa-edge route replace default via 10.0.6.2 dev eth1
ip netns exec tb-ap-edge sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-ap-edge sh -c 'echo 1 > /proc/sys/net/ipv4/ip_forward'
ip netns exec tb-ap-edge sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/forwarding'
ip netns exec tb-ap-edge sh -c 'echo 0 > /proc/sys/net/ipv4/conf/all/rp_filter'
ip netns exec tb-ap-edge sh -c 'echo 0 > /proc/sys/net/ipv4/conf/all/send_redirects'
ip netns exec tb-ap-edge sh -c 'echo 0 > /proc/sys/net/ipv4/conf/default/send_redirects'
ip netns exec tb-ap-edge sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth0/send_redirects'
ip netns exec tb-ap-edge sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth1/send_redirects'
ip -n tb-ap-edge address add 10.0.3.2/24 dev eth0
ip -n tb-ap-edge address add 10.0.7.1/24 dev eth1
ip -n tb-ap-edge link set lo up
ip -n tb-ap-edge link set eth0 up
ip -n tb-ap-edge link set eth1 up
ip -n tb-ap-edge neighbour replace 10.0.3.1 lladdr 02:54:42:00:00:06 dev eth0 nud permanent
ip -n tb-ap-edge neighbour replace 10.0.7.2 lladdr 02:54:42:00:00:0f dev eth1 nud permanent
ip -n tb-ap-edge route replace default via 10.0.7.2 dev eth1
ip netns exec tb-backbone sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-backbone sh -c 'echo 1 > /proc/sys/net/ipv4/ip_forward'
ip netns exec tb-backbone sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/forwarding'
ip netns exec tb-backbone sh -c 'echo 0 > /proc/sys/net/ipv4/conf/all/rp_filter'
ip netns exec tb-backbone sh -c 'echo 0 > /proc/sys/net/ipv4/conf/all/send_redirects'
ip netns exec tb-backbone sh -c 'echo 0 > /proc/sys/net/ipv4/conf/default/send_redirects'
ip netns exec tb-backbone sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth0/send_redirects'
ip netns exec tb-backbone sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth1/send_redirects'
ip netns exec tb-backbone sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth2/send_redirects'
ip netns exec tb-backbone sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth3/send_redirects'
ip -n tb-backbone address add 10.0.4.2/24 dev eth0
ip -n tb-backbone address add 10.0.5.2/24 dev eth1
ip -n tb-backbone address add 10.0.6.2/24 dev eth2
ip -n tb-backbone address add 10.0.7.2/24 dev eth3
ip -n tb-backbone link set lo up
ip -n tb-backbone link set eth0 up
ip -n tb-backbone link set eth1 up
ip -n tb-backbone link set eth2 up
ip -n tb-backbone link set eth3 up
ip -n tb-backbone neighbour replace 10.0.4.1 lladdr 02:54:42:00:00:08 dev eth0 nud permanent
ip -n tb-backbone neighbour replace 10.0.5.1 lladdr 02:54:42:00:00:0a dev eth1 nud permanent
ip -n tb-backbone neighbour replace 10.0.6.1 lladdr 02:54:42:00:00:0c dev eth2 nud permanent
ip -n tb-backbone neighbour replace 10.0.7.1 lladdr 02:54:42:00:00:0e dev eth3 nud permanent
ip -n tb-backbone route replace 10.0.0.0/24 via 10.0.4.1 dev eth0
ip -n tb-backbone route replace 10.0.1.0/24 via 10.0.5.1 dev eth1
ip -n tb-backbone route replace 10.0.2.0/24 via 10.0.6.1 dev eth2
ip -n tb-backbone route replace 10.0.3.0/24 via 10.0.7.1 dev eth3
ip netns exec tb-eu ethtool -K eth0 gro on
ip netns exec tb-eu sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-eu sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-us ethtool -K eth0 gro on
ip netns exec tb-us sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-us sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-sa ethtool -K eth0 gro on
ip netns exec tb-sa sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-sa sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-ap ethtool -K eth0 gro on
ip netns exec tb-ap sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-ap sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-eu-access.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-us-access.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-sa-access.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-ap-access.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-eu-ray.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-us-ray.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-sa-ray.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-ap-ray.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-eu-access.emulator link set end0 up
ip -n tb-eu-access.emulator link set end1 up
ip -n tb-eu-access.emulator link set wire0 up
ip -n tb-eu-access.emulator link set wire1 up
ip -n tb-us-access.emulator link set end0 up
ip -n tb-us-access.emulator link set end1 up
ip -n tb-us-access.emulator link set wire0 up
ip -n tb-us-access.emulator link set wire1 up
ip -n tb-sa-access.emulator link set end0 up
ip -n tb-sa-access.emulator link set end1 up
ip -n tb-sa-access.emulator link set wire0 up
ip -n tb-sa-access.emulator link set wire1 up
ip -n tb-ap-access.emulator link set end0 up
ip -n tb-ap-access.emulator link set end1 up
ip -n tb-ap-access.emulator link set wire0 up
ip -n tb-ap-access.emulator link set wire1 up
ip -n tb-eu-ray.emulator link set end0 up
ip -n tb-eu-ray.emulator link set end1 up
ip -n tb-eu-ray.emulator link set wire0 up
ip -n tb-eu-ray.emulator link set wire1 up
ip -n tb-us-ray.emulator link set end0 up
ip -n tb-us-ray.emulator link set end1 up
ip -n tb-us-ray.emulator link set wire0 up
ip -n tb-us-ray.emulator link set wire1 up
ip -n tb-sa-ray.emulator link set end0 up
ip -n tb-sa-ray.emulator link set end1 up
ip -n tb-sa-ray.emulator link set wire0 up
ip -n tb-sa-ray.emulator link set wire1 up
ip -n tb-ap-ray.emulator link set end0 up
ip -n tb-ap-ray.emulator link set end1 up
ip -n tb-ap-ray.emulator link set wire0 up
ip -n tb-ap-ray.emulator link set wire1 up
ip netns exec tb-eu-access.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-eu-access.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-eu-access.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-eu-access.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-eu-access.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 500us
tc -n tb-eu-access.emulator qdisc add dev end1 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
tc -n tb-eu-access.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 500us
tc -n tb-eu-access.emulator qdisc add dev end0 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
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
ip netns exec tb-us-access.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-us-access.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-us-access.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-us-access.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-us-access.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 500us
tc -n tb-us-access.emulator qdisc add dev end1 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
tc -n tb-us-access.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 500us
tc -n tb-us-access.emulator qdisc add dev end0 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
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
ip netns exec tb-sa-access.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-sa-access.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-sa-access.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-sa-access.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-sa-access.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 500us
tc -n tb-sa-access.emulator qdisc add dev end1 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
tc -n tb-sa-access.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 500us
tc -n tb-sa-access.emulator qdisc add dev end0 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
ip netns exec tb-sa-access.emulator nft 'add table netdev testbed'
ip netns exec tb-sa-access.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-sa-access.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-sa-access.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-sa-access.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-sa-access.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-sa-access.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-sa-access.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-sa-access.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-sa-access.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-sa-access.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-sa-access.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-sa-access.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-sa-access.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-sa-access.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-sa-access.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-sa-access.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-sa-access.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-sa-access.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-sa-access.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-sa-access.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-sa-access.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-sa-access.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-sa-access.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-sa-access.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-ap-access.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-ap-access.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-ap-access.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-ap-access.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-ap-access.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 500us
tc -n tb-ap-access.emulator qdisc add dev end1 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
tc -n tb-ap-access.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 500us
tc -n tb-ap-access.emulator qdisc add dev end0 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
ip netns exec tb-ap-access.emulator nft 'add table netdev testbed'
ip netns exec tb-ap-access.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-ap-access.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-ap-access.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-ap-access.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-ap-access.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-ap-access.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-ap-access.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-ap-access.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-ap-access.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-ap-access.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-ap-access.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-ap-access.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-ap-access.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-ap-access.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-ap-access.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-ap-access.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-ap-access.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-ap-access.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-ap-access.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-ap-access.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-ap-access.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-ap-access.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-ap-access.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-ap-access.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-eu-ray.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-eu-ray.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-eu-ray.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-eu-ray.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-eu-ray.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 12000us
tc -n tb-eu-ray.emulator qdisc add dev end1 root handle 2: tbf rate 500000000bit burst 2271 limit 1625000
tc -n tb-eu-ray.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 14000us
tc -n tb-eu-ray.emulator qdisc add dev end0 root handle 2: tbf rate 800000000bit burst 2271 limit 2600000
ip netns exec tb-eu-ray.emulator nft 'add table netdev testbed'
ip netns exec tb-eu-ray.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-eu-ray.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-eu-ray.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-eu-ray.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-eu-ray.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-eu-ray.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-eu-ray.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-eu-ray.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-eu-ray.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-eu-ray.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-eu-ray.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-eu-ray.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-eu-ray.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-eu-ray.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-eu-ray.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-eu-ray.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-eu-ray.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-eu-ray.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-eu-ray.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-eu-ray.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-eu-ray.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-eu-ray.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-eu-ray.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-eu-ray.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-us-ray.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-us-ray.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-us-ray.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-us-ray.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-us-ray.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 28000us
tc -n tb-us-ray.emulator qdisc add dev end1 root handle 2: tbf rate 800000000bit burst 2271 limit 5500000
tc -n tb-us-ray.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 27000us
tc -n tb-us-ray.emulator qdisc add dev end0 root handle 2: tbf rate 800000000bit burst 2271 limit 5500000
ip netns exec tb-us-ray.emulator nft 'add table netdev testbed'
ip netns exec tb-us-ray.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-us-ray.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-us-ray.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-us-ray.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-us-ray.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-us-ray.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-us-ray.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-us-ray.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-us-ray.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-us-ray.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-us-ray.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-us-ray.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-us-ray.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-us-ray.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-us-ray.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-us-ray.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-us-ray.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-us-ray.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-us-ray.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-us-ray.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-us-ray.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-us-ray.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-us-ray.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-us-ray.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-sa-ray.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-sa-ray.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-sa-ray.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-sa-ray.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-sa-ray.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 75000us
tc -n tb-sa-ray.emulator qdisc add dev end1 root handle 2: tbf rate 100000000bit burst 2271 limit 1687500
tc -n tb-sa-ray.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 60000us
tc -n tb-sa-ray.emulator qdisc add dev end0 root handle 2: tbf rate 300000000bit burst 2271 limit 5062500
ip netns exec tb-sa-ray.emulator nft 'add table netdev testbed'
ip netns exec tb-sa-ray.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-sa-ray.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-sa-ray.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-sa-ray.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-sa-ray.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-sa-ray.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-sa-ray.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-sa-ray.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-sa-ray.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-sa-ray.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-sa-ray.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-sa-ray.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-sa-ray.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-sa-ray.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-sa-ray.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-sa-ray.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-sa-ray.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-sa-ray.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-sa-ray.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-sa-ray.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-sa-ray.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-sa-ray.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-sa-ray.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-sa-ray.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-ap-ray.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-ap-ray.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-ap-ray.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-ap-ray.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-ap-ray.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 90000us
tc -n tb-ap-ray.emulator qdisc add dev end1 root handle 2: tbf rate 200000000bit burst 2271 limit 5000000
tc -n tb-ap-ray.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 110000us
tc -n tb-ap-ray.emulator qdisc add dev end0 root handle 2: tbf rate 400000000bit burst 2271 limit 10000000
ip netns exec tb-ap-ray.emulator nft 'add table netdev testbed'
ip netns exec tb-ap-ray.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-ap-ray.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-ap-ray.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-ap-ray.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-ap-ray.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-ap-ray.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-ap-ray.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-ap-ray.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-ap-ray.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-ap-ray.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-ap-ray.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-ap-ray.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-ap-ray.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-ap-ray.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-ap-ray.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-ap-ray.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-ap-ray.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-ap-ray.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-ap-ray.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-ap-ray.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-ap-ray.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-ap-ray.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-ap-ray.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-ap-ray.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'

# To take it down:
#   ip netns exec tb-ap-ray.emulator nft 'delete table netdev testbed'
#   tc -n tb-ap-ray.emulator qdisc del dev end0 root
#   tc -n tb-ap-ray.emulator qdisc del dev wire1 root
#   tc -n tb-ap-ray.emulator qdisc del dev end1 root
#   tc -n tb-ap-ray.emulator qdisc del dev wire0 root
#   ip netns exec tb-sa-ray.emulator nft 'delete table netdev testbed'
#   tc -n tb-sa-ray.emulator qdisc del dev end0 root
#   tc -n tb-sa-ray.emulator qdisc del dev wire1 root
#   tc -n tb-sa-ray.emulator qdisc del dev end1 root
#   tc -n tb-sa-ray.emulator qdisc del dev wire0 root
#   ip netns exec tb-us-ray.emulator nft 'delete table netdev testbed'
#   tc -n tb-us-ray.emulator qdisc del dev end0 root
#   tc -n tb-us-ray.emulator qdisc del dev wire1 root
#   tc -n tb-us-ray.emulator qdisc del dev end1 root
#   tc -n tb-us-ray.emulator qdisc del dev wire0 root
#   ip netns exec tb-eu-ray.emulator nft 'delete table netdev testbed'
#   tc -n tb-eu-ray.emulator qdisc del dev end0 root
#   tc -n tb-eu-ray.emulator qdisc del dev wire1 root
#   tc -n tb-eu-ray.emulator qdisc del dev end1 root
#   tc -n tb-eu-ray.emulator qdisc del dev wire0 root
#   ip netns exec tb-ap-access.emulator nft 'delete table netdev testbed'
#   tc -n tb-ap-access.emulator qdisc del dev end0 root
#   tc -n tb-ap-access.emulator qdisc del dev wire1 root
#   tc -n tb-ap-access.emulator qdisc del dev end1 root
#   tc -n tb-ap-access.emulator qdisc del dev wire0 root
#   ip netns exec tb-sa-access.emulator nft 'delete table netdev testbed'
#   tc -n tb-sa-access.emulator qdisc del dev end0 root
#   tc -n tb-sa-access.emulator qdisc del dev wire1 root
#   tc -n tb-sa-access.emulator qdisc del dev end1 root
#   tc -n tb-sa-access.emulator qdisc del dev wire0 root
#   ip netns exec tb-us-access.emulator nft 'delete table netdev testbed'
#   tc -n tb-us-access.emulator qdisc del dev end0 root
#   tc -n tb-us-access.emulator qdisc del dev wire1 root
#   tc -n tb-us-access.emulator qdisc del dev end1 root
#   tc -n tb-us-access.emulator qdisc del dev wire0 root
#   ip netns exec tb-eu-access.emulator nft 'delete table netdev testbed'
#   tc -n tb-eu-access.emulator qdisc del dev end0 root
#   tc -n tb-eu-access.emulator qdisc del dev wire1 root
#   tc -n tb-eu-access.emulator qdisc del dev end1 root
#   tc -n tb-eu-access.emulator qdisc del dev wire0 root
#   ip netns del tb-ap-ray.emulator
#   ip netns del tb-sa-ray.emulator
#   ip netns del tb-us-ray.emulator
#   ip netns del tb-eu-ray.emulator
#   ip netns del tb-ap-access.emulator
#   ip netns del tb-sa-access.emulator
#   ip netns del tb-us-access.emulator
#   ip netns del tb-eu-access.emulator
#   ip netns del tb-backbone
#   ip netns del tb-ap-edge
#   ip netns del tb-sa-edge
#   ip netns del tb-us-edge
#   ip netns del tb-eu-edge
#   ip netns del tb-ap
#   ip netns del tb-sa
#   ip netns del tb-us
#   ip netns del tb-eu
