#!/bin/sh -e
ip netns add tb-eu
ip netns add tb-us
ip netns add tb-sa
ip netns add tb-ap
ip netns add tb-eu-dc
ip netns add tb-us-dc
ip netns add tb-sa-dc
ip netns add tb-ap-dc
ip netns add tb-eu-access.emulator
ip netns add tb-us-access.emulator
ip netns add tb-sa-access.emulator
ip netns add tb-ap-access.emulator
ip netns add tb-eu-us.emulator
ip netns add tb-us-sa.emulator
ip netns add tb-eu-sa.emulator
ip netns add tb-eu-ap.emulator
ip netns add tb-us-ap.emulator
ip netns add tb-sa-ap.emulator
ip link add name eth0 address 02:54:42:00:00:00 mtu 1500 netns tb-eu type veth peer name end0 mtu 1500 netns tb-eu-access.emulator
ip link add name wire0 mtu 1500 netns tb-eu-access.emulator type veth peer name wire1 mtu 1500 netns tb-eu-access.emulator
ip link add name eth0 address 02:54:42:00:00:01 mtu 1500 netns tb-eu-dc type veth peer name end1 mtu 1500 netns tb-eu-access.emulator
ip link add name eth0 address 02:54:42:00:00:02 mtu 1500 netns tb-us type veth peer name end0 mtu 1500 netns tb-us-access.emulator
ip link add name wire0 mtu 1500 netns tb-us-access.emulator type veth peer name wire1 mtu 1500 netns tb-us-access.emulator
ip link add name eth0 address 02:54:42:00:00:03 mtu 1500 netns tb-us-dc type veth peer name end1 mtu 1500 netns tb-us-access.emulator
ip link add name eth0 address 02:54:42:00:00:04 mtu 1500 netns tb-sa type veth peer name end0 mtu 1500 netns tb-sa-access.emulator
ip link add name wire0 mtu 1500 netns tb-sa-access.emulator type veth peer name wire1 mtu 1500 netns tb-sa-access.emulator
ip link add name eth0 address 02:54:42:00:00:05 mtu 1500 netns tb-sa-dc type veth peer name end1 mtu 1500 netns tb-sa-access.emulator
ip link add name eth0 address 02:54:42:00:00:06 mtu 1500 netns tb-ap type veth peer name end0 mtu 1500 netns tb-ap-access.emulator
ip link add name wire0 mtu 1500 netns tb-ap-access.emulator type veth peer name wire1 mtu 1500 netns tb-ap-access.emulator
ip link add name eth0 address 02:54:42:00:00:07 mtu 1500 netns tb-ap-dc type veth peer name end1 mtu 1500 netns tb-ap-access.emulator
ip link add name eth1 address 02:54:42:00:00:08 mtu 1500 netns tb-eu-dc type veth peer name end0 mtu 1500 netns tb-eu-us.emulator
ip link add name wire0 mtu 1500 netns tb-eu-us.emulator type veth peer name wire1 mtu 1500 netns tb-eu-us.emulator
ip link add name eth1 address 02:54:42:00:00:09 mtu 1500 netns tb-us-dc type veth peer name end1 mtu 1500 netns tb-eu-us.emulator
ip link add name eth2 address 02:54:42:00:00:0a mtu 1500 netns tb-us-dc type veth peer name end0 mtu 1500 netns tb-us-sa.emulator
ip link add name wire0 mtu 1500 netns tb-us-sa.emulator type veth peer name wire1 mtu 1500 netns tb-us-sa.emulator
ip link add name eth1 address 02:54:42:00:00:0b mtu 1500 netns tb-sa-dc type veth peer name end1 mtu 1500 netns tb-us-sa.emulator
ip link add name eth2 address 02:54:42:00:00:0c mtu 1500 netns tb-eu-dc type veth peer name end0 mtu 1500 netns tb-eu-sa.emulator
ip link add name wire0 mtu 1500 netns tb-eu-sa.emulator type veth peer name wire1 mtu 1500 netns tb-eu-sa.emulator
ip link add name eth2 address 02:54:42:00:00:0d mtu 1500 netns tb-sa-dc type veth peer name end1 mtu 1500 netns tb-eu-sa.emulator
ip link add name eth3 address 02:54:42:00:00:0e mtu 1500 netns tb-eu-dc type veth peer name end0 mtu 1500 netns tb-eu-ap.emulator
ip link add name wire0 mtu 1500 netns tb-eu-ap.emulator type veth peer name wire1 mtu 1500 netns tb-eu-ap.emulator
ip link add name eth1 address 02:54:42:00:00:0f mtu 1500 netns tb-ap-dc type veth peer name end1 mtu 1500 netns tb-eu-ap.emulator
ip link add name eth3 address 02:54:42:00:00:10 mtu 1500 netns tb-us-dc type veth peer name end0 mtu 1500 netns tb-us-ap.emulator
ip link add name wire0 mtu 1500 netns tb-us-ap.emulator type veth peer name wire1 mtu 1500 netns tb-us-ap.emulator
ip link add name eth2 address 02:54:42:00:00:11 mtu 1500 netns tb-ap-dc type veth peer name end1 mtu 1500 netns tb-us-ap.emulator
ip link add name eth3 address 02:54:42:00:00:12 mtu 1500 netns tb-sa-dc type veth peer name end0 mtu 1500 netns tb-sa-ap.emulator
ip link add name wire0 mtu 1500 netns tb-sa-ap.emulator type veth peer name wire1 mtu 1500 netns tb-sa-ap.emulator
ip link add name eth3 address 02:54:42:00:00:13 mtu 1500 netns tb-ap-dc type veth peer name end1 mtu 1500 netns tb-sa-ap.emulator
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
ip netns exec tb-eu-dc sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-eu-dc sh -c 'echo 1 > /proc/sys/net/ipv4/ip_forward'
ip netns exec tb-eu-dc sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/forwarding'
ip netns exec tb-eu-dc sh -c 'echo 0 > /proc/sys/net/ipv4/conf/all/rp_filter'
ip netns exec tb-eu-dc sh -c 'echo 0 > /proc/sys/net/ipv4/conf/all/send_redirects'
ip netns exec tb-eu-dc sh -c 'echo 0 > /proc/sys/net/ipv4/conf/default/send_redirects'
ip netns exec tb-eu-dc sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth0/send_redirects'
ip netns exec tb-eu-dc sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth1/send_redirects'
ip netns exec tb-eu-dc sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth2/send_redirects'
ip netns exec tb-eu-dc sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth3/send_redirects'
ip -n tb-eu-dc address add 10.0.0.2/24 dev eth0
ip -n tb-eu-dc address add 10.0.4.1/24 dev eth1
ip -n tb-eu-dc address add 10.0.6.1/24 dev eth2
ip -n tb-eu-dc address add 10.0.7.1/24 dev eth3
ip -n tb-eu-dc link set lo up
ip -n tb-eu-dc link set eth0 up
ip -n tb-eu-dc link set eth1 up
ip -n tb-eu-dc link set eth2 up
ip -n tb-eu-dc link set eth3 up
ip -n tb-eu-dc neighbour replace 10.0.0.1 lladdr 02:54:42:00:00:00 dev eth0 nud permanent
ip -n tb-eu-dc neighbour replace 10.0.4.2 lladdr 02:54:42:00:00:09 dev eth1 nud permanent
ip -n tb-eu-dc neighbour replace 10.0.6.2 lladdr 02:54:42:00:00:0d dev eth2 nud permanent
ip -n tb-eu-dc neighbour replace 10.0.7.2 lladdr 02:54:42:00:00:0f dev eth3 nud permanent
ip -n tb-eu-dc route replace 10.0.1.0/24 via 10.0.4.2 dev eth1
ip -n tb-eu-dc route replace 10.0.5.0/24 via 10.0.4.2 dev eth1
ip -n tb-eu-dc route replace 10.0.8.0/24 via 10.0.4.2 dev eth1
ip -n tb-eu-dc route replace 10.0.2.0/24 via 10.0.6.2 dev eth2
ip -n tb-eu-dc route replace 10.0.9.0/24 via 10.0.6.2 dev eth2
ip -n tb-eu-dc route replace 10.0.3.0/24 via 10.0.7.2 dev eth3
ip netns exec tb-us-dc sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-us-dc sh -c 'echo 1 > /proc/sys/net/ipv4/ip_forward'
ip netns exec tb-us-dc sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/forwarding'
ip netns exec tb-us-dc sh -c 'echo 0 > /proc/sys/net/ipv4/conf/all/rp_filter'
ip netns exec tb-us-dc sh -c 'echo 0 > /proc/sys/net/ipv4/conf/all/send_redirects'
ip netns exec tb-us-dc sh -c 'echo 0 > /proc/sys/net/ipv4/conf/default/send_redirects'
ip netns exec tb-us-dc sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth0/send_redirects'
ip netns exec tb-us-dc sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth1/send_redirects'
ip netns exec tb-us-dc sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth2/send_redirects'
ip netns exec tb-us-dc sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth3/send_redirects'
ip -n tb-us-dc address add 10.0.1.2/24 dev eth0
ip -n tb-us-dc address add 10.0.4.2/24 dev eth1
ip -n tb-us-dc address add 10.0.5.1/24 dev eth2
ip -n tb-us-dc address add 10.0.8.1/24 dev eth3
ip -n tb-us-dc link set lo up
ip -n tb-us-dc link set eth0 up
ip -n tb-us-dc link set eth1 up
ip -n tb-us-dc link set eth2 up
ip -n tb-us-dc link set eth3 up
ip -n tb-us-dc neighbour replace 10.0.1.1 lladdr 02:54:42:00:00:02 dev eth0 nud permanent
ip -n tb-us-dc neighbour replace 10.0.4.1 lladdr 02:54:42:00:00:08 dev eth1 nud permanent
ip -n tb-us-dc neighbour replace 10.0.5.2 lladdr 02:54:42:00:00:0b dev eth2 nud permanent
ip -n tb-us-dc neighbour replace 10.0.8.2 lladdr 02:54:42:00:00:11 dev eth3 nud permanent
ip -n tb-us-dc route replace 10.0.0.0/24 via 10.0.4.1 dev eth1
ip -n tb-us-dc route replace 10.0.6.0/24 via 10.0.4.1 dev eth1
ip -n tb-us-dc route replace 10.0.7.0/24 via 10.0.4.1 dev eth1
ip -n tb-us-dc route replace 10.0.2.0/24 via 10.0.5.2 dev eth2
ip -n tb-us-dc route replace 10.0.9.0/24 via 10.0.5.2 dev eth2
ip -n tb-us-dc route replace 10.0.3.0/24 via 10.0.8.2 dev eth3
ip netns exec tb-sa-dc sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-sa-dc sh -c 'echo 1 > /proc/sys/net/ipv4/ip_forward'
ip netns exec tb-sa-dc sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/forwarding'
ip netns exec tb-sa-dc sh -c 'echo 0 > /proc/sys/net/ipv4/conf/all/rp_filter'
ip netns exec tb-sa-dc sh -c 'echo 0 > /proc/sys/net/ipv4/conf/all/send_redirects'
ip netns exec tb-sa-dc sh -c 'echo 0 > /proc/sys/net/ipv4/conf/default/send_redirects'
ip netns exec tb-sa-dc sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth0/send_redirects'
ip netns exec tb-sa-dc sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth1/send_redirects'
ip netns exec tb-sa-dc sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth2/send_redirects'
ip netns exec tb-sa-dc sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth3/send_redirects'
ip -n tb-sa-dc address add 10.0.2.2/24 dev eth0
ip -n tb-sa-dc address add 10.0.5.2/24 dev eth1
ip -n tb-sa-dc address add 10.0.6.2/24 dev eth2
ip -n tb-sa-dc address add 10.0.9.1/24 dev eth3
ip -n tb-sa-dc link set lo up
ip -n tb-sa-dc link set eth0 up
ip -n tb-sa-dc link set eth1 up
ip -n tb-sa-dc link set eth2 up
ip -n tb-sa-dc link set eth3 up
ip -n tb-sa-dc neighbour replace 10.0.2.1 lladdr 02:54:42:00:00:04 dev eth0 nud permanent
ip -n tb-sa-dc neighbour replace 10.0.5.1 lladdr 02:54:42:00:00:0a dev eth1 nud permanent
ip -n tb-sa-dc neighbour replace 10.0.6.1 lladdr 02:54:42:00:00:0c dev eth2 nud permanent
ip -n tb-sa-dc neighbour replace 10.0.9.2 lladdr 02:54:42:00:00:13 dev eth3 nud permanent
ip -n tb-sa-dc route replace 10.0.1.0/24 via 10.0.5.1 dev eth1
ip -n tb-sa-dc route replace 10.0.4.0/24 via 10.0.5.1 dev eth1
ip -n tb-sa-dc route replace 10.0.8.0/24 via 10.0.5.1 dev eth1
ip -n tb-sa-dc route replace 10.0.0.0/24 via 10.0.6.1 dev eth2
ip -n tb-sa-dc route replace 10.0.7.0/24 via 10.0.6.1 dev eth2
ip -n tb-sa-dc route replace 10.0.3.0/24 via 10.0.9.2 dev eth3
ip netns exec tb-ap-dc sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-ap-dc sh -c 'echo 1 > /proc/sys/net/ipv4/ip_forward'
ip netns exec tb-ap-dc sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/forwarding'
ip netns exec tb-ap-dc sh -c 'echo 0 > /proc/sys/net/ipv4/conf/all/rp_filter'
ip netns exec tb-ap-dc sh -c 'echo 0 > /proc/sys/net/ipv4/conf/all/send_redirects'
ip netns exec tb-ap-dc sh -c 'echo 0 > /proc/sys/net/ipv4/conf/default/send_redirects'
ip netns exec tb-ap-dc sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth0/send_redirects'
ip netns exec tb-ap-dc sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth1/send_redirects'
ip netns exec tb-ap-dc sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth2/send_redirects'
ip netns exec tb-ap-dc sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth3/send_redirects'
ip -n tb-ap-dc address add 10.0.3.2/24 dev eth0
ip -n tb-ap-dc address add 10.0.7.2/24 dev eth1
ip -n tb-ap-dc address add 10.0.8.2/24 dev eth2
ip -n tb-ap-dc address add 10.0.9.2/24 dev eth3
ip -n tb-ap-dc link set lo up
ip -n tb-ap-dc link set eth0 up
ip -n tb-ap-dc link set eth1 up
ip -n tb-ap-dc link set eth2 up
ip -n tb-ap-dc link set eth3 up
ip -n tb-ap-dc neighbour replace 10.0.3.1 lladdr 02:54:42:00:00:06 dev eth0 nud permanent
ip -n tb-ap-dc neighbour replace 10.0.7.1 lladdr 02:54:42:00:00:0e dev eth1 nud permanent
ip -n tb-ap-dc neighbour replace 10.0.8.1 lladdr 02:54:42:00:00:10 dev eth2 nud permanent
ip -n tb-ap-dc neighbour replace 10.0.9.1 lladdr 02:54:42:00:00:12 dev eth3 nud permanent
ip -n tb-ap-dc route replace 10.0.0.0/24 via 10.0.7.1 dev eth1
ip -n tb-ap-dc route replace 10.0.4.0/24 via 10.0.7.1 dev eth1
ip -n tb-ap-dc route replace 10.0.6.0/24 via 10.0.7.1 dev eth1
ip -n tb-ap-dc route replace 10.0.1.0/24 via 10.0.8.1 dev eth2
ip -n tb-ap-dc route replace 10.0.5.0/24 via 10.0.8.1 dev eth2
ip -n tb-ap-dc route replace 10.0.2.0/24 via 10.0.9.1 dev eth3
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
ip netns exec tb-eu-us.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-us-sa.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-eu-sa.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-eu-ap.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-us-ap.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-sa-ap.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
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
ip -n tb-eu-us.emulator link set end0 up
ip -n tb-eu-us.emulator link set end1 up
ip -n tb-eu-us.emulator link set wire0 up
ip -n tb-eu-us.emulator link set wire1 up
ip -n tb-us-sa.emulator link set end0 up
ip -n tb-us-sa.emulator link set end1 up
ip -n tb-us-sa.emulator link set wire0 up
ip -n tb-us-sa.emulator link set wire1 up
ip -n tb-eu-sa.emulator link set end0 up
ip -n tb-eu-sa.emulator link set end1 up
ip -n tb-eu-sa.emulator link set wire0 up
ip -n tb-eu-sa.emulator link set wire1 up
ip -n tb-eu-ap.emulator link set end0 up
ip -n tb-eu-ap.emulator link set end1 up
ip -n tb-eu-ap.emulator link set wire0 up
ip -n tb-eu-ap.emulator link set wire1 up
ip -n tb-us-ap.emulator link set end0 up
ip -n tb-us-ap.emulator link set end1 up
ip -n tb-us-ap.emulator link set wire0 up
ip -n tb-us-ap.emulator link set wire1 up
ip -n tb-sa-ap.emulator link set end0 up
ip -n tb-sa-ap.emulator link set end1 up
ip -n tb-sa-ap.emulator link set wire0 up
ip -n tb-sa-ap.emulator link set wire1 up
ip netns exec tb-eu-access.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-eu-access.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-eu-access.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-eu-access.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-eu-access.emulator qdisc add dev end1 root handle 2: tbf rate 1000000000bit burst 2271 limit 1514
tc -n tb-eu-access.emulator qdisc add dev end1 parent 2:1 handle 3: pfifo limit 1000
tc -n tb-eu-access.emulator qdisc add dev end0 root handle 2: tbf rate 1000000000bit burst 2271 limit 1514
tc -n tb-eu-access.emulator qdisc add dev end0 parent 2:1 handle 3: pfifo limit 1000
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
tc -n tb-us-access.emulator qdisc add dev end1 root handle 2: tbf rate 1000000000bit burst 2271 limit 1514
tc -n tb-us-access.emulator qdisc add dev end1 parent 2:1 handle 3: pfifo limit 1000
tc -n tb-us-access.emulator qdisc add dev end0 root handle 2: tbf rate 1000000000bit burst 2271 limit 1514
tc -n tb-us-access.emulator qdisc add dev end0 parent 2:1 handle 3: pfifo limit 1000
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
tc -n tb-sa-access.emulator qdisc add dev end1 root handle 2: tbf rate 1000000000bit burst 2271 limit 1514
tc -n tb-sa-access.emulator qdisc add dev end1 parent 2:1 handle 3: pfifo limit 1000
tc -n tb-sa-access.emulator qdisc add dev end0 root handle 2: tbf rate 1000000000bit burst 2271 limit 1514
tc -n tb-sa-access.emulator qdisc add dev end0 parent 2:1 handle 3: pfifo limit 1000
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
tc -n tb-ap-access.emulator qdisc add dev end1 root handle 2: tbf rate 1000000000bit burst 2271 limit 1514
tc -n tb-ap-access.emulator qdisc add dev end1 parent 2:1 handle 3: pfifo limit 1000
tc -n tb-ap-access.emulator qdisc add dev end0 root handle 2: tbf rate 1000000000bit burst 2271 limit 1514
tc -n tb-ap-access.emulator qdisc add dev end0 parent 2:1 handle 3: pfifo limit 1000
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
ip netns exec tb-eu-us.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-eu-us.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-eu-us.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-eu-us.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-eu-us.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 40000us
tc -n tb-eu-us.emulator qdisc add dev end1 root handle 2: tbf rate 167290000bit burst 2271 limit 1672900
tc -n tb-eu-us.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 40000us
tc -n tb-eu-us.emulator qdisc add dev end0 root handle 2: tbf rate 179420000bit burst 2271 limit 1794200
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
ip netns exec tb-us-sa.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-us-sa.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-us-sa.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-us-sa.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-us-sa.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 62500us
tc -n tb-us-sa.emulator qdisc add dev end1 root handle 2: tbf rate 105080000bit burst 2271 limit 1641875
tc -n tb-us-sa.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 62500us
tc -n tb-us-sa.emulator qdisc add dev end0 root handle 2: tbf rate 102990000bit burst 2271 limit 1609218
ip netns exec tb-us-sa.emulator nft 'add table netdev testbed'
ip netns exec tb-us-sa.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-us-sa.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-us-sa.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-us-sa.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-us-sa.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-us-sa.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-us-sa.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-us-sa.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-us-sa.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-us-sa.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-us-sa.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-us-sa.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-us-sa.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-us-sa.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-us-sa.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-us-sa.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-us-sa.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-us-sa.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-us-sa.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-us-sa.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-us-sa.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-us-sa.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-us-sa.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-us-sa.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-eu-sa.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-eu-sa.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-eu-sa.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-eu-sa.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-eu-sa.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 95000us
tc -n tb-eu-sa.emulator qdisc add dev end1 root handle 2: tbf rate 50190000bit burst 2271 limit 1192012
tc -n tb-eu-sa.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 95000us
tc -n tb-eu-sa.emulator qdisc add dev end0 root handle 2: tbf rate 48100000bit burst 2271 limit 1142375
ip netns exec tb-eu-sa.emulator nft 'add table netdev testbed'
ip netns exec tb-eu-sa.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-eu-sa.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-eu-sa.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-eu-sa.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-eu-sa.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-eu-sa.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-eu-sa.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-eu-sa.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-eu-sa.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-eu-sa.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-eu-sa.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-eu-sa.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-eu-sa.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-eu-sa.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-eu-sa.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-eu-sa.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-eu-sa.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-eu-sa.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-eu-sa.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-eu-sa.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-eu-sa.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-eu-sa.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-eu-sa.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-eu-sa.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-eu-ap.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-eu-ap.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-eu-ap.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-eu-ap.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-eu-ap.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 100500us
tc -n tb-eu-ap.emulator qdisc add dev end1 root handle 2: tbf rate 69010000bit burst 2271 limit 1733876
tc -n tb-eu-ap.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 100500us
tc -n tb-eu-ap.emulator qdisc add dev end0 root handle 2: tbf rate 66920000bit burst 2271 limit 1681365
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
ip netns exec tb-us-ap.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-us-ap.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-us-ap.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-us-ap.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-us-ap.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 117500us
tc -n tb-us-ap.emulator qdisc add dev end1 root handle 2: tbf rate 60640000bit burst 2271 limit 1781300
tc -n tb-us-ap.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 117500us
tc -n tb-us-ap.emulator qdisc add dev end0 root handle 2: tbf rate 58550000bit burst 2271 limit 1719906
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
ip netns exec tb-sa-ap.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-sa-ap.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-sa-ap.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-sa-ap.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-sa-ap.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 166320us
tc -n tb-sa-ap.emulator qdisc add dev end1 root handle 2: tbf rate 34500000bit burst 2271 limit 1434510
tc -n tb-sa-ap.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 166320us
tc -n tb-sa-ap.emulator qdisc add dev end0 root handle 2: tbf rate 33460000bit burst 2271 limit 1391266
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

# To take it down:
#   ip netns exec tb-sa-ap.emulator nft 'delete table netdev testbed'
#   tc -n tb-sa-ap.emulator qdisc del dev end0 root
#   tc -n tb-sa-ap.emulator qdisc del dev wire1 root
#   tc -n tb-sa-ap.emulator qdisc del dev end1 root
#   tc -n tb-sa-ap.emulator qdisc del dev wire0 root
#   ip netns exec tb-us-ap.emulator nft 'delete table netdev testbed'
#   tc -n tb-us-ap.emulator qdisc del dev end0 root
#   tc -n tb-us-ap.emulator qdisc del dev wire1 root
#   tc -n tb-us-ap.emulator qdisc del dev end1 root
#   tc -n tb-us-ap.emulator qdisc del dev wire0 root
#   ip netns exec tb-eu-ap.emulator nft 'delete table netdev testbed'
#   tc -n tb-eu-ap.emulator qdisc del dev end0 root
#   tc -n tb-eu-ap.emulator qdisc del dev wire1 root
#   tc -n tb-eu-ap.emulator qdisc del dev end1 root
#   tc -n tb-eu-ap.emulator qdisc del dev wire0 root
#   ip netns exec tb-eu-sa.emulator nft 'delete table netdev testbed'
#   tc -n tb-eu-sa.emulator qdisc del dev end0 root
#   tc -n tb-eu-sa.emulator qdisc del dev wire1 root
#   tc -n tb-eu-sa.emulator qdisc del dev end1 root
#   tc -n tb-eu-sa.emulator qdisc del dev wire0 root
#   ip netns exec tb-us-sa.emulator nft 'delete table netdev testbed'
#   tc -n tb-us-sa.emulator qdisc del dev end0 root
#   tc -n tb-us-sa.emulator qdisc del dev wire1 root
#   tc -n tb-us-sa.emulator qdisc del dev end1 root
#   tc -n tb-us-sa.emulator qdisc del dev wire0 root
#   ip netns exec tb-eu-us.emulator nft 'delete table netdev testbed'
#   tc -n tb-eu-us.emulator qdisc del dev end0 root
#   tc -n tb-eu-us.emulator qdisc del dev wire1 root
#   tc -n tb-eu-us.emulator qdisc del dev end1 root
#   tc -n tb-eu-us.emulator qdisc del dev wire0 root
#   ip netns exec tb-ap-access.emulator nft 'delete table netdev testbed'
#   tc -n tb-ap-access.emulator qdisc del dev end0 root
#   tc -n tb-ap-access.emulator qdisc del dev end1 root
#   ip netns exec tb-sa-access.emulator nft 'delete table netdev testbed'
#   tc -n tb-sa-access.emulator qdisc del dev end0 root
#   tc -n tb-sa-access.emulator qdisc del dev end1 root
#   ip netns exec tb-us-access.emulator nft 'delete table netdev testbed'
#   tc -n tb-us-access.emulator qdisc del dev end0 root
#   tc -n tb-us-access.emulator qdisc del dev end1 root
#   ip netns exec tb-eu-access.emulator nft 'delete table netdev testbed'
#   tc -n tb-eu-access.emulator qdisc del dev end0 root
#   tc -n tb-eu-access.emulator qdisc del dev end1 root
#   ip netns del tb-sa-ap.emulator
#   ip netns del tb-us-ap.emulator
#   ip netns del tb-eu-ap.emulator
#   ip netns del tb-eu-sa.emulator
#   ip netns del tb-us-sa.emulator
#   ip netns del tb-eu-us.emulator
#   ip netns del tb-ap-access.emulator
#   ip netns del tb-sa-access.emulator
#   ip netns del tb-us-access.emulator
#   ip netns del tb-eu-access.emulator
#   ip netns del tb-ap-dc
#   ip netns del tb-sa-dc
#   ip netns del tb-us-dc
#   ip netns del tb-eu-dc
#   ip netns del tb-ap
#   ip netns del tb-sa
#   ip netns del tb-us
#   ip netns del tb-eu
