#!/bin/sh -e
ip netns add tb-home-us
ip netns add tb-home-eu
ip netns add tb-home-csa
ip netns add tb-home-ap
ip netns add tb-home-za
ip netns add tb-isp-us
ip netns add tb-isp-eu
ip netns add tb-isp-csa
ip netns add tb-isp-ap
ip netns add tb-isp-za
ip netns add tb-store-us
ip netns add tb-store-eu
ip netns add tb-store-sa
ip netns add tb-store-ap
ip netns add tb-access-us.emulator
ip netns add tb-access-eu.emulator
ip netns add tb-access-csa.emulator
ip netns add tb-access-ap.emulator
ip netns add tb-access-za.emulator
ip netns add tb-us-us.emulator
ip netns add tb-eu-us.emulator
ip netns add tb-sa-us.emulator
ip netns add tb-ap-us.emulator
ip netns add tb-us-eu.emulator
ip netns add tb-eu-eu.emulator
ip netns add tb-sa-eu.emulator
ip netns add tb-ap-eu.emulator
ip netns add tb-us-csa.emulator
ip netns add tb-eu-csa.emulator
ip netns add tb-sa-csa.emulator
ip netns add tb-ap-csa.emulator
ip netns add tb-us-ap.emulator
ip netns add tb-eu-ap.emulator
ip netns add tb-sa-ap.emulator
ip netns add tb-ap-ap.emulator
ip netns add tb-us-za.emulator
ip netns add tb-eu-za.emulator
ip netns add tb-sa-za.emulator
ip netns add tb-ap-za.emulator
ip link add name eth0 address 02:54:42:00:00:00 mtu 1500 netns tb-isp-us type veth peer name end0 mtu 1500 netns tb-access-us.emulator
ip link add name wire0 mtu 1500 netns tb-access-us.emulator type veth peer name wire1 mtu 1500 netns tb-access-us.emulator
ip link add name eth0 address 02:54:42:00:00:01 mtu 1500 netns tb-home-us type veth peer name end1 mtu 1500 netns tb-access-us.emulator
ip link add name eth0 address 02:54:42:00:00:02 mtu 1500 netns tb-isp-eu type veth peer name end0 mtu 1500 netns tb-access-eu.emulator
ip link add name wire0 mtu 1500 netns tb-access-eu.emulator type veth peer name wire1 mtu 1500 netns tb-access-eu.emulator
ip link add name eth0 address 02:54:42:00:00:03 mtu 1500 netns tb-home-eu type veth peer name end1 mtu 1500 netns tb-access-eu.emulator
ip link add name eth0 address 02:54:42:00:00:04 mtu 1500 netns tb-isp-csa type veth peer name end0 mtu 1500 netns tb-access-csa.emulator
ip link add name wire0 mtu 1500 netns tb-access-csa.emulator type veth peer name wire1 mtu 1500 netns tb-access-csa.emulator
ip link add name eth0 address 02:54:42:00:00:05 mtu 1500 netns tb-home-csa type veth peer name end1 mtu 1500 netns tb-access-csa.emulator
ip link add name eth0 address 02:54:42:00:00:06 mtu 1500 netns tb-isp-ap type veth peer name end0 mtu 1500 netns tb-access-ap.emulator
ip link add name wire0 mtu 1500 netns tb-access-ap.emulator type veth peer name wire1 mtu 1500 netns tb-access-ap.emulator
ip link add name eth0 address 02:54:42:00:00:07 mtu 1500 netns tb-home-ap type veth peer name end1 mtu 1500 netns tb-access-ap.emulator
ip link add name eth0 address 02:54:42:00:00:08 mtu 1500 netns tb-isp-za type veth peer name end0 mtu 1500 netns tb-access-za.emulator
ip link add name wire0 mtu 1500 netns tb-access-za.emulator type veth peer name wire1 mtu 1500 netns tb-access-za.emulator
ip link add name eth0 address 02:54:42:00:00:09 mtu 1500 netns tb-home-za type veth peer name end1 mtu 1500 netns tb-access-za.emulator
ip link add name eth0 address 02:54:42:00:00:0a mtu 1500 netns tb-store-us type veth peer name end0 mtu 1500 netns tb-us-us.emulator
ip link add name wire0 mtu 1500 netns tb-us-us.emulator type veth peer name wire1 mtu 1500 netns tb-us-us.emulator
ip link add name eth1 address 02:54:42:00:00:0b mtu 1500 netns tb-isp-us type veth peer name end1 mtu 1500 netns tb-us-us.emulator
ip link add name eth0 address 02:54:42:00:00:0c mtu 1500 netns tb-store-eu type veth peer name end0 mtu 1500 netns tb-eu-us.emulator
ip link add name wire0 mtu 1500 netns tb-eu-us.emulator type veth peer name wire1 mtu 1500 netns tb-eu-us.emulator
ip link add name eth2 address 02:54:42:00:00:0d mtu 1500 netns tb-isp-us type veth peer name end1 mtu 1500 netns tb-eu-us.emulator
ip link add name eth0 address 02:54:42:00:00:0e mtu 1500 netns tb-store-sa type veth peer name end0 mtu 1500 netns tb-sa-us.emulator
ip link add name wire0 mtu 1500 netns tb-sa-us.emulator type veth peer name wire1 mtu 1500 netns tb-sa-us.emulator
ip link add name eth3 address 02:54:42:00:00:0f mtu 1500 netns tb-isp-us type veth peer name end1 mtu 1500 netns tb-sa-us.emulator
ip link add name eth0 address 02:54:42:00:00:10 mtu 1500 netns tb-store-ap type veth peer name end0 mtu 1500 netns tb-ap-us.emulator
ip link add name wire0 mtu 1500 netns tb-ap-us.emulator type veth peer name wire1 mtu 1500 netns tb-ap-us.emulator
ip link add name eth4 address 02:54:42:00:00:11 mtu 1500 netns tb-isp-us type veth peer name end1 mtu 1500 netns tb-ap-us.emulator
ip link add name eth1 address 02:54:42:00:00:12 mtu 1500 netns tb-store-us type veth peer name end0 mtu 1500 netns tb-us-eu.emulator
ip link add name wire0 mtu 1500 netns tb-us-eu.emulator type veth peer name wire1 mtu 1500 netns tb-us-eu.emulator
ip link add name eth1 address 02:54:42:00:00:13 mtu 1500 netns tb-isp-eu type veth peer name end1 mtu 1500 netns tb-us-eu.emulator
ip link add name eth1 address 02:54:42:00:00:14 mtu 1500 netns tb-store-eu type veth peer name end0 mtu 1500 netns tb-eu-eu.emulator
ip link add name wire0 mtu 1500 netns tb-eu-eu.emulator type veth peer name wire1 mtu 1500 netns tb-eu-eu.emulator
ip link add name eth2 address 02:54:42:00:00:15 mtu 1500 netns tb-isp-eu type veth peer name end1 mtu 1500 netns tb-eu-eu.emulator
ip link add name eth1 address 02:54:42:00:00:16 mtu 1500 netns tb-store-sa type veth peer name end0 mtu 1500 netns tb-sa-eu.emulator
ip link add name wire0 mtu 1500 netns tb-sa-eu.emulator type veth peer name wire1 mtu 1500 netns tb-sa-eu.emulator
ip link add name eth3 address 02:54:42:00:00:17 mtu 1500 netns tb-isp-eu type veth peer name end1 mtu 1500 netns tb-sa-eu.emulator
ip link add name eth1 address 02:54:42:00:00:18 mtu 1500 netns tb-store-ap type veth peer name end0 mtu 1500 netns tb-ap-eu.emulator
ip link add name wire0 mtu 1500 netns tb-ap-eu.emulator type veth peer name wire1 mtu 1500 netns tb-ap-eu.emulator
ip link add name eth4 address 02:54:42:00:00:19 mtu 1500 netns tb-isp-eu type veth peer name end1 mtu 1500 netns tb-ap-eu.emulator
ip link add name eth2 address 02:54:42:00:00:1a mtu 1500 netns tb-store-us type veth peer name end0 mtu 1500 netns tb-us-csa.emulator
ip link add name wire0 mtu 1500 netns tb-us-csa.emulator type veth peer name wire1 mtu 1500 netns tb-us-csa.emulator
ip link add name eth1 address 02:54:42:00:00:1b mtu 1500 netns tb-isp-csa type veth peer name end1 mtu 1500 netns tb-us-csa.emulator
ip link add name eth2 address 02:54:42:00:00:1c mtu 1500 netns tb-store-eu type veth peer name end0 mtu 1500 netns tb-eu-csa.emulator
ip link add name wire0 mtu 1500 netns tb-eu-csa.emulator type veth peer name wire1 mtu 1500 netns tb-eu-csa.emulator
ip link add name eth2 address 02:54:42:00:00:1d mtu 1500 netns tb-isp-csa type veth peer name end1 mtu 1500 netns tb-eu-csa.emulator
ip link add name eth2 address 02:54:42:00:00:1e mtu 1500 netns tb-store-sa type veth peer name end0 mtu 1500 netns tb-sa-csa.emulator
ip link add name wire0 mtu 1500 netns tb-sa-csa.emulator type veth peer name wire1 mtu 1500 netns tb-sa-csa.emulator
ip link add name eth3 address 02:54:42:00:00:1f mtu 1500 netns tb-isp-csa type veth peer name end1 mtu 1500 netns tb-sa-csa.emulator
ip link add name eth2 address 02:54:42:00:00:20 mtu 1500 netns tb-store-ap type veth peer name end0 mtu 1500 netns tb-ap-csa.emulator
ip link add name wire0 mtu 1500 netns tb-ap-csa.emulator type veth peer name wire1 mtu 1500 netns tb-ap-csa.emulator
ip link add name eth4 address 02:54:42:00:00:21 mtu 1500 netns tb-isp-csa type veth peer name end1 mtu 1500 netns tb-ap-csa.emulator
ip link add name eth3 address 02:54:42:00:00:22 mtu 1500 netns tb-store-us type veth peer name end0 mtu 1500 netns tb-us-ap.emulator
ip link add name wire0 mtu 1500 netns tb-us-ap.emulator type veth peer name wire1 mtu 1500 netns tb-us-ap.emulator
ip link add name eth1 address 02:54:42:00:00:23 mtu 1500 netns tb-isp-ap type veth peer name end1 mtu 1500 netns tb-us-ap.emulator
ip link add name eth3 address 02:54:42:00:00:24 mtu 1500 netns tb-store-eu type veth peer name end0 mtu 1500 netns tb-eu-ap.emulator
ip link add name wire0 mtu 1500 netns tb-eu-ap.emulator type veth peer name wire1 mtu 1500 netns tb-eu-ap.emulator
ip link add name eth2 address 02:54:42:00:00:25 mtu 1500 netns tb-isp-ap type veth peer name end1 mtu 1500 netns tb-eu-ap.emulator
ip link add name eth3 address 02:54:42:00:00:26 mtu 1500 netns tb-store-sa type veth peer name end0 mtu 1500 netns tb-sa-ap.emulator
ip link add name wire0 mtu 1500 netns tb-sa-ap.emulator type veth peer name wire1 mtu 1500 netns tb-sa-ap.emulator
ip link add name eth3 address 02:54:42:00:00:27 mtu 1500 netns tb-isp-ap type veth peer name end1 mtu 1500 netns tb-sa-ap.emulator
ip link add name eth3 address 02:54:42:00:00:28 mtu 1500 netns tb-store-ap type veth peer name end0 mtu 1500 netns tb-ap-ap.emulator
ip link add name wire0 mtu 1500 netns tb-ap-ap.emulator type veth peer name wire1 mtu 1500 netns tb-ap-ap.emulator
ip link add name eth4 address 02:54:42:00:00:29 mtu 1500 netns tb-isp-ap type veth peer name end1 mtu 1500 netns tb-ap-ap.emulator
ip link add name eth4 address 02:54:42:00:00:2a mtu 1500 netns tb-store-us type veth peer name end0 mtu 1500 netns tb-us-za.emulator
ip link add name wire0 mtu 1500 netns tb-us-za.emulator type veth peer name wire1 mtu 1500 netns tb-us-za.emulator
ip link add name eth1 address 02:54:42:00:00:2b mtu 1500 netns tb-isp-za type veth peer name end1 mtu 1500 netns tb-us-za.emulator
ip link add name eth4 address 02:54:42:00:00:2c mtu 1500 netns tb-store-eu type veth peer name end0 mtu 1500 netns tb-eu-za.emulator
ip link add name wire0 mtu 1500 netns tb-eu-za.emulator type veth peer name wire1 mtu 1500 netns tb-eu-za.emulator
ip link add name eth2 address 02:54:42:00:00:2d mtu 1500 netns tb-isp-za type veth peer name end1 mtu 1500 netns tb-eu-za.emulator
ip link add name eth4 address 02:54:42:00:00:2e mtu 1500 netns tb-store-sa type veth peer name end0 mtu 1500 netns tb-sa-za.emulator
ip link add name wire0 mtu 1500 netns tb-sa-za.emulator type veth peer name wire1 mtu 1500 netns tb-sa-za.emulator
ip link add name eth3 address 02:54:42:00:00:2f mtu 1500 netns tb-isp-za type veth peer name end1 mtu 1500 netns tb-sa-za.emulator
ip link add name eth4 address 02:54:42:00:00:30 mtu 1500 netns tb-store-ap type veth peer name end0 mtu 1500 netns tb-ap-za.emulator
ip link add name wire0 mtu 1500 netns tb-ap-za.emulator type veth peer name wire1 mtu 1500 netns tb-ap-za.emulator
ip link add name eth4 address 02:54:42:00:00:31 mtu 1500 netns tb-isp-za type veth peer name end1 mtu 1500 netns tb-ap-za.emulator
ip netns exec tb-home-us sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-home-us sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-home-us sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-home-us sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-home-us address add 10.0.0.2/24 dev eth0
ip -n tb-home-us link set lo up
ip -n tb-home-us link set eth0 up
ip -n tb-home-us neighbour replace 10.0.0.1 lladdr 02:54:42:00:00:00 dev eth0 nud permanent
ip -n tb-home-us route replace default via 10.0.0.1 dev eth0
ip netns exec tb-home-eu sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-home-eu sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-home-eu sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-home-eu sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-home-eu address add 10.0.1.2/24 dev eth0
ip -n tb-home-eu link set lo up
ip -n tb-home-eu link set eth0 up
ip -n tb-home-eu neighbour replace 10.0.1.1 lladdr 02:54:42:00:00:02 dev eth0 nud permanent
ip -n tb-home-eu route replace default via 10.0.1.1 dev eth0
ip netns exec tb-home-csa sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-home-csa sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-home-csa sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-home-csa sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-home-csa address add 10.0.2.2/24 dev eth0
ip -n tb-home-csa link set lo up
ip -n tb-home-csa link set eth0 up
ip -n tb-home-csa neighbour replace 10.0.2.1 lladdr 02:54:42:00:00:04 dev eth0 nud permanent
ip -n tb-home-csa route replace default via 10.0.2.1 dev eth0
ip netns exec tb-home-ap sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-home-ap sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-home-ap sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-home-ap sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-home-ap address add 10.0.3.2/24 dev eth0
ip -n tb-home-ap link set lo up
ip -n tb-home-ap link set eth0 up
ip -n tb-home-ap neighbour replace 10.0.3.1 lladdr 02:54:42:00:00:06 dev eth0 nud permanent
ip -n tb-home-ap route replace default via 10.0.3.1 dev eth0
ip netns exec tb-home-za sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-home-za sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-home-za sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-home-za sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-home-za address add 10.0.4.2/24 dev eth0
ip -n tb-home-za link set lo up
ip -n tb-home-za link set eth0 up
ip -n tb-home-za neighbour replace 10.0.4.1 lladdr 02:54:42:00:00:08 dev eth0 nud permanent
ip -n tb-home-za route replace default via 10.0.4.1 dev eth0
ip netns exec tb-isp-us sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-isp-us sh -c 'echo 1 > /proc/sys/net/ipv4/ip_forward'
ip netns exec tb-isp-us sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/forwarding'
ip netns exec tb-isp-us sh -c 'echo 0 > /proc/sys/net/ipv4/conf/all/rp_filter'
ip netns exec tb-isp-us sh -c 'echo 0 > /proc/sys/net/ipv4/conf/all/send_redirects'
ip netns exec tb-isp-us sh -c 'echo 0 > /proc/sys/net/ipv4/conf/default/send_redirects'
ip netns exec tb-isp-us sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth0/send_redirects'
ip netns exec tb-isp-us sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth1/send_redirects'
ip netns exec tb-isp-us sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth2/send_redirects'
ip netns exec tb-isp-us sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth3/send_redirects'
ip netns exec tb-isp-us sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth4/send_redirects'
ip -n tb-isp-us address add 10.0.0.1/24 dev eth0
ip -n tb-isp-us address add 10.0.5.2/24 dev eth1
ip -n tb-isp-us address add 10.0.6.2/24 dev eth2
ip -n tb-isp-us address add 10.0.7.2/24 dev eth3
ip -n tb-isp-us address add 10.0.8.2/24 dev eth4
ip -n tb-isp-us link set lo up
ip -n tb-isp-us link set eth0 up
ip -n tb-isp-us link set eth1 up
ip -n tb-isp-us link set eth2 up
ip -n tb-isp-us link set eth3 up
ip -n tb-isp-us link set eth4 up
ip -n tb-isp-us neighbour replace 10.0.0.2 lladdr 02:54:42:00:00:01 dev eth0 nud permanent
ip -n tb-isp-us neighbour replace 10.0.5.1 lladdr 02:54:42:00:00:0a dev eth1 nud permanent
ip -n tb-isp-us neighbour replace 10.0.6.1 lladdr 02:54:42:00:00:0c dev eth2 nud permanent
ip -n tb-isp-us neighbour replace 10.0.7.1 lladdr 02:54:42:00:00:0e dev eth3 nud permanent
ip -n tb-isp-us neighbour replace 10.0.8.1 lladdr 02:54:42:00:00:10 dev eth4 nud permanent
ip netns exec tb-isp-eu sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-isp-eu sh -c 'echo 1 > /proc/sys/net/ipv4/ip_forward'
ip netns exec tb-isp-eu sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/forwarding'
ip netns exec tb-isp-eu sh -c 'echo 0 > /proc/sys/net/ipv4/conf/all/rp_filter'
ip netns exec tb-isp-eu sh -c 'echo 0 > /proc/sys/net/ipv4/conf/all/send_redirects'
ip netns exec tb-isp-eu sh -c 'echo 0 > /proc/sys/net/ipv4/conf/default/send_redirects'
ip netns exec tb-isp-eu sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth0/send_redirects'
ip netns exec tb-isp-eu sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth1/send_redirects'
ip netns exec tb-isp-eu sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth2/send_redirects'
ip netns exec tb-isp-eu sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth3/send_redirects'
ip netns exec tb-isp-eu sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth4/send_redirects'
ip -n tb-isp-eu address add 10.0.1.1/24 dev eth0
ip -n tb-isp-eu address add 10.0.9.2/24 dev eth1
ip -n tb-isp-eu address add 10.0.10.2/24 dev eth2
ip -n tb-isp-eu address add 10.0.11.2/24 dev eth3
ip -n tb-isp-eu address add 10.0.12.2/24 dev eth4
ip -n tb-isp-eu link set lo up
ip -n tb-isp-eu link set eth0 up
ip -n tb-isp-eu link set eth1 up
ip -n tb-isp-eu link set eth2 up
ip -n tb-isp-eu link set eth3 up
ip -n tb-isp-eu link set eth4 up
ip -n tb-isp-eu neighbour replace 10.0.1.2 lladdr 02:54:42:00:00:03 dev eth0 nud permanent
ip -n tb-isp-eu neighbour replace 10.0.9.1 lladdr 02:54:42:00:00:12 dev eth1 nud permanent
ip -n tb-isp-eu neighbour replace 10.0.10.1 lladdr 02:54:42:00:00:14 dev eth2 nud permanent
ip -n tb-isp-eu neighbour replace 10.0.11.1 lladdr 02:54:42:00:00:16 dev eth3 nud permanent
ip -n tb-isp-eu neighbour replace 10.0.12.1 lladdr 02:54:42:00:00:18 dev eth4 nud permanent
ip netns exec tb-isp-csa sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-isp-csa sh -c 'echo 1 > /proc/sys/net/ipv4/ip_forward'
ip netns exec tb-isp-csa sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/forwarding'
ip netns exec tb-isp-csa sh -c 'echo 0 > /proc/sys/net/ipv4/conf/all/rp_filter'
ip netns exec tb-isp-csa sh -c 'echo 0 > /proc/sys/net/ipv4/conf/all/send_redirects'
ip netns exec tb-isp-csa sh -c 'echo 0 > /proc/sys/net/ipv4/conf/default/send_redirects'
ip netns exec tb-isp-csa sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth0/send_redirects'
ip netns exec tb-isp-csa sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth1/send_redirects'
ip netns exec tb-isp-csa sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth2/send_redirects'
ip netns exec tb-isp-csa sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth3/send_redirects'
ip netns exec tb-isp-csa sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth4/send_redirects'
ip -n tb-isp-csa address add 10.0.2.1/24 dev eth0
ip -n tb-isp-csa address add 10.0.13.2/24 dev eth1
ip -n tb-isp-csa address add 10.0.14.2/24 dev eth2
ip -n tb-isp-csa address add 10.0.15.2/24 dev eth3
ip -n tb-isp-csa address add 10.0.16.2/24 dev eth4
ip -n tb-isp-csa link set lo up
ip -n tb-isp-csa link set eth0 up
ip -n tb-isp-csa link set eth1 up
ip -n tb-isp-csa link set eth2 up
ip -n tb-isp-csa link set eth3 up
ip -n tb-isp-csa link set eth4 up
ip -n tb-isp-csa neighbour replace 10.0.2.2 lladdr 02:54:42:00:00:05 dev eth0 nud permanent
ip -n tb-isp-csa neighbour replace 10.0.13.1 lladdr 02:54:42:00:00:1a dev eth1 nud permanent
ip -n tb-isp-csa neighbour replace 10.0.14.1 lladdr 02:54:42:00:00:1c dev eth2 nud permanent
ip -n tb-isp-csa neighbour replace 10.0.15.1 lladdr 02:54:42:00:00:1e dev eth3 nud permanent
ip -n tb-isp-csa neighbour replace 10.0.16.1 lladdr 02:54:42:00:00:20 dev eth4 nud permanent
ip netns exec tb-isp-ap sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-isp-ap sh -c 'echo 1 > /proc/sys/net/ipv4/ip_forward'
ip netns exec tb-isp-ap sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/forwarding'
ip netns exec tb-isp-ap sh -c 'echo 0 > /proc/sys/net/ipv4/conf/all/rp_filter'
ip netns exec tb-isp-ap sh -c 'echo 0 > /proc/sys/net/ipv4/conf/all/send_redirects'
ip netns exec tb-isp-ap sh -c 'echo 0 > /proc/sys/net/ipv4/conf/default/send_redirects'
ip netns exec tb-isp-ap sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth0/send_redirects'
ip netns exec tb-isp-ap sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth1/send_redirects'
ip netns exec tb-isp-ap sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth2/send_redirects'
ip netns exec tb-isp-ap sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth3/send_redirects'
ip netns exec tb-isp-ap sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth4/send_redirects'
ip -n tb-isp-ap address add 10.0.3.1/24 dev eth0
ip -n tb-isp-ap address add 10.0.17.2/24 dev eth1
ip -n tb-isp-ap address add 10.0.18.2/24 dev eth2
ip -n tb-isp-ap address add 10.0.19.2/24 dev eth3
ip -n tb-isp-ap address add 10.0.20.2/24 dev eth4
ip -n tb-isp-ap link set lo up
ip -n tb-isp-ap link set eth0 up
ip -n tb-isp-ap link set eth1 up
ip -n tb-isp-ap link set eth2 up
ip -n tb-isp-ap link set eth3 up
ip -n tb-isp-ap link set eth4 up
ip -n tb-isp-ap neighbour replace 10.0.3.2 lladdr 02:54:42:00:00:07 dev eth0 nud permanent
ip -n tb-isp-ap neighbour replace 10.0.17.1 lladdr 02:54:42:00:00:22 dev eth1 nud permanent
ip -n tb-isp-ap neighbour replace 10.0.18.1 lladdr 02:54:42:00:00:24 dev eth2 nud permanent
ip -n tb-isp-ap neighbour replace 10.0.19.1 lladdr 02:54:42:00:00:26 dev eth3 nud permanent
ip -n tb-isp-ap neighbour replace 10.0.20.1 lladdr 02:54:42:00:00:28 dev eth4 nud permanent
ip netns exec tb-isp-za sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-isp-za sh -c 'echo 1 > /proc/sys/net/ipv4/ip_forward'
ip netns exec tb-isp-za sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/forwarding'
ip netns exec tb-isp-za sh -c 'echo 0 > /proc/sys/net/ipv4/conf/all/rp_filter'
ip netns exec tb-isp-za sh -c 'echo 0 > /proc/sys/net/ipv4/conf/all/send_redirects'
ip netns exec tb-isp-za sh -c 'echo 0 > /proc/sys/net/ipv4/conf/default/send_redirects'
ip netns exec tb-isp-za sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth0/send_redirects'
ip netns exec tb-isp-za sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth1/send_redirects'
ip netns exec tb-isp-za sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth2/send_redirects'
ip netns exec tb-isp-za sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth3/send_redirects'
ip netns exec tb-isp-za sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth4/send_redirects'
ip -n tb-isp-za address add 10.0.4.1/24 dev eth0
ip -n tb-isp-za address add 10.0.21.2/24 dev eth1
ip -n tb-isp-za address add 10.0.22.2/24 dev eth2
ip -n tb-isp-za address add 10.0.23.2/24 dev eth3
ip -n tb-isp-za address add 10.0.24.2/24 dev eth4
ip -n tb-isp-za link set lo up
ip -n tb-isp-za link set eth0 up
ip -n tb-isp-za link set eth1 up
ip -n tb-isp-za link set eth2 up
ip -n tb-isp-za link set eth3 up
ip -n tb-isp-za link set eth4 up
ip -n tb-isp-za neighbour replace 10.0.4.2 lladdr 02:54:42:00:00:09 dev eth0 nud permanent
ip -n tb-isp-za neighbour replace 10.0.21.1 lladdr 02:54:42:00:00:2a dev eth1 nud permanent
ip -n tb-isp-za neighbour replace 10.0.22.1 lladdr 02:54:42:00:00:2c dev eth2 nud permanent
ip -n tb-isp-za neighbour replace 10.0.23.1 lladdr 02:54:42:00:00:2e dev eth3 nud permanent
ip -n tb-isp-za neighbour replace 10.0.24.1 lladdr 02:54:42:00:00:30 dev eth4 nud permanent
ip netns exec tb-store-us sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-store-us sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-store-us sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-store-us sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-store-us address add 10.0.5.1/24 dev eth0
ip -n tb-store-us address add 10.0.9.1/24 dev eth1
ip -n tb-store-us address add 10.0.13.1/24 dev eth2
ip -n tb-store-us address add 10.0.17.1/24 dev eth3
ip -n tb-store-us address add 10.0.21.1/24 dev eth4
ip -n tb-store-us link set lo up
ip -n tb-store-us link set eth0 up
ip -n tb-store-us link set eth1 up
ip -n tb-store-us link set eth2 up
ip -n tb-store-us link set eth3 up
ip -n tb-store-us link set eth4 up
ip -n tb-store-us neighbour replace 10.0.5.2 lladdr 02:54:42:00:00:0b dev eth0 nud permanent
ip -n tb-store-us neighbour replace 10.0.9.2 lladdr 02:54:42:00:00:13 dev eth1 nud permanent
ip -n tb-store-us neighbour replace 10.0.13.2 lladdr 02:54:42:00:00:1b dev eth2 nud permanent
ip -n tb-store-us neighbour replace 10.0.17.2 lladdr 02:54:42:00:00:23 dev eth3 nud permanent
ip -n tb-store-us neighbour replace 10.0.21.2 lladdr 02:54:42:00:00:2b dev eth4 nud permanent
ip -n tb-store-us route replace 10.0.0.0/24 via 10.0.5.2 dev eth0
ip -n tb-store-us route replace 10.0.6.0/24 via 10.0.5.2 dev eth0
ip -n tb-store-us route replace 10.0.7.0/24 via 10.0.5.2 dev eth0
ip -n tb-store-us route replace 10.0.8.0/24 via 10.0.5.2 dev eth0
ip -n tb-store-us route replace 10.0.1.0/24 via 10.0.9.2 dev eth1
ip -n tb-store-us route replace 10.0.10.0/24 via 10.0.9.2 dev eth1
ip -n tb-store-us route replace 10.0.11.0/24 via 10.0.9.2 dev eth1
ip -n tb-store-us route replace 10.0.12.0/24 via 10.0.9.2 dev eth1
ip -n tb-store-us route replace 10.0.2.0/24 via 10.0.13.2 dev eth2
ip -n tb-store-us route replace 10.0.14.0/24 via 10.0.13.2 dev eth2
ip -n tb-store-us route replace 10.0.15.0/24 via 10.0.13.2 dev eth2
ip -n tb-store-us route replace 10.0.16.0/24 via 10.0.13.2 dev eth2
ip -n tb-store-us route replace 10.0.3.0/24 via 10.0.17.2 dev eth3
ip -n tb-store-us route replace 10.0.18.0/24 via 10.0.17.2 dev eth3
ip -n tb-store-us route replace 10.0.19.0/24 via 10.0.17.2 dev eth3
ip -n tb-store-us route replace 10.0.20.0/24 via 10.0.17.2 dev eth3
ip -n tb-store-us route replace 10.0.4.0/24 via 10.0.21.2 dev eth4
ip -n tb-store-us route replace 10.0.22.0/24 via 10.0.21.2 dev eth4
ip -n tb-store-us route replace 10.0.23.0/24 via 10.0.21.2 dev eth4
ip -n tb-store-us route replace 10.0.24.0/24 via 10.0.21.2 dev eth4
ip netns exec tb-store-eu sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-store-eu sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-store-eu sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-store-eu sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-store-eu address add 10.0.6.1/24 dev eth0
ip -n tb-store-eu address add 10.0.10.1/24 dev eth1
ip -n tb-store-eu address add 10.0.14.1/24 dev eth2
ip -n tb-store-eu address add 10.0.18.1/24 dev eth3
ip -n tb-store-eu address add 10.0.22.1/24 dev eth4
ip -n tb-store-eu link set lo up
ip -n tb-store-eu link set eth0 up
ip -n tb-store-eu link set eth1 up
ip -n tb-store-eu link set eth2 up
ip -n tb-store-eu link set eth3 up
ip -n tb-store-eu link set eth4 up
ip -n tb-store-eu neighbour replace 10.0.6.2 lladdr 02:54:42:00:00:0d dev eth0 nud permanent
ip -n tb-store-eu neighbour replace 10.0.10.2 lladdr 02:54:42:00:00:15 dev eth1 nud permanent
ip -n tb-store-eu neighbour replace 10.0.14.2 lladdr 02:54:42:00:00:1d dev eth2 nud permanent
ip -n tb-store-eu neighbour replace 10.0.18.2 lladdr 02:54:42:00:00:25 dev eth3 nud permanent
ip -n tb-store-eu neighbour replace 10.0.22.2 lladdr 02:54:42:00:00:2d dev eth4 nud permanent
ip -n tb-store-eu route replace 10.0.0.0/24 via 10.0.6.2 dev eth0
ip -n tb-store-eu route replace 10.0.5.0/24 via 10.0.6.2 dev eth0
ip -n tb-store-eu route replace 10.0.7.0/24 via 10.0.6.2 dev eth0
ip -n tb-store-eu route replace 10.0.8.0/24 via 10.0.6.2 dev eth0
ip -n tb-store-eu route replace 10.0.1.0/24 via 10.0.10.2 dev eth1
ip -n tb-store-eu route replace 10.0.9.0/24 via 10.0.10.2 dev eth1
ip -n tb-store-eu route replace 10.0.11.0/24 via 10.0.10.2 dev eth1
ip -n tb-store-eu route replace 10.0.12.0/24 via 10.0.10.2 dev eth1
ip -n tb-store-eu route replace 10.0.2.0/24 via 10.0.14.2 dev eth2
ip -n tb-store-eu route replace 10.0.13.0/24 via 10.0.14.2 dev eth2
ip -n tb-store-eu route replace 10.0.15.0/24 via 10.0.14.2 dev eth2
ip -n tb-store-eu route replace 10.0.16.0/24 via 10.0.14.2 dev eth2
ip -n tb-store-eu route replace 10.0.3.0/24 via 10.0.18.2 dev eth3
ip -n tb-store-eu route replace 10.0.17.0/24 via 10.0.18.2 dev eth3
ip -n tb-store-eu route replace 10.0.19.0/24 via 10.0.18.2 dev eth3
ip -n tb-store-eu route replace 10.0.20.0/24 via 10.0.18.2 dev eth3
ip -n tb-store-eu route replace 10.0.4.0/24 via 10.0.22.2 dev eth4
ip -n tb-store-eu route replace 10.0.21.0/24 via 10.0.22.2 dev eth4
ip -n tb-store-eu route replace 10.0.23.0/24 via 10.0.22.2 dev eth4
ip -n tb-store-eu route replace 10.0.24.0/24 via 10.0.22.2 dev eth4
ip netns exec tb-store-sa sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-store-sa sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-store-sa sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-store-sa sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-store-sa address add 10.0.7.1/24 dev eth0
ip -n tb-store-sa address add 10.0.11.1/24 dev eth1
ip -n tb-store-sa address add 10.0.15.1/24 dev eth2
ip -n tb-store-sa address add 10.0.19.1/24 dev eth3
ip -n tb-store-sa address add 10.0.23.1/24 dev eth4
ip -n tb-store-sa link set lo up
ip -n tb-store-sa link set eth0 up
ip -n tb-store-sa link set eth1 up
ip -n tb-store-sa link set eth2 up
ip -n tb-store-sa link set eth3 up
ip -n tb-store-sa link set eth4 up
ip -n tb-store-sa neighbour replace 10.0.7.2 lladdr 02:54:42:00:00:0f dev eth0 nud permanent
ip -n tb-store-sa neighbour replace 10.0.11.2 lladdr 02:54:42:00:00:17 dev eth1 nud permanent
ip -n tb-store-sa neighbour replace 10.0.15.2 lladdr 02:54:42:00:00:1f dev eth2 nud permanent
ip -n tb-store-sa neighbour replace 10.0.19.2 lladdr 02:54:42:00:00:27 dev eth3 nud permanent
ip -n tb-store-sa neighbour replace 10.0.23.2 lladdr 02:54:42:00:00:2f dev eth4 nud permanent
ip -n tb-store-sa route replace 10.0.0.0/24 via 10.0.7.2 dev eth0
ip -n tb-store-sa route replace 10.0.5.0/24 via 10.0.7.2 dev eth0
ip -n tb-store-sa route replace 10.0.6.0/24 via 10.0.7.2 dev eth0
ip -n tb-store-sa route replace 10.0.8.0/24 via 10.0.7.2 dev eth0
ip -n tb-store-sa route replace 10.0.1.0/24 via 10.0.11.2 dev eth1
ip -n tb-store-sa route replace 10.0.9.0/24 via 10.0.11.2 dev eth1
ip -n tb-store-sa route replace 10.0.10.0/24 via 10.0.11.2 dev eth1
ip -n tb-store-sa route replace 10.0.12.0/24 via 10.0.11.2 dev eth1
ip -n tb-store-sa route replace 10.0.2.0/24 via 10.0.15.2 dev eth2
ip -n tb-store-sa route replace 10.0.13.0/24 via 10.0.15.2 dev eth2
ip -n tb-store-sa route replace 10.0.14.0/24 via 10.0.15.2 dev eth2
ip -n tb-store-sa route replace 10.0.16.0/24 via 10.0.15.2 dev eth2
ip -n tb-store-sa route replace 10.0.3.0/24 via 10.0.19.2 dev eth3
ip -n tb-store-sa route replace 10.0.17.0/24 via 10.0.19.2 dev eth3
ip -n tb-store-sa route replace 10.0.18.0/24 via 10.0.19.2 dev eth3
ip -n tb-store-sa route replace 10.0.20.0/24 via 10.0.19.2 dev eth3
ip -n tb-store-sa route replace 10.0.4.0/24 via 10.0.23.2 dev eth4
ip -n tb-store-sa route replace 10.0.21.0/24 via 10.0.23.2 dev eth4
ip -n tb-store-sa route replace 10.0.22.0/24 via 10.0.23.2 dev eth4
ip -n tb-store-sa route replace 10.0.24.0/24 via 10.0.23.2 dev eth4
ip netns exec tb-store-ap sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-store-ap sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-store-ap sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-store-ap sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-store-ap address add 10.0.8.1/24 dev eth0
ip -n tb-store-ap address add 10.0.12.1/24 dev eth1
ip -n tb-store-ap address add 10.0.16.1/24 dev eth2
ip -n tb-store-ap address add 10.0.20.1/24 dev eth3
ip -n tb-store-ap address add 10.0.24.1/24 dev eth4
ip -n tb-store-ap link set lo up
ip -n tb-store-ap link set eth0 up
ip -n tb-store-ap link set eth1 up
ip -n tb-store-ap link set eth2 up
ip -n tb-store-ap link set eth3 up
ip -n tb-store-ap link set eth4 up
ip -n tb-store-ap neighbour replace 10.0.8.2 lladdr 02:54:42:00:00:11 dev eth0 nud permanent
ip -n tb-store-ap neighbour replace 10.0.12.2 lladdr 02:54:42:00:00:19 dev eth1 nud permanent
ip -n tb-store-ap neighbour replace 10.0.16.2 lladdr 02:54:42:00:00:21 dev eth2 nud permanent
ip -n tb-store-ap neighbour replace 10.0.20.2 lladdr 02:54:42:00:00:29 dev eth3 nud permanent
ip -n tb-store-ap neighbour replace 10.0.24.2 lladdr 02:54:42:00:00:31 dev eth4 nud permanent
ip -n tb-store-ap route replace 10.0.0.0/24 via 10.0.8.2 dev eth0
ip -n tb-store-ap route replace 10.0.5.0/24 via 10.0.8.2 dev eth0
ip -n tb-store-ap route replace 10.0.6.0/24 via 10.0.8.2 dev eth0
ip -n tb-store-ap route replace 10.0.7.0/24 via 10.0.8.2 dev eth0
ip -n tb-store-ap route replace 10.0.1.0/24 via 10.0.12.2 dev eth1
ip -n tb-store-ap route replace 10.0.9.0/24 via 10.0.12.2 dev eth1
ip -n tb-store-ap route replace 10.0.10.0/24 via 10.0.12.2 dev eth1
ip -n tb-store-ap route replace 10.0.11.0/24 via 10.0.12.2 dev eth1
ip -n tb-store-ap route replace 10.0.2.0/24 via 10.0.16.2 dev eth2
ip -n tb-store-ap route replace 10.0.13.0/24 via 10.0.16.2 dev eth2
ip -n tb-store-ap route replace 10.0.14.0/24 via 10.0.16.2 dev eth2
ip -n tb-store-ap route replace 10.0.15.0/24 via 10.0.16.2 dev eth2
ip -n tb-store-ap route replace 10.0.3.0/24 via 10.0.20.2 dev eth3
ip -n tb-store-ap route replace 10.0.17.0/24 via 10.0.20.2 dev eth3
ip -n tb-store-ap route replace 10.0.18.0/24 via 10.0.20.2 dev eth3
ip -n tb-store-ap route replace 10.0.19.0/24 via 10.0.20.2 dev eth3
ip -n tb-store-ap route replace 10.0.4.0/24 via 10.0.24.2 dev eth4
ip -n tb-store-ap route replace 10.0.21.0/24 via 10.0.24.2 dev eth4
ip -n tb-store-ap route replace 10.0.22.0/24 via 10.0.24.2 dev eth4
ip -n tb-store-ap route replace 10.0.23.0/24 via 10.0.24.2 dev eth4
ip netns exec tb-home-us ethtool -K eth0 gro on
ip netns exec tb-home-us sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-home-us sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-home-eu ethtool -K eth0 gro on
ip netns exec tb-home-eu sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-home-eu sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-home-csa ethtool -K eth0 gro on
ip netns exec tb-home-csa sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-home-csa sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-home-ap ethtool -K eth0 gro on
ip netns exec tb-home-ap sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-home-ap sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-home-za ethtool -K eth0 gro on
ip netns exec tb-home-za sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-home-za sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-store-us ethtool -K eth0 gro on
ip netns exec tb-store-us sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-store-us sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-store-us ethtool -K eth1 gro on
ip netns exec tb-store-us sh -c 'echo 20000 > /sys/class/net/eth1/gro_flush_timeout'
ip netns exec tb-store-us sh -c 'echo 1 > /sys/class/net/eth1/napi_defer_hard_irqs'
ip netns exec tb-store-us ethtool -K eth2 gro on
ip netns exec tb-store-us sh -c 'echo 20000 > /sys/class/net/eth2/gro_flush_timeout'
ip netns exec tb-store-us sh -c 'echo 1 > /sys/class/net/eth2/napi_defer_hard_irqs'
ip netns exec tb-store-us ethtool -K eth3 gro on
ip netns exec tb-store-us sh -c 'echo 20000 > /sys/class/net/eth3/gro_flush_timeout'
ip netns exec tb-store-us sh -c 'echo 1 > /sys/class/net/eth3/napi_defer_hard_irqs'
ip netns exec tb-store-us ethtool -K eth4 gro on
ip netns exec tb-store-us sh -c 'echo 20000 > /sys/class/net/eth4/gro_flush_timeout'
ip netns exec tb-store-us sh -c 'echo 1 > /sys/class/net/eth4/napi_defer_hard_irqs'
ip netns exec tb-store-eu ethtool -K eth0 gro on
ip netns exec tb-store-eu sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-store-eu sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-store-eu ethtool -K eth1 gro on
ip netns exec tb-store-eu sh -c 'echo 20000 > /sys/class/net/eth1/gro_flush_timeout'
ip netns exec tb-store-eu sh -c 'echo 1 > /sys/class/net/eth1/napi_defer_hard_irqs'
ip netns exec tb-store-eu ethtool -K eth2 gro on
ip netns exec tb-store-eu sh -c 'echo 20000 > /sys/class/net/eth2/gro_flush_timeout'
ip netns exec tb-store-eu sh -c 'echo 1 > /sys/class/net/eth2/napi_defer_hard_irqs'
ip netns exec tb-store-eu ethtool -K eth3 gro on
ip netns exec tb-store-eu sh -c 'echo 20000 > /sys/class/net/eth3/gro_flush_timeout'
ip netns exec tb-store-eu sh -c 'echo 1 > /sys/class/net/eth3/napi_defer_hard_irqs'
ip netns exec tb-store-eu ethtool -K eth4 gro on
ip netns exec tb-store-eu sh -c 'echo 20000 > /sys/class/net/eth4/gro_flush_timeout'
ip netns exec tb-store-eu sh -c 'echo 1 > /sys/class/net/eth4/napi_defer_hard_irqs'
ip netns exec tb-store-sa ethtool -K eth0 gro on
ip netns exec tb-store-sa sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-store-sa sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-store-sa ethtool -K eth1 gro on
ip netns exec tb-store-sa sh -c 'echo 20000 > /sys/class/net/eth1/gro_flush_timeout'
ip netns exec tb-store-sa sh -c 'echo 1 > /sys/class/net/eth1/napi_defer_hard_irqs'
ip netns exec tb-store-sa ethtool -K eth2 gro on
ip netns exec tb-store-sa sh -c 'echo 20000 > /sys/class/net/eth2/gro_flush_timeout'
ip netns exec tb-store-sa sh -c 'echo 1 > /sys/class/net/eth2/napi_defer_hard_irqs'
ip netns exec tb-store-sa ethtool -K eth3 gro on
ip netns exec tb-store-sa sh -c 'echo 20000 > /sys/class/net/eth3/gro_flush_timeout'
ip netns exec tb-store-sa sh -c 'echo 1 > /sys/class/net/eth3/napi_defer_hard_irqs'
ip netns exec tb-store-sa ethtool -K eth4 gro on
ip netns exec tb-store-sa sh -c 'echo 20000 > /sys/class/net/eth4/gro_flush_timeout'
ip netns exec tb-store-sa sh -c 'echo 1 > /sys/class/net/eth4/napi_defer_hard_irqs'
ip netns exec tb-store-ap ethtool -K eth0 gro on
ip netns exec tb-store-ap sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-store-ap sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-store-ap ethtool -K eth1 gro on
ip netns exec tb-store-ap sh -c 'echo 20000 > /sys/class/net/eth1/gro_flush_timeout'
ip netns exec tb-store-ap sh -c 'echo 1 > /sys/class/net/eth1/napi_defer_hard_irqs'
ip netns exec tb-store-ap ethtool -K eth2 gro on
ip netns exec tb-store-ap sh -c 'echo 20000 > /sys/class/net/eth2/gro_flush_timeout'
ip netns exec tb-store-ap sh -c 'echo 1 > /sys/class/net/eth2/napi_defer_hard_irqs'
ip netns exec tb-store-ap ethtool -K eth3 gro on
ip netns exec tb-store-ap sh -c 'echo 20000 > /sys/class/net/eth3/gro_flush_timeout'
ip netns exec tb-store-ap sh -c 'echo 1 > /sys/class/net/eth3/napi_defer_hard_irqs'
ip netns exec tb-store-ap ethtool -K eth4 gro on
ip netns exec tb-store-ap sh -c 'echo 20000 > /sys/class/net/eth4/gro_flush_timeout'
ip netns exec tb-store-ap sh -c 'echo 1 > /sys/class/net/eth4/napi_defer_hard_irqs'
ip netns exec tb-access-us.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-access-eu.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-access-csa.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-access-ap.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-access-za.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-us-us.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-eu-us.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-sa-us.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-ap-us.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-us-eu.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-eu-eu.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-sa-eu.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-ap-eu.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-us-csa.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-eu-csa.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-sa-csa.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-ap-csa.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-us-ap.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-eu-ap.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-sa-ap.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-ap-ap.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-us-za.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-eu-za.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-sa-za.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-ap-za.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-access-us.emulator link set end0 up
ip -n tb-access-us.emulator link set end1 up
ip -n tb-access-us.emulator link set wire0 up
ip -n tb-access-us.emulator link set wire1 up
ip -n tb-access-eu.emulator link set end0 up
ip -n tb-access-eu.emulator link set end1 up
ip -n tb-access-eu.emulator link set wire0 up
ip -n tb-access-eu.emulator link set wire1 up
ip -n tb-access-csa.emulator link set end0 up
ip -n tb-access-csa.emulator link set end1 up
ip -n tb-access-csa.emulator link set wire0 up
ip -n tb-access-csa.emulator link set wire1 up
ip -n tb-access-ap.emulator link set end0 up
ip -n tb-access-ap.emulator link set end1 up
ip -n tb-access-ap.emulator link set wire0 up
ip -n tb-access-ap.emulator link set wire1 up
ip -n tb-access-za.emulator link set end0 up
ip -n tb-access-za.emulator link set end1 up
ip -n tb-access-za.emulator link set wire0 up
ip -n tb-access-za.emulator link set wire1 up
ip -n tb-us-us.emulator link set end0 up
ip -n tb-us-us.emulator link set end1 up
ip -n tb-us-us.emulator link set wire0 up
ip -n tb-us-us.emulator link set wire1 up
ip -n tb-eu-us.emulator link set end0 up
ip -n tb-eu-us.emulator link set end1 up
ip -n tb-eu-us.emulator link set wire0 up
ip -n tb-eu-us.emulator link set wire1 up
ip -n tb-sa-us.emulator link set end0 up
ip -n tb-sa-us.emulator link set end1 up
ip -n tb-sa-us.emulator link set wire0 up
ip -n tb-sa-us.emulator link set wire1 up
ip -n tb-ap-us.emulator link set end0 up
ip -n tb-ap-us.emulator link set end1 up
ip -n tb-ap-us.emulator link set wire0 up
ip -n tb-ap-us.emulator link set wire1 up
ip -n tb-us-eu.emulator link set end0 up
ip -n tb-us-eu.emulator link set end1 up
ip -n tb-us-eu.emulator link set wire0 up
ip -n tb-us-eu.emulator link set wire1 up
ip -n tb-eu-eu.emulator link set end0 up
ip -n tb-eu-eu.emulator link set end1 up
ip -n tb-eu-eu.emulator link set wire0 up
ip -n tb-eu-eu.emulator link set wire1 up
ip -n tb-sa-eu.emulator link set end0 up
ip -n tb-sa-eu.emulator link set end1 up
ip -n tb-sa-eu.emulator link set wire0 up
ip -n tb-sa-eu.emulator link set wire1 up
ip -n tb-ap-eu.emulator link set end0 up
ip -n tb-ap-eu.emulator link set end1 up
ip -n tb-ap-eu.emulator link set wire0 up
ip -n tb-ap-eu.emulator link set wire1 up
ip -n tb-us-csa.emulator link set end0 up
ip -n tb-us-csa.emulator link set end1 up
ip -n tb-us-csa.emulator link set wire0 up
ip -n tb-us-csa.emulator link set wire1 up
ip -n tb-eu-csa.emulator link set end0 up
ip -n tb-eu-csa.emulator link set end1 up
ip -n tb-eu-csa.emulator link set wire0 up
ip -n tb-eu-csa.emulator link set wire1 up
ip -n tb-sa-csa.emulator link set end0 up
ip -n tb-sa-csa.emulator link set end1 up
ip -n tb-sa-csa.emulator link set wire0 up
ip -n tb-sa-csa.emulator link set wire1 up
ip -n tb-ap-csa.emulator link set end0 up
ip -n tb-ap-csa.emulator link set end1 up
ip -n tb-ap-csa.emulator link set wire0 up
ip -n tb-ap-csa.emulator link set wire1 up
ip -n tb-us-ap.emulator link set end0 up
ip -n tb-us-ap.emulator link set end1 up
ip -n tb-us-ap.emulator link set wire0 up
ip -n tb-us-ap.emulator link set wire1 up
ip -n tb-eu-ap.emulator link set end0 up
ip -n tb-eu-ap.emulator link set end1 up
ip -n tb-eu-ap.emulator link set wire0 up
ip -n tb-eu-ap.emulator link set wire1 up
ip -n tb-sa-ap.emulator link set end0 up
ip -n tb-sa-ap.emulator link set end1 up
ip -n tb-sa-ap.emulator link set wire0 up
ip -n tb-sa-ap.emulator link set wire1 up
ip -n tb-ap-ap.emulator link set end0 up
ip -n tb-ap-ap.emulator link set end1 up
ip -n tb-ap-ap.emulator link set wire0 up
ip -n tb-ap-ap.emulator link set wire1 up
ip -n tb-us-za.emulator link set end0 up
ip -n tb-us-za.emulator link set end1 up
ip -n tb-us-za.emulator link set wire0 up
ip -n tb-us-za.emulator link set wire1 up
ip -n tb-eu-za.emulator link set end0 up
ip -n tb-eu-za.emulator link set end1 up
ip -n tb-eu-za.emulator link set wire0 up
ip -n tb-eu-za.emulator link set wire1 up
ip -n tb-sa-za.emulator link set end0 up
ip -n tb-sa-za.emulator link set end1 up
ip -n tb-sa-za.emulator link set wire0 up
ip -n tb-sa-za.emulator link set wire1 up
ip -n tb-ap-za.emulator link set end0 up
ip -n tb-ap-za.emulator link set end1 up
ip -n tb-ap-za.emulator link set wire0 up
ip -n tb-ap-za.emulator link set wire1 up
ip netns exec tb-access-us.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-access-us.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-access-us.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-access-us.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-access-us.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 5000us
tc -n tb-access-us.emulator qdisc add dev end1 root handle 2: tbf rate 100000000bit burst 2271 limit 151400
tc -n tb-access-us.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 5000us
tc -n tb-access-us.emulator qdisc add dev end0 root handle 2: tbf rate 100000000bit burst 2271 limit 151400
ip netns exec tb-access-us.emulator nft 'add table netdev testbed'
ip netns exec tb-access-us.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-access-us.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-access-us.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-access-us.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-access-us.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-access-us.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-access-us.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-access-us.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-access-us.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-access-us.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-access-us.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-access-us.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-access-us.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-access-us.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-access-us.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-access-us.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-access-us.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-access-us.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-access-us.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-access-us.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-access-us.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-access-us.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-access-us.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-access-us.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-access-eu.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-access-eu.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-access-eu.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-access-eu.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-access-eu.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 5000us
tc -n tb-access-eu.emulator qdisc add dev end1 root handle 2: tbf rate 100000000bit burst 2271 limit 151400
tc -n tb-access-eu.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 5000us
tc -n tb-access-eu.emulator qdisc add dev end0 root handle 2: tbf rate 100000000bit burst 2271 limit 151400
ip netns exec tb-access-eu.emulator nft 'add table netdev testbed'
ip netns exec tb-access-eu.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-access-eu.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-access-eu.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-access-eu.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-access-eu.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-access-eu.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-access-eu.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-access-eu.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-access-eu.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-access-eu.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-access-eu.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-access-eu.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-access-eu.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-access-eu.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-access-eu.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-access-eu.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-access-eu.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-access-eu.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-access-eu.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-access-eu.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-access-eu.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-access-eu.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-access-eu.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-access-eu.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-access-csa.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-access-csa.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-access-csa.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-access-csa.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-access-csa.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 5000us
tc -n tb-access-csa.emulator qdisc add dev end1 root handle 2: tbf rate 100000000bit burst 2271 limit 151400
tc -n tb-access-csa.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 5000us
tc -n tb-access-csa.emulator qdisc add dev end0 root handle 2: tbf rate 100000000bit burst 2271 limit 151400
ip netns exec tb-access-csa.emulator nft 'add table netdev testbed'
ip netns exec tb-access-csa.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-access-csa.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-access-csa.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-access-csa.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-access-csa.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-access-csa.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-access-csa.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-access-csa.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-access-csa.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-access-csa.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-access-csa.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-access-csa.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-access-csa.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-access-csa.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-access-csa.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-access-csa.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-access-csa.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-access-csa.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-access-csa.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-access-csa.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-access-csa.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-access-csa.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-access-csa.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-access-csa.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-access-ap.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-access-ap.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-access-ap.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-access-ap.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-access-ap.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 5000us
tc -n tb-access-ap.emulator qdisc add dev end1 root handle 2: tbf rate 100000000bit burst 2271 limit 151400
tc -n tb-access-ap.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 5000us
tc -n tb-access-ap.emulator qdisc add dev end0 root handle 2: tbf rate 100000000bit burst 2271 limit 151400
ip netns exec tb-access-ap.emulator nft 'add table netdev testbed'
ip netns exec tb-access-ap.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-access-ap.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-access-ap.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-access-ap.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-access-ap.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-access-ap.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-access-ap.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-access-ap.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-access-ap.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-access-ap.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-access-ap.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-access-ap.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-access-ap.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-access-ap.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-access-ap.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-access-ap.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-access-ap.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-access-ap.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-access-ap.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-access-ap.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-access-ap.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-access-ap.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-access-ap.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-access-ap.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-access-za.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-access-za.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-access-za.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-access-za.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-access-za.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 5000us
tc -n tb-access-za.emulator qdisc add dev end1 root handle 2: tbf rate 100000000bit burst 2271 limit 151400
tc -n tb-access-za.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 5000us
tc -n tb-access-za.emulator qdisc add dev end0 root handle 2: tbf rate 100000000bit burst 2271 limit 151400
ip netns exec tb-access-za.emulator nft 'add table netdev testbed'
ip netns exec tb-access-za.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-access-za.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-access-za.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-access-za.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-access-za.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-access-za.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-access-za.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-access-za.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-access-za.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-access-za.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-access-za.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-access-za.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-access-za.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-access-za.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-access-za.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-access-za.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-access-za.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-access-za.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-access-za.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-access-za.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-access-za.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-access-za.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-access-za.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-access-za.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-us-us.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-us-us.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-us-us.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-us-us.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-us-us.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 15500us
tc -n tb-us-us.emulator qdisc add dev end1 root handle 2: tbf rate 47230000bit burst 2271 limit 183017
tc -n tb-us-us.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 15500us
tc -n tb-us-us.emulator qdisc add dev end0 root handle 2: tbf rate 47230000bit burst 2271 limit 183017
ip netns exec tb-us-us.emulator nft 'add table netdev testbed'
ip netns exec tb-us-us.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-us-us.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-us-us.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-us-us.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-us-us.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-us-us.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-us-us.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-us-us.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-us-us.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-us-us.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-us-us.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-us-us.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-us-us.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-us-us.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-us-us.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-us-us.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-us-us.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-us-us.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-us-us.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-us-us.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-us-us.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-us-us.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-us-us.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-us-us.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-eu-us.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-eu-us.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-eu-us.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-eu-us.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-eu-us.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 45000us
tc -n tb-eu-us.emulator qdisc add dev end1 root handle 2: tbf rate 27458000bit burst 2271 limit 308903
tc -n tb-eu-us.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 45000us
tc -n tb-eu-us.emulator qdisc add dev end0 root handle 2: tbf rate 27458000bit burst 2271 limit 308903
ip netns exec tb-eu-us.emulator nft 'add table netdev testbed'
ip netns exec tb-eu-us.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-eu-us.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-eu-us.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-eu-us.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-eu-us.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-eu-us.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-eu-us.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-eu-us.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-eu-us.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-eu-us.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-eu-us.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-eu-us.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-eu-us.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-eu-us.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-eu-us.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-eu-us.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-eu-us.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-eu-us.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-eu-us.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-eu-us.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-eu-us.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-eu-us.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-eu-us.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-eu-us.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-sa-us.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-sa-us.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-sa-us.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-sa-us.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-sa-us.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 65000us
tc -n tb-sa-us.emulator qdisc add dev end1 root handle 2: tbf rate 15644000bit burst 2271 limit 254215
tc -n tb-sa-us.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 65000us
tc -n tb-sa-us.emulator qdisc add dev end0 root handle 2: tbf rate 15644000bit burst 2271 limit 254215
ip netns exec tb-sa-us.emulator nft 'add table netdev testbed'
ip netns exec tb-sa-us.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-sa-us.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-sa-us.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-sa-us.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-sa-us.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-sa-us.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-sa-us.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-sa-us.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-sa-us.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-sa-us.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-sa-us.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-sa-us.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-sa-us.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-sa-us.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-sa-us.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-sa-us.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-sa-us.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-sa-us.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-sa-us.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-sa-us.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-sa-us.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-sa-us.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-sa-us.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-sa-us.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-ap-us.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-ap-us.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-ap-us.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-ap-us.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-ap-us.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 115000us
tc -n tb-ap-us.emulator qdisc add dev end1 root handle 2: tbf rate 18564000bit burst 2271 limit 533715
tc -n tb-ap-us.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 115000us
tc -n tb-ap-us.emulator qdisc add dev end0 root handle 2: tbf rate 18564000bit burst 2271 limit 533715
ip netns exec tb-ap-us.emulator nft 'add table netdev testbed'
ip netns exec tb-ap-us.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-ap-us.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-ap-us.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-ap-us.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-ap-us.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-ap-us.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-ap-us.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-ap-us.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-ap-us.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-ap-us.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-ap-us.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-ap-us.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-ap-us.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-ap-us.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-ap-us.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-ap-us.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-ap-us.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-ap-us.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-ap-us.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-ap-us.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-ap-us.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-ap-us.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-ap-us.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-ap-us.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-us-eu.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-us-eu.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-us-eu.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-us-eu.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-us-eu.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 45000us
tc -n tb-us-eu.emulator qdisc add dev end1 root handle 2: tbf rate 21902000bit burst 2271 limit 246398
tc -n tb-us-eu.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 45000us
tc -n tb-us-eu.emulator qdisc add dev end0 root handle 2: tbf rate 21902000bit burst 2271 limit 246398
ip netns exec tb-us-eu.emulator nft 'add table netdev testbed'
ip netns exec tb-us-eu.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-us-eu.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-us-eu.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-us-eu.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-us-eu.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-us-eu.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-us-eu.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-us-eu.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-us-eu.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-us-eu.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-us-eu.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-us-eu.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-us-eu.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-us-eu.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-us-eu.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-us-eu.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-us-eu.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-us-eu.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-us-eu.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-us-eu.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-us-eu.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-us-eu.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-us-eu.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-us-eu.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-eu-eu.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-eu-eu.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-eu-eu.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-eu-eu.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-eu-eu.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 12500us
tc -n tb-eu-eu.emulator qdisc add dev end1 root handle 2: tbf rate 34873000bit burst 2271 limit 151400
tc -n tb-eu-eu.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 12500us
tc -n tb-eu-eu.emulator qdisc add dev end0 root handle 2: tbf rate 34873000bit burst 2271 limit 151400
ip netns exec tb-eu-eu.emulator nft 'add table netdev testbed'
ip netns exec tb-eu-eu.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-eu-eu.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-eu-eu.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-eu-eu.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-eu-eu.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-eu-eu.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-eu-eu.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-eu-eu.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-eu-eu.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-eu-eu.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-eu-eu.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-eu-eu.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-eu-eu.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-eu-eu.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-eu-eu.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-eu-eu.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-eu-eu.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-eu-eu.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-eu-eu.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-eu-eu.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-eu-eu.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-eu-eu.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-eu-eu.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-eu-eu.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-sa-eu.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-sa-eu.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-sa-eu.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-sa-eu.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-sa-eu.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 100000us
tc -n tb-sa-eu.emulator qdisc add dev end1 root handle 2: tbf rate 13999000bit burst 2271 limit 349975
tc -n tb-sa-eu.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 100000us
tc -n tb-sa-eu.emulator qdisc add dev end0 root handle 2: tbf rate 13999000bit burst 2271 limit 349975
ip netns exec tb-sa-eu.emulator nft 'add table netdev testbed'
ip netns exec tb-sa-eu.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-sa-eu.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-sa-eu.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-sa-eu.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-sa-eu.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-sa-eu.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-sa-eu.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-sa-eu.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-sa-eu.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-sa-eu.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-sa-eu.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-sa-eu.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-sa-eu.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-sa-eu.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-sa-eu.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-sa-eu.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-sa-eu.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-sa-eu.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-sa-eu.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-sa-eu.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-sa-eu.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-sa-eu.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-sa-eu.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-sa-eu.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-ap-eu.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-ap-eu.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-ap-eu.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-ap-eu.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-ap-eu.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 95000us
tc -n tb-ap-eu.emulator qdisc add dev end1 root handle 2: tbf rate 14878000bit burst 2271 limit 353353
tc -n tb-ap-eu.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 95000us
tc -n tb-ap-eu.emulator qdisc add dev end0 root handle 2: tbf rate 14878000bit burst 2271 limit 353353
ip netns exec tb-ap-eu.emulator nft 'add table netdev testbed'
ip netns exec tb-ap-eu.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-ap-eu.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-ap-eu.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-ap-eu.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-ap-eu.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-ap-eu.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-ap-eu.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-ap-eu.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-ap-eu.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-ap-eu.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-ap-eu.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-ap-eu.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-ap-eu.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-ap-eu.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-ap-eu.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-ap-eu.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-ap-eu.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-ap-eu.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-ap-eu.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-ap-eu.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-ap-eu.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-ap-eu.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-ap-eu.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-ap-eu.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-us-csa.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-us-csa.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-us-csa.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-us-csa.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-us-csa.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 35000us
tc -n tb-us-csa.emulator qdisc add dev end1 root handle 2: tbf rate 16580000bit burst 2271 limit 151400
tc -n tb-us-csa.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 35000us
tc -n tb-us-csa.emulator qdisc add dev end0 root handle 2: tbf rate 16580000bit burst 2271 limit 151400
ip netns exec tb-us-csa.emulator nft 'add table netdev testbed'
ip netns exec tb-us-csa.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-us-csa.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-us-csa.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-us-csa.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-us-csa.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-us-csa.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-us-csa.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-us-csa.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-us-csa.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-us-csa.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-us-csa.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-us-csa.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-us-csa.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-us-csa.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-us-csa.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-us-csa.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-us-csa.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-us-csa.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-us-csa.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-us-csa.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-us-csa.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-us-csa.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-us-csa.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-us-csa.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-eu-csa.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-eu-csa.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-eu-csa.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-eu-csa.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-eu-csa.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 85000us
tc -n tb-eu-csa.emulator qdisc add dev end1 root handle 2: tbf rate 11058000bit burst 2271 limit 234983
tc -n tb-eu-csa.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 85000us
tc -n tb-eu-csa.emulator qdisc add dev end0 root handle 2: tbf rate 11058000bit burst 2271 limit 234983
ip netns exec tb-eu-csa.emulator nft 'add table netdev testbed'
ip netns exec tb-eu-csa.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-eu-csa.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-eu-csa.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-eu-csa.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-eu-csa.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-eu-csa.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-eu-csa.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-eu-csa.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-eu-csa.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-eu-csa.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-eu-csa.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-eu-csa.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-eu-csa.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-eu-csa.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-eu-csa.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-eu-csa.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-eu-csa.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-eu-csa.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-eu-csa.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-eu-csa.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-eu-csa.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-eu-csa.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-eu-csa.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-eu-csa.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-sa-csa.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-sa-csa.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-sa-csa.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-sa-csa.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-sa-csa.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 30000us
tc -n tb-sa-csa.emulator qdisc add dev end1 root handle 2: tbf rate 12590000bit burst 2271 limit 151400
tc -n tb-sa-csa.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 30000us
tc -n tb-sa-csa.emulator qdisc add dev end0 root handle 2: tbf rate 12590000bit burst 2271 limit 151400
ip netns exec tb-sa-csa.emulator nft 'add table netdev testbed'
ip netns exec tb-sa-csa.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-sa-csa.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-sa-csa.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-sa-csa.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-sa-csa.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-sa-csa.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-sa-csa.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-sa-csa.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-sa-csa.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-sa-csa.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-sa-csa.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-sa-csa.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-sa-csa.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-sa-csa.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-sa-csa.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-sa-csa.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-sa-csa.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-sa-csa.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-sa-csa.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-sa-csa.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-sa-csa.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-sa-csa.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-sa-csa.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-sa-csa.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-ap-csa.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-ap-csa.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-ap-csa.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-ap-csa.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-ap-csa.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 145000us
tc -n tb-ap-csa.emulator qdisc add dev end1 root handle 2: tbf rate 5141000bit burst 2271 limit 186362
tc -n tb-ap-csa.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 145000us
tc -n tb-ap-csa.emulator qdisc add dev end0 root handle 2: tbf rate 5141000bit burst 2271 limit 186362
ip netns exec tb-ap-csa.emulator nft 'add table netdev testbed'
ip netns exec tb-ap-csa.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-ap-csa.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-ap-csa.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-ap-csa.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-ap-csa.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-ap-csa.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-ap-csa.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-ap-csa.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-ap-csa.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-ap-csa.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-ap-csa.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-ap-csa.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-ap-csa.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-ap-csa.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-ap-csa.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-ap-csa.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-ap-csa.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-ap-csa.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-ap-csa.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-ap-csa.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-ap-csa.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-ap-csa.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-ap-csa.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-ap-csa.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-us-ap.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-us-ap.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-us-ap.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-us-ap.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-us-ap.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 105000us
tc -n tb-us-ap.emulator qdisc add dev end1 root handle 2: tbf rate 13173000bit burst 2271 limit 345792
tc -n tb-us-ap.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 105000us
tc -n tb-us-ap.emulator qdisc add dev end0 root handle 2: tbf rate 13173000bit burst 2271 limit 345792
ip netns exec tb-us-ap.emulator nft 'add table netdev testbed'
ip netns exec tb-us-ap.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-us-ap.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-us-ap.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-us-ap.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-us-ap.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-us-ap.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-us-ap.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-us-ap.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-us-ap.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-us-ap.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-us-ap.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-us-ap.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-us-ap.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-us-ap.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-us-ap.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-us-ap.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-us-ap.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-us-ap.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-us-ap.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-us-ap.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-us-ap.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-us-ap.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-us-ap.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-us-ap.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-eu-ap.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-eu-ap.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-eu-ap.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-eu-ap.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-eu-ap.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 100000us
tc -n tb-eu-ap.emulator qdisc add dev end1 root handle 2: tbf rate 12004000bit burst 2271 limit 300100
tc -n tb-eu-ap.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 100000us
tc -n tb-eu-ap.emulator qdisc add dev end0 root handle 2: tbf rate 12004000bit burst 2271 limit 300100
ip netns exec tb-eu-ap.emulator nft 'add table netdev testbed'
ip netns exec tb-eu-ap.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-eu-ap.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-eu-ap.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-eu-ap.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-eu-ap.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-eu-ap.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-eu-ap.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-eu-ap.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-eu-ap.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-eu-ap.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-eu-ap.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-eu-ap.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-eu-ap.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-eu-ap.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-eu-ap.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-eu-ap.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-eu-ap.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-eu-ap.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-eu-ap.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-eu-ap.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-eu-ap.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-eu-ap.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-eu-ap.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-eu-ap.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-sa-ap.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-sa-ap.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-sa-ap.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-sa-ap.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-sa-ap.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 165000us
tc -n tb-sa-ap.emulator qdisc add dev end1 root handle 2: tbf rate 5164000bit burst 2271 limit 213015
tc -n tb-sa-ap.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 165000us
tc -n tb-sa-ap.emulator qdisc add dev end0 root handle 2: tbf rate 5164000bit burst 2271 limit 213015
ip netns exec tb-sa-ap.emulator nft 'add table netdev testbed'
ip netns exec tb-sa-ap.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-sa-ap.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-sa-ap.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-sa-ap.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-sa-ap.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-sa-ap.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-sa-ap.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-sa-ap.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-sa-ap.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-sa-ap.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-sa-ap.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-sa-ap.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-sa-ap.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-sa-ap.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-sa-ap.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-sa-ap.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-sa-ap.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-sa-ap.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-sa-ap.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-sa-ap.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-sa-ap.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-sa-ap.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-sa-ap.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-sa-ap.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-ap-ap.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-ap-ap.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-ap-ap.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-ap-ap.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-ap-ap.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 25000us
tc -n tb-ap-ap.emulator qdisc add dev end1 root handle 2: tbf rate 30929000bit burst 2271 limit 193307
tc -n tb-ap-ap.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 25000us
tc -n tb-ap-ap.emulator qdisc add dev end0 root handle 2: tbf rate 30929000bit burst 2271 limit 193307
ip netns exec tb-ap-ap.emulator nft 'add table netdev testbed'
ip netns exec tb-ap-ap.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-ap-ap.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-ap-ap.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-ap-ap.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-ap-ap.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-ap-ap.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-ap-ap.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-ap-ap.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-ap-ap.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-ap-ap.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-ap-ap.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-ap-ap.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-ap-ap.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-ap-ap.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-ap-ap.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-ap-ap.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-ap-ap.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-ap-ap.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-ap-ap.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-ap-ap.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-ap-ap.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-ap-ap.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-ap-ap.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-ap-ap.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-us-za.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-us-za.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-us-za.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-us-za.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-us-za.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 120000us
tc -n tb-us-za.emulator qdisc add dev end1 root handle 2: tbf rate 11420000bit burst 2271 limit 342600
tc -n tb-us-za.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 120000us
tc -n tb-us-za.emulator qdisc add dev end0 root handle 2: tbf rate 11420000bit burst 2271 limit 342600
ip netns exec tb-us-za.emulator nft 'add table netdev testbed'
ip netns exec tb-us-za.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-us-za.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-us-za.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-us-za.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-us-za.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-us-za.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-us-za.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-us-za.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-us-za.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-us-za.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-us-za.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-us-za.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-us-za.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-us-za.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-us-za.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-us-za.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-us-za.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-us-za.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-us-za.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-us-za.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-us-za.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-us-za.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-us-za.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-us-za.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-eu-za.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-eu-za.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-eu-za.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-eu-za.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-eu-za.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 85000us
tc -n tb-eu-za.emulator qdisc add dev end1 root handle 2: tbf rate 14618000bit burst 2271 limit 310633
tc -n tb-eu-za.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 85000us
tc -n tb-eu-za.emulator qdisc add dev end0 root handle 2: tbf rate 14618000bit burst 2271 limit 310633
ip netns exec tb-eu-za.emulator nft 'add table netdev testbed'
ip netns exec tb-eu-za.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-eu-za.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-eu-za.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-eu-za.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-eu-za.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-eu-za.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-eu-za.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-eu-za.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-eu-za.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-eu-za.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-eu-za.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-eu-za.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-eu-za.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-eu-za.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-eu-za.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-eu-za.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-eu-za.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-eu-za.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-eu-za.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-eu-za.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-eu-za.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-eu-za.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-eu-za.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-eu-za.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-sa-za.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-sa-za.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-sa-za.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-sa-za.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-sa-za.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 175000us
tc -n tb-sa-za.emulator qdisc add dev end1 root handle 2: tbf rate 7444000bit burst 2271 limit 325675
tc -n tb-sa-za.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 175000us
tc -n tb-sa-za.emulator qdisc add dev end0 root handle 2: tbf rate 7444000bit burst 2271 limit 325675
ip netns exec tb-sa-za.emulator nft 'add table netdev testbed'
ip netns exec tb-sa-za.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-sa-za.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-sa-za.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-sa-za.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-sa-za.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-sa-za.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-sa-za.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-sa-za.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-sa-za.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-sa-za.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-sa-za.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-sa-za.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-sa-za.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-sa-za.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-sa-za.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-sa-za.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-sa-za.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-sa-za.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-sa-za.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-sa-za.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-sa-za.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-sa-za.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-sa-za.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-sa-za.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-ap-za.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-ap-za.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-ap-za.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-ap-za.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-ap-za.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 145000us
tc -n tb-ap-za.emulator qdisc add dev end1 root handle 2: tbf rate 6992000bit burst 2271 limit 253460
tc -n tb-ap-za.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 145000us
tc -n tb-ap-za.emulator qdisc add dev end0 root handle 2: tbf rate 6992000bit burst 2271 limit 253460
ip netns exec tb-ap-za.emulator nft 'add table netdev testbed'
ip netns exec tb-ap-za.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-ap-za.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-ap-za.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-ap-za.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-ap-za.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-ap-za.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-ap-za.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-ap-za.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-ap-za.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-ap-za.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-ap-za.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-ap-za.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-ap-za.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-ap-za.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-ap-za.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-ap-za.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-ap-za.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-ap-za.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-ap-za.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-ap-za.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-ap-za.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-ap-za.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-ap-za.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-ap-za.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'

# To take it down:
#   ip netns exec tb-ap-za.emulator nft 'delete table netdev testbed'
#   tc -n tb-ap-za.emulator qdisc del dev end0 root
#   tc -n tb-ap-za.emulator qdisc del dev wire1 root
#   tc -n tb-ap-za.emulator qdisc del dev end1 root
#   tc -n tb-ap-za.emulator qdisc del dev wire0 root
#   ip netns exec tb-sa-za.emulator nft 'delete table netdev testbed'
#   tc -n tb-sa-za.emulator qdisc del dev end0 root
#   tc -n tb-sa-za.emulator qdisc del dev wire1 root
#   tc -n tb-sa-za.emulator qdisc del dev end1 root
#   tc -n tb-sa-za.emulator qdisc del dev wire0 root
#   ip netns exec tb-eu-za.emulator nft 'delete table netdev testbed'
#   tc -n tb-eu-za.emulator qdisc del dev end0 root
#   tc -n tb-eu-za.emulator qdisc del dev wire1 root
#   tc -n tb-eu-za.emulator qdisc del dev end1 root
#   tc -n tb-eu-za.emulator qdisc del dev wire0 root
#   ip netns exec tb-us-za.emulator nft 'delete table netdev testbed'
#   tc -n tb-us-za.emulator qdisc del dev end0 root
#   tc -n tb-us-za.emulator qdisc del dev wire1 root
#   tc -n tb-us-za.emulator qdisc del dev end1 root
#   tc -n tb-us-za.emulator qdisc del dev wire0 root
#   ip netns exec tb-ap-ap.emulator nft 'delete table netdev testbed'
#   tc -n tb-ap-ap.emulator qdisc del dev end0 root
#   tc -n tb-ap-ap.emulator qdisc del dev wire1 root
#   tc -n tb-ap-ap.emulator qdisc del dev end1 root
#   tc -n tb-ap-ap.emulator qdisc del dev wire0 root
#   ip netns exec tb-sa-ap.emulator nft 'delete table netdev testbed'
#   tc -n tb-sa-ap.emulator qdisc del dev end0 root
#   tc -n tb-sa-ap.emulator qdisc del dev wire1 root
#   tc -n tb-sa-ap.emulator qdisc del dev end1 root
#   tc -n tb-sa-ap.emulator qdisc del dev wire0 root
#   ip netns exec tb-eu-ap.emulator nft 'delete table netdev testbed'
#   tc -n tb-eu-ap.emulator qdisc del dev end0 root
#   tc -n tb-eu-ap.emulator qdisc del dev wire1 root
#   tc -n tb-eu-ap.emulator qdisc del dev end1 root
#   tc -n tb-eu-ap.emulator qdisc del dev wire0 root
#   ip netns exec tb-us-ap.emulator nft 'delete table netdev testbed'
#   tc -n tb-us-ap.emulator qdisc del dev end0 root
#   tc -n tb-us-ap.emulator qdisc del dev wire1 root
#   tc -n tb-us-ap.emulator qdisc del dev end1 root
#   tc -n tb-us-ap.emulator qdisc del dev wire0 root
#   ip netns exec tb-ap-csa.emulator nft 'delete table netdev testbed'
#   tc -n tb-ap-csa.emulator qdisc del dev end0 root
#   tc -n tb-ap-csa.emulator qdisc del dev wire1 root
#   tc -n tb-ap-csa.emulator qdisc del dev end1 root
#   tc -n tb-ap-csa.emulator qdisc del dev wire0 root
#   ip netns exec tb-sa-csa.emulator nft 'delete table netdev testbed'
#   tc -n tb-sa-csa.emulator qdisc del dev end0 root
#   tc -n tb-sa-csa.emulator qdisc del dev wire1 root
#   tc -n tb-sa-csa.emulator qdisc del dev end1 root
#   tc -n tb-sa-csa.emulator qdisc del dev wire0 root
#   ip netns exec tb-eu-csa.emulator nft 'delete table netdev testbed'
#   tc -n tb-eu-csa.emulator qdisc del dev end0 root
#   tc -n tb-eu-csa.emulator qdisc del dev wire1 root
#   tc -n tb-eu-csa.emulator qdisc del dev end1 root
#   tc -n tb-eu-csa.emulator qdisc del dev wire0 root
#   ip netns exec tb-us-csa.emulator nft 'delete table netdev testbed'
#   tc -n tb-us-csa.emulator qdisc del dev end0 root
#   tc -n tb-us-csa.emulator qdisc del dev wire1 root
#   tc -n tb-us-csa.emulator qdisc del dev end1 root
#   tc -n tb-us-csa.emulator qdisc del dev wire0 root
#   ip netns exec tb-ap-eu.emulator nft 'delete table netdev testbed'
#   tc -n tb-ap-eu.emulator qdisc del dev end0 root
#   tc -n tb-ap-eu.emulator qdisc del dev wire1 root
#   tc -n tb-ap-eu.emulator qdisc del dev end1 root
#   tc -n tb-ap-eu.emulator qdisc del dev wire0 root
#   ip netns exec tb-sa-eu.emulator nft 'delete table netdev testbed'
#   tc -n tb-sa-eu.emulator qdisc del dev end0 root
#   tc -n tb-sa-eu.emulator qdisc del dev wire1 root
#   tc -n tb-sa-eu.emulator qdisc del dev end1 root
#   tc -n tb-sa-eu.emulator qdisc del dev wire0 root
#   ip netns exec tb-eu-eu.emulator nft 'delete table netdev testbed'
#   tc -n tb-eu-eu.emulator qdisc del dev end0 root
#   tc -n tb-eu-eu.emulator qdisc del dev wire1 root
#   tc -n tb-eu-eu.emulator qdisc del dev end1 root
#   tc -n tb-eu-eu.emulator qdisc del dev wire0 root
#   ip netns exec tb-us-eu.emulator nft 'delete table netdev testbed'
#   tc -n tb-us-eu.emulator qdisc del dev end0 root
#   tc -n tb-us-eu.emulator qdisc del dev wire1 root
#   tc -n tb-us-eu.emulator qdisc del dev end1 root
#   tc -n tb-us-eu.emulator qdisc del dev wire0 root
#   ip netns exec tb-ap-us.emulator nft 'delete table netdev testbed'
#   tc -n tb-ap-us.emulator qdisc del dev end0 root
#   tc -n tb-ap-us.emulator qdisc del dev wire1 root
#   tc -n tb-ap-us.emulator qdisc del dev end1 root
#   tc -n tb-ap-us.emulator qdisc del dev wire0 root
#   ip netns exec tb-sa-us.emulator nft 'delete table netdev testbed'
#   tc -n tb-sa-us.emulator qdisc del dev end0 root
#   tc -n tb-sa-us.emulator qdisc del dev wire1 root
#   tc -n tb-sa-us.emulator qdisc del dev end1 root
#   tc -n tb-sa-us.emulator qdisc del dev wire0 root
#   ip netns exec tb-eu-us.emulator nft 'delete table netdev testbed'
#   tc -n tb-eu-us.emulator qdisc del dev end0 root
#   tc -n tb-eu-us.emulator qdisc del dev wire1 root
#   tc -n tb-eu-us.emulator qdisc del dev end1 root
#   tc -n tb-eu-us.emulator qdisc del dev wire0 root
#   ip netns exec tb-us-us.emulator nft 'delete table netdev testbed'
#   tc -n tb-us-us.emulator qdisc del dev end0 root
#   tc -n tb-us-us.emulator qdisc del dev wire1 root
#   tc -n tb-us-us.emulator qdisc del dev end1 root
#   tc -n tb-us-us.emulator qdisc del dev wire0 root
#   ip netns exec tb-access-za.emulator nft 'delete table netdev testbed'
#   tc -n tb-access-za.emulator qdisc del dev end0 root
#   tc -n tb-access-za.emulator qdisc del dev wire1 root
#   tc -n tb-access-za.emulator qdisc del dev end1 root
#   tc -n tb-access-za.emulator qdisc del dev wire0 root
#   ip netns exec tb-access-ap.emulator nft 'delete table netdev testbed'
#   tc -n tb-access-ap.emulator qdisc del dev end0 root
#   tc -n tb-access-ap.emulator qdisc del dev wire1 root
#   tc -n tb-access-ap.emulator qdisc del dev end1 root
#   tc -n tb-access-ap.emulator qdisc del dev wire0 root
#   ip netns exec tb-access-csa.emulator nft 'delete table netdev testbed'
#   tc -n tb-access-csa.emulator qdisc del dev end0 root
#   tc -n tb-access-csa.emulator qdisc del dev wire1 root
#   tc -n tb-access-csa.emulator qdisc del dev end1 root
#   tc -n tb-access-csa.emulator qdisc del dev wire0 root
#   ip netns exec tb-access-eu.emulator nft 'delete table netdev testbed'
#   tc -n tb-access-eu.emulator qdisc del dev end0 root
#   tc -n tb-access-eu.emulator qdisc del dev wire1 root
#   tc -n tb-access-eu.emulator qdisc del dev end1 root
#   tc -n tb-access-eu.emulator qdisc del dev wire0 root
#   ip netns exec tb-access-us.emulator nft 'delete table netdev testbed'
#   tc -n tb-access-us.emulator qdisc del dev end0 root
#   tc -n tb-access-us.emulator qdisc del dev wire1 root
#   tc -n tb-access-us.emulator qdisc del dev end1 root
#   tc -n tb-access-us.emulator qdisc del dev wire0 root
#   ip netns del tb-ap-za.emulator
#   ip netns del tb-sa-za.emulator
#   ip netns del tb-eu-za.emulator
#   ip netns del tb-us-za.emulator
#   ip netns del tb-ap-ap.emulator
#   ip netns del tb-sa-ap.emulator
#   ip netns del tb-eu-ap.emulator
#   ip netns del tb-us-ap.emulator
#   ip netns del tb-ap-csa.emulator
#   ip netns del tb-sa-csa.emulator
#   ip netns del tb-eu-csa.emulator
#   ip netns del tb-us-csa.emulator
#   ip netns del tb-ap-eu.emulator
#   ip netns del tb-sa-eu.emulator
#   ip netns del tb-eu-eu.emulator
#   ip netns del tb-us-eu.emulator
#   ip netns del tb-ap-us.emulator
#   ip netns del tb-sa-us.emulator
#   ip netns del tb-eu-us.emulator
#   ip netns del tb-us-us.emulator
#   ip netns del tb-access-za.emulator
#   ip netns del tb-access-ap.emulator
#   ip netns del tb-access-csa.emulator
#   ip netns del tb-access-eu.emulator
#   ip netns del tb-access-us.emulator
#   ip netns del tb-store-ap
#   ip netns del tb-store-sa
#   ip netns del tb-store-eu
#   ip netns del tb-store-us
#   ip netns del tb-isp-za
#   ip netns del tb-isp-ap
#   ip netns del tb-isp-csa
#   ip netns del tb-isp-eu
#   ip netns del tb-isp-us
#   ip netns del tb-home-za
#   ip netns del tb-home-ap
#   ip netns del tb-home-csa
#   ip netns del tb-home-eu
#   ip netns del tb-home-us
