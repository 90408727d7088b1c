#!/bin/sh -e
ip netns add tb-staff-1
ip netns add tb-staff-2
ip netns add tb-lab-1
ip netns add tb-lab-2
ip netns add tb-ground-floor
ip netns add tb-first-floor
ip netns add tb-router
ip netns add tb-staff-1-port.emulator
ip netns add tb-lab-1-port.emulator
ip netns add tb-trunk.emulator
ip netns add tb-staff-2-port.emulator
ip netns add tb-lab-2-port.emulator
ip netns add tb-stick.emulator
ip link add name eth0 address 02:54:42:00:00:00 mtu 1500 netns tb-staff-1 type veth peer name end0 mtu 1500 netns tb-staff-1-port.emulator
ip link add name wire0 mtu 1500 netns tb-staff-1-port.emulator type veth peer name wire1 mtu 1500 netns tb-staff-1-port.emulator
ip link add name eth0 address 02:54:42:00:00:01 mtu 1500 netns tb-ground-floor type veth peer name end1 mtu 1500 netns tb-staff-1-port.emulator
ip link add name eth0 address 02:54:42:00:00:02 mtu 1500 netns tb-lab-1 type veth peer name end0 mtu 1500 netns tb-lab-1-port.emulator
ip link add name wire0 mtu 1500 netns tb-lab-1-port.emulator type veth peer name wire1 mtu 1500 netns tb-lab-1-port.emulator
ip link add name eth1 address 02:54:42:00:00:03 mtu 1500 netns tb-ground-floor type veth peer name end1 mtu 1500 netns tb-lab-1-port.emulator
ip link add name eth2 address 02:54:42:00:00:04 mtu 1500 netns tb-ground-floor type veth peer name end0 mtu 1500 netns tb-trunk.emulator
ip link add name wire0 mtu 1500 netns tb-trunk.emulator type veth peer name wire1 mtu 1500 netns tb-trunk.emulator
ip link add name eth0 address 02:54:42:00:00:05 mtu 1500 netns tb-first-floor type veth peer name end1 mtu 1500 netns tb-trunk.emulator
ip link add name eth0 address 02:54:42:00:00:06 mtu 1500 netns tb-staff-2 type veth peer name end0 mtu 1500 netns tb-staff-2-port.emulator
ip link add name wire0 mtu 1500 netns tb-staff-2-port.emulator type veth peer name wire1 mtu 1500 netns tb-staff-2-port.emulator
ip link add name eth1 address 02:54:42:00:00:07 mtu 1500 netns tb-first-floor type veth peer name end1 mtu 1500 netns tb-staff-2-port.emulator
ip link add name eth0 address 02:54:42:00:00:08 mtu 1500 netns tb-lab-2 type veth peer name end0 mtu 1500 netns tb-lab-2-port.emulator
ip link add name wire0 mtu 1500 netns tb-lab-2-port.emulator type veth peer name wire1 mtu 1500 netns tb-lab-2-port.emulator
ip link add name eth2 address 02:54:42:00:00:09 mtu 1500 netns tb-first-floor type veth peer name end1 mtu 1500 netns tb-lab-2-port.emulator
ip link add name eth0 address 02:54:42:00:00:0a mtu 1500 netns tb-router type veth peer name end0 mtu 1500 netns tb-stick.emulator
ip link add name wire0 mtu 1500 netns tb-stick.emulator type veth peer name wire1 mtu 1500 netns tb-stick.emulator
ip link add name eth3 address 02:54:42:00:00:0b mtu 1500 netns tb-first-floor type veth peer name end1 mtu 1500 netns tb-stick.emulator
ip netns exec tb-staff-1 sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-staff-1 sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-staff-1 sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-staff-1 sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-staff-1 address add 10.0.0.1/24 dev eth0
ip -n tb-staff-1 link set lo up
ip -n tb-staff-1 link set eth0 up
ip -n tb-staff-1 neighbour replace 10.0.0.2 lladdr 02:54:42:00:00:06 dev eth0 nud permanent
ip -n tb-staff-1 neighbour replace 10.0.0.3 lladdr 02:54:42:00:00:0a dev eth0 nud permanent
ip -n tb-staff-1 route replace default via 10.0.0.3 dev eth0
ip netns exec tb-staff-2 sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-staff-2 sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-staff-2 sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-staff-2 sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-staff-2 address add 10.0.0.2/24 dev eth0
ip -n tb-staff-2 link set lo up
ip -n tb-staff-2 link set eth0 up
ip -n tb-staff-2 neighbour replace 10.0.0.1 lladdr 02:54:42:00:00:00 dev eth0 nud permanent
ip -n tb-staff-2 neighbour replace 10.0.0.3 lladdr 02:54:42:00:00:0a dev eth0 nud permanent
ip -n tb-staff-2 route replace default via 10.0.0.3 dev eth0
ip netns exec tb-lab-1 sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-lab-1 sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-lab-1 sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-lab-1 sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-lab-1 address add 10.0.1.1/24 dev eth0
ip -n tb-lab-1 link set lo up
ip -n tb-lab-1 link set eth0 up
ip -n tb-lab-1 neighbour replace 10.0.1.2 lladdr 02:54:42:00:00:08 dev eth0 nud permanent
ip -n tb-lab-1 neighbour replace 10.0.1.3 lladdr 02:54:42:00:00:0a dev eth0 nud permanent
ip -n tb-lab-1 route replace default via 10.0.1.3 dev eth0
ip netns exec tb-lab-2 sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-lab-2 sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-lab-2 sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-lab-2 sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-lab-2 address add 10.0.1.2/24 dev eth0
ip -n tb-lab-2 link set lo up
ip -n tb-lab-2 link set eth0 up
ip -n tb-lab-2 neighbour replace 10.0.1.1 lladdr 02:54:42:00:00:02 dev eth0 nud permanent
ip -n tb-lab-2 neighbour replace 10.0.1.3 lladdr 02:54:42:00:00:0a dev eth0 nud permanent
ip -n tb-lab-2 route replace default via 10.0.1.3 dev eth0
ip netns exec tb-ground-floor sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-ground-floor link add br0 type bridge stp_state 0 mcast_snooping 0 vlan_filtering 1 vlan_default_pvid 0
ip -n tb-ground-floor link set eth0 master br0
ip -n tb-ground-floor link set eth1 master br0
ip -n tb-ground-floor link set eth2 master br0
bridge -n tb-ground-floor vlan add dev eth0 vid 10 pvid untagged
bridge -n tb-ground-floor vlan add dev eth1 vid 20 pvid untagged
bridge -n tb-ground-floor vlan add dev eth2 vid 10
bridge -n tb-ground-floor vlan add dev eth2 vid 20
ip -n tb-ground-floor link set br0 up
ip -n tb-ground-floor link set lo up
ip -n tb-ground-floor link set eth0 up
ip -n tb-ground-floor link set eth1 up
ip -n tb-ground-floor link set eth2 up
ip netns exec tb-first-floor sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-first-floor link add br0 type bridge stp_state 0 mcast_snooping 0 vlan_filtering 1 vlan_default_pvid 0
ip -n tb-first-floor link set eth0 master br0
ip -n tb-first-floor link set eth1 master br0
ip -n tb-first-floor link set eth2 master br0
ip -n tb-first-floor link set eth3 master br0
bridge -n tb-first-floor vlan add dev eth1 vid 10 pvid untagged
bridge -n tb-first-floor vlan add dev eth2 vid 20 pvid untagged
bridge -n tb-first-floor vlan add dev eth0 vid 10
bridge -n tb-first-floor vlan add dev eth0 vid 20
bridge -n tb-first-floor vlan add dev eth3 vid 10
bridge -n tb-first-floor vlan add dev eth3 vid 20
ip -n tb-first-floor link set br0 up
ip -n tb-first-floor link set lo up
ip -n tb-first-floor link set eth0 up
ip -n tb-first-floor link set eth1 up
ip -n tb-first-floor link set eth2 up
ip -n tb-first-floor link set eth3 up
ip netns exec tb-router sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-router sh -c 'echo 1 > /proc/sys/net/ipv4/ip_forward'
ip netns exec tb-router sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/forwarding'
ip netns exec tb-router sh -c 'echo 0 > /proc/sys/net/ipv4/conf/all/rp_filter'
ip netns exec tb-router sh -c 'echo 0 > /proc/sys/net/ipv4/conf/all/send_redirects'
ip netns exec tb-router sh -c 'echo 0 > /proc/sys/net/ipv4/conf/default/send_redirects'
ip netns exec tb-router sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth0/send_redirects'
ip -n tb-router link add link eth0 name eth0.10 type vlan protocol 802.1Q id 10
ip -n tb-router link add link eth0 name eth0.20 type vlan protocol 802.1Q id 20
ip -n tb-router address add 10.0.0.3/24 dev eth0.10
ip -n tb-router address add 10.0.1.3/24 dev eth0.20
ip -n tb-router link set lo up
ip -n tb-router link set eth0 up
ip -n tb-router link set eth0.10 up
ip -n tb-router link set eth0.20 up
ip -n tb-router neighbour replace 10.0.0.1 lladdr 02:54:42:00:00:00 dev eth0.10 nud permanent
ip -n tb-router neighbour replace 10.0.0.2 lladdr 02:54:42:00:00:06 dev eth0.10 nud permanent
ip -n tb-router neighbour replace 10.0.1.1 lladdr 02:54:42:00:00:02 dev eth0.20 nud permanent
ip -n tb-router neighbour replace 10.0.1.2 lladdr 02:54:42:00:00:08 dev eth0.20 nud permanent
ip netns exec tb-staff-1 ethtool -K eth0 gro on
ip netns exec tb-staff-1 sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-staff-1 sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-staff-2 ethtool -K eth0 gro on
ip netns exec tb-staff-2 sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-staff-2 sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-lab-1 ethtool -K eth0 gro on
ip netns exec tb-lab-1 sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-lab-1 sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-lab-2 ethtool -K eth0 gro on
ip netns exec tb-lab-2 sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-lab-2 sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-staff-1-port.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-lab-1-port.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-trunk.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-staff-2-port.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-lab-2-port.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-stick.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-staff-1-port.emulator link set end0 up
ip -n tb-staff-1-port.emulator link set end1 up
ip -n tb-staff-1-port.emulator link set wire0 up
ip -n tb-staff-1-port.emulator link set wire1 up
ip -n tb-lab-1-port.emulator link set end0 up
ip -n tb-lab-1-port.emulator link set end1 up
ip -n tb-lab-1-port.emulator link set wire0 up
ip -n tb-lab-1-port.emulator link set wire1 up
ip -n tb-trunk.emulator link set end0 up
ip -n tb-trunk.emulator link set end1 up
ip -n tb-trunk.emulator link set wire0 up
ip -n tb-trunk.emulator link set wire1 up
ip -n tb-staff-2-port.emulator link set end0 up
ip -n tb-staff-2-port.emulator link set end1 up
ip -n tb-staff-2-port.emulator link set wire0 up
ip -n tb-staff-2-port.emulator link set wire1 up
ip -n tb-lab-2-port.emulator link set end0 up
ip -n tb-lab-2-port.emulator link set end1 up
ip -n tb-lab-2-port.emulator link set wire0 up
ip -n tb-lab-2-port.emulator link set wire1 up
ip -n tb-stick.emulator link set end0 up
ip -n tb-stick.emulator link set end1 up
ip -n tb-stick.emulator link set wire0 up
ip -n tb-stick.emulator link set wire1 up
ip netns exec tb-staff-1-port.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-staff-1-port.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-staff-1-port.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-staff-1-port.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-staff-1-port.emulator qdisc add dev end0 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
ip netns exec tb-staff-1-port.emulator nft 'add table netdev testbed'
ip netns exec tb-staff-1-port.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-staff-1-port.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-staff-1-port.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-staff-1-port.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-staff-1-port.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-staff-1-port.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-staff-1-port.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-staff-1-port.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-staff-1-port.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-staff-1-port.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-staff-1-port.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-staff-1-port.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-staff-1-port.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-staff-1-port.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-staff-1-port.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-staff-1-port.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-staff-1-port.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-staff-1-port.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-staff-1-port.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-staff-1-port.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-staff-1-port.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-staff-1-port.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-staff-1-port.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-staff-1-port.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-lab-1-port.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-lab-1-port.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-lab-1-port.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-lab-1-port.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-lab-1-port.emulator qdisc add dev end0 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
ip netns exec tb-lab-1-port.emulator nft 'add table netdev testbed'
ip netns exec tb-lab-1-port.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-lab-1-port.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-lab-1-port.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-lab-1-port.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-lab-1-port.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-lab-1-port.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-lab-1-port.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-lab-1-port.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-lab-1-port.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-lab-1-port.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-lab-1-port.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-lab-1-port.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-lab-1-port.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-lab-1-port.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-lab-1-port.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-lab-1-port.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-lab-1-port.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-lab-1-port.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-lab-1-port.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-lab-1-port.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-lab-1-port.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-lab-1-port.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-lab-1-port.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-lab-1-port.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-trunk.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-trunk.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-trunk.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-trunk.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-trunk.emulator qdisc add dev end1 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
tc -n tb-trunk.emulator qdisc add dev end0 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
ip netns exec tb-trunk.emulator nft 'add table netdev testbed'
ip netns exec tb-trunk.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-trunk.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-trunk.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-trunk.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-trunk.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-trunk.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-trunk.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-trunk.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-trunk.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-trunk.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-trunk.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-trunk.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-trunk.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-trunk.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-trunk.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-trunk.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-trunk.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-trunk.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-trunk.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-trunk.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-trunk.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-trunk.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-trunk.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-trunk.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-staff-2-port.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-staff-2-port.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-staff-2-port.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-staff-2-port.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-staff-2-port.emulator qdisc add dev end0 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
ip netns exec tb-staff-2-port.emulator nft 'add table netdev testbed'
ip netns exec tb-staff-2-port.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-staff-2-port.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-staff-2-port.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-staff-2-port.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-staff-2-port.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-staff-2-port.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-staff-2-port.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-staff-2-port.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-staff-2-port.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-staff-2-port.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-staff-2-port.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-staff-2-port.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-staff-2-port.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-staff-2-port.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-staff-2-port.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-staff-2-port.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-staff-2-port.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-staff-2-port.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-staff-2-port.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-staff-2-port.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-staff-2-port.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-staff-2-port.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-staff-2-port.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-staff-2-port.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-lab-2-port.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-lab-2-port.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-lab-2-port.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-lab-2-port.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-lab-2-port.emulator qdisc add dev end0 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
ip netns exec tb-lab-2-port.emulator nft 'add table netdev testbed'
ip netns exec tb-lab-2-port.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-lab-2-port.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-lab-2-port.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-lab-2-port.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-lab-2-port.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-lab-2-port.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-lab-2-port.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-lab-2-port.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-lab-2-port.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-lab-2-port.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-lab-2-port.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-lab-2-port.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-lab-2-port.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-lab-2-port.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-lab-2-port.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-lab-2-port.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-lab-2-port.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-lab-2-port.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-lab-2-port.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-lab-2-port.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-lab-2-port.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-lab-2-port.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-lab-2-port.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-lab-2-port.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-stick.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-stick.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-stick.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-stick.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-stick.emulator qdisc add dev end1 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
tc -n tb-stick.emulator qdisc add dev end0 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
ip netns exec tb-stick.emulator nft 'add table netdev testbed'
ip netns exec tb-stick.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-stick.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-stick.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-stick.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-stick.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-stick.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-stick.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-stick.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-stick.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-stick.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-stick.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-stick.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-stick.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-stick.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-stick.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-stick.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-stick.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-stick.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-stick.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-stick.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-stick.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-stick.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-stick.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-stick.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'

# To take it down:
#   ip netns exec tb-stick.emulator nft 'delete table netdev testbed'
#   tc -n tb-stick.emulator qdisc del dev end0 root
#   tc -n tb-stick.emulator qdisc del dev end1 root
#   ip netns exec tb-lab-2-port.emulator nft 'delete table netdev testbed'
#   tc -n tb-lab-2-port.emulator qdisc del dev end0 root
#   ip netns exec tb-staff-2-port.emulator nft 'delete table netdev testbed'
#   tc -n tb-staff-2-port.emulator qdisc del dev end0 root
#   ip netns exec tb-trunk.emulator nft 'delete table netdev testbed'
#   tc -n tb-trunk.emulator qdisc del dev end0 root
#   tc -n tb-trunk.emulator qdisc del dev end1 root
#   ip netns exec tb-lab-1-port.emulator nft 'delete table netdev testbed'
#   tc -n tb-lab-1-port.emulator qdisc del dev end0 root
#   ip netns exec tb-staff-1-port.emulator nft 'delete table netdev testbed'
#   tc -n tb-staff-1-port.emulator qdisc del dev end0 root
#   ip -n tb-first-floor link del br0
#   ip -n tb-ground-floor link del br0
#   ip netns del tb-stick.emulator
#   ip netns del tb-lab-2-port.emulator
#   ip netns del tb-staff-2-port.emulator
#   ip netns del tb-trunk.emulator
#   ip netns del tb-lab-1-port.emulator
#   ip netns del tb-staff-1-port.emulator
#   ip netns del tb-router
#   ip netns del tb-first-floor
#   ip netns del tb-ground-floor
#   ip netns del tb-lab-2
#   ip netns del tb-lab-1
#   ip netns del tb-staff-2
#   ip netns del tb-staff-1
