#!/bin/sh -e
printf %s '{"pid_file": "/run/tb-mininet-campus.mininet", "hosts": [{"name": "h1", "netns": "tb-h1", "kind": "host"}, {"name": "h2", "netns": "tb-h2", "kind": "host"}, {"name": "h3", "netns": "tb-h3", "kind": "host"}, {"name": "h4", "netns": "tb-h4", "kind": "host"}, {"name": "c0", "netns": "tb-c0", "kind": "node"}, {"name": "tb-h1-s2.emulator", "netns": "tb-h1-s2.emulator", "kind": "node"}, {"name": "tb-h2-s2.emulator", "netns": "tb-h2-s2.emulator", "kind": "node"}, {"name": "tb-h3-s3.emulator", "netns": "tb-h3-s3.emulator", "kind": "node"}, {"name": "tb-h4-s3.emulator", "netns": "tb-h4-s3.emulator", "kind": "node"}], "switches": [{"name": "s1", "netns": "tb-s1", "kind": "ovs", "options": {"folder": "/run/tb-ovs/s1", "targets": ["tcp:198.18.0.1:6653"], "dpid": "0000000000000001", "failMode": "secure", "datapath": "kernel", "protocols": "OpenFlow10,OpenFlow11,OpenFlow12,OpenFlow13,OpenFlow14,OpenFlow15", "reconnectms": 1000}}, {"name": "s2", "netns": "tb-s2", "kind": "ovs", "options": {"folder": "/run/tb-ovs/s2", "targets": ["tcp:198.18.0.1:6653"], "dpid": "0000000000000002", "failMode": "secure", "datapath": "kernel", "protocols": "OpenFlow10,OpenFlow11,OpenFlow12,OpenFlow13,OpenFlow14,OpenFlow15", "reconnectms": 1000}}, {"name": "s3", "netns": "tb-s3", "kind": "ovs", "options": {"folder": "/run/tb-ovs/s3", "targets": ["tcp:198.18.0.1:6653"], "dpid": "0000000000000003", "failMode": "secure", "datapath": "kernel", "protocols": "OpenFlow10,OpenFlow11,OpenFlow12,OpenFlow13,OpenFlow14,OpenFlow15", "reconnectms": 1000}}], "links": [{"ends": [{"node": "s2", "device": "eth0", "mac": "02:54:42:00:00:00"}, {"node": "s1", "device": "eth0", "mac": "02:54:42:00:00:01"}], "mtu_bytes": 1500, "tc": {"bw": 1000.0, "delay": "1000us", "max_queue_size": 249}}, {"ends": [{"node": "h1", "device": "eth0", "mac": "02:54:42:00:00:02"}, {"node": "tb-h1-s2.emulator", "device": "end0", "mac": "02:54:43:00:00:02"}], "mtu_bytes": 1500, "tc": null}, {"ends": [{"node": "tb-h1-s2.emulator", "device": "end1", "mac": "02:54:43:00:00:03"}, {"node": "s2", "device": "eth1", "mac": "02:54:42:00:00:03"}], "mtu_bytes": 1500, "tc": null}, {"ends": [{"node": "h2", "device": "eth0", "mac": "02:54:42:00:00:04"}, {"node": "tb-h2-s2.emulator", "device": "end0", "mac": "02:54:43:00:00:04"}], "mtu_bytes": 1500, "tc": null}, {"ends": [{"node": "tb-h2-s2.emulator", "device": "end1", "mac": "02:54:43:00:00:05"}, {"node": "s2", "device": "eth2", "mac": "02:54:42:00:00:05"}], "mtu_bytes": 1500, "tc": null}, {"ends": [{"node": "s3", "device": "eth0", "mac": "02:54:42:00:00:06"}, {"node": "s1", "device": "eth1", "mac": "02:54:42:00:00:07"}], "mtu_bytes": 1500, "tc": {"bw": 1000.0, "delay": "1000us", "max_queue_size": 249}}, {"ends": [{"node": "h3", "device": "eth0", "mac": "02:54:42:00:00:08"}, {"node": "tb-h3-s3.emulator", "device": "end0", "mac": "02:54:43:00:00:08"}], "mtu_bytes": 1500, "tc": null}, {"ends": [{"node": "tb-h3-s3.emulator", "device": "end1", "mac": "02:54:43:00:00:09"}, {"node": "s3", "device": "eth1", "mac": "02:54:42:00:00:09"}], "mtu_bytes": 1500, "tc": null}, {"ends": [{"node": "h4", "device": "eth0", "mac": "02:54:42:00:00:0a"}, {"node": "tb-h4-s3.emulator", "device": "end0", "mac": "02:54:43:00:00:0a"}], "mtu_bytes": 1500, "tc": null}, {"ends": [{"node": "tb-h4-s3.emulator", "device": "end1", "mac": "02:54:43:00:00:0b"}, {"node": "s3", "device": "eth2", "mac": "02:54:42:00:00:0b"}], "mtu_bytes": 1500, "tc": null}]}' | /usr/bin/python3 -EsB "${TESTBED:-testbed}/agent/mininet_driver.py" build .
ip link add name wire0 mtu 1500 netns tb-h1-s2.emulator type veth peer name wire1 mtu 1500 netns tb-h1-s2.emulator
ip link add name wire0 mtu 1500 netns tb-h2-s2.emulator type veth peer name wire1 mtu 1500 netns tb-h2-s2.emulator
ip link add name wire0 mtu 1500 netns tb-h3-s3.emulator type veth peer name wire1 mtu 1500 netns tb-h3-s3.emulator
ip link add name wire0 mtu 1500 netns tb-h4-s3.emulator type veth peer name wire1 mtu 1500 netns tb-h4-s3.emulator
ip netns add tb-c0.control
ip netns exec tb-h1 sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-h1 sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-h1 sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-h1 sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-h1 address add 10.0.0.1/8 dev eth0
ip -n tb-h1 link set lo up
ip -n tb-h1 link set eth0 up
ip -n tb-h1 neighbour replace 10.0.0.2 lladdr 02:54:42:00:00:04 dev eth0 nud permanent
ip -n tb-h1 neighbour replace 10.0.0.3 lladdr 02:54:42:00:00:08 dev eth0 nud permanent
ip -n tb-h1 neighbour replace 10.0.0.4 lladdr 02:54:42:00:00:0a dev eth0 nud permanent
ip netns exec tb-h2 sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-h2 sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-h2 sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-h2 sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-h2 address add 10.0.0.2/8 dev eth0
ip -n tb-h2 link set lo up
ip -n tb-h2 link set eth0 up
ip -n tb-h2 neighbour replace 10.0.0.1 lladdr 02:54:42:00:00:02 dev eth0 nud permanent
ip -n tb-h2 neighbour replace 10.0.0.3 lladdr 02:54:42:00:00:08 dev eth0 nud permanent
ip -n tb-h2 neighbour replace 10.0.0.4 lladdr 02:54:42:00:00:0a dev eth0 nud permanent
ip netns exec tb-h3 sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-h3 sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-h3 sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-h3 sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-h3 address add 10.0.0.3/8 dev eth0
ip -n tb-h3 link set lo up
ip -n tb-h3 link set eth0 up
ip -n tb-h3 neighbour replace 10.0.0.1 lladdr 02:54:42:00:00:02 dev eth0 nud permanent
ip -n tb-h3 neighbour replace 10.0.0.2 lladdr 02:54:42:00:00:04 dev eth0 nud permanent
ip -n tb-h3 neighbour replace 10.0.0.4 lladdr 02:54:42:00:00:0a dev eth0 nud permanent
ip netns exec tb-h4 sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-h4 sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-h4 sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-h4 sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-h4 address add 10.0.0.4/8 dev eth0
ip -n tb-h4 link set lo up
ip -n tb-h4 link set eth0 up
ip -n tb-h4 neighbour replace 10.0.0.1 lladdr 02:54:42:00:00:02 dev eth0 nud permanent
ip -n tb-h4 neighbour replace 10.0.0.2 lladdr 02:54:42:00:00:04 dev eth0 nud permanent
ip -n tb-h4 neighbour replace 10.0.0.3 lladdr 02:54:42:00:00:08 dev eth0 nud permanent
ip netns exec tb-s1 sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-s1 link set lo up
ip -n tb-s1 link set eth0 up
ip -n tb-s1 link set eth1 up
ip netns exec tb-s2 sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-s2 link set lo up
ip -n tb-s2 link set eth0 up
ip -n tb-s2 link set eth1 up
ip -n tb-s2 link set eth2 up
ip netns exec tb-s3 sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-s3 link set lo up
ip -n tb-s3 link set eth0 up
ip -n tb-s3 link set eth1 up
ip -n tb-s3 link set eth2 up
ip netns exec tb-c0 sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-c0 link set lo up
ip netns exec tb-h1 ethtool -K eth0 tso off gso off tx-udp-segmentation off gro off
ip netns exec tb-h2 ethtool -K eth0 tso off gso off tx-udp-segmentation off gro off
ip netns exec tb-h3 ethtool -K eth0 tso off gso off tx-udp-segmentation off gro off
ip netns exec tb-h4 ethtool -K eth0 tso off gso off tx-udp-segmentation off gro off
ip link add name ctl0 address 02:54:43:00:00:02 mtu 1500 netns tb-s1 type veth peer name port1 mtu 1500 netns tb-c0.control
ip link add name ctl0 address 02:54:43:00:00:03 mtu 1500 netns tb-s2 type veth peer name port2 mtu 1500 netns tb-c0.control
ip link add name ctl0 address 02:54:43:00:00:04 mtu 1500 netns tb-s3 type veth peer name port3 mtu 1500 netns tb-c0.control
ip link add name uplink mtu 1500 netns tb-c0.control type veth peer name ctl0 address 02:54:43:00:00:01 mtu 1500 netns tb-c0
ip netns exec tb-c0.control sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-c0.control link add br0 type bridge stp_state 0 mcast_snooping 0
ip -n tb-c0.control link set uplink master br0
ip -n tb-c0.control link set port1 master br0
ip -n tb-c0.control link set port2 master br0
ip -n tb-c0.control link set port3 master br0
ip -n tb-c0.control link set br0 up
ip -n tb-c0.control link set uplink up
ip -n tb-c0.control link set port1 up
ip -n tb-c0.control link set port2 up
ip -n tb-c0.control link set port3 up
ip -n tb-c0 address add 198.18.0.1/15 dev ctl0
ip -n tb-c0 link set ctl0 up
ip -n tb-c0 neighbour replace 198.18.0.2 lladdr 02:54:43:00:00:02 dev ctl0 nud permanent
ip -n tb-c0 neighbour replace 198.18.0.3 lladdr 02:54:43:00:00:03 dev ctl0 nud permanent
ip -n tb-c0 neighbour replace 198.18.0.4 lladdr 02:54:43:00:00:04 dev ctl0 nud permanent
ip -n tb-s1 address add 198.18.0.2/15 dev ctl0
ip -n tb-s1 link set ctl0 up
ip -n tb-s1 neighbour replace 198.18.0.1 lladdr 02:54:43:00:00:01 dev ctl0 nud permanent
ip -n tb-s2 address add 198.18.0.3/15 dev ctl0
ip -n tb-s2 link set ctl0 up
ip -n tb-s2 neighbour replace 198.18.0.1 lladdr 02:54:43:00:00:01 dev ctl0 nud permanent
ip -n tb-s3 address add 198.18.0.4/15 dev ctl0
ip -n tb-s3 link set ctl0 up
ip -n tb-s3 neighbour replace 198.18.0.1 lladdr 02:54:43:00:00:01 dev ctl0 nud permanent
ip netns exec tb-h1-s2.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-h2-s2.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-h3-s3.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-h4-s3.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-h1-s2.emulator link set end0 up
ip -n tb-h1-s2.emulator link set end1 up
ip -n tb-h1-s2.emulator link set wire0 up
ip -n tb-h1-s2.emulator link set wire1 up
ip -n tb-h2-s2.emulator link set end0 up
ip -n tb-h2-s2.emulator link set end1 up
ip -n tb-h2-s2.emulator link set wire0 up
ip -n tb-h2-s2.emulator link set wire1 up
ip -n tb-h3-s3.emulator link set end0 up
ip -n tb-h3-s3.emulator link set end1 up
ip -n tb-h3-s3.emulator link set wire0 up
ip -n tb-h3-s3.emulator link set wire1 up
ip -n tb-h4-s3.emulator link set end0 up
ip -n tb-h4-s3.emulator link set end1 up
ip -n tb-h4-s3.emulator link set wire0 up
ip -n tb-h4-s3.emulator link set wire1 up
tc -n tb-h1-s2.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 2000us
tc -n tb-h1-s2.emulator qdisc add dev end1 root handle 2: tbf rate 100000000bit burst 2271 limit 1514
tc -n tb-h1-s2.emulator qdisc add dev end1 parent 2:1 handle 3: pfifo limit 200
tc -n tb-h1-s2.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 2000us
tc -n tb-h1-s2.emulator qdisc add dev end0 root handle 2: tbf rate 100000000bit burst 2271 limit 1514
tc -n tb-h1-s2.emulator qdisc add dev end0 parent 2:1 handle 3: pfifo limit 200
ip netns exec tb-h1-s2.emulator nft 'add table netdev testbed'
ip netns exec tb-h1-s2.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-h1-s2.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-h1-s2.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-h1-s2.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-h1-s2.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-h1-s2.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-h1-s2.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-h1-s2.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-h1-s2.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-h1-s2.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-h1-s2.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-h1-s2.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-h1-s2.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-h1-s2.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-h1-s2.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-h1-s2.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-h1-s2.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-h1-s2.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-h1-s2.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-h1-s2.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-h1-s2.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-h1-s2.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-h1-s2.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-h1-s2.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
tc -n tb-h2-s2.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 2000us
tc -n tb-h2-s2.emulator qdisc add dev end1 root handle 2: tbf rate 100000000bit burst 2271 limit 1514
tc -n tb-h2-s2.emulator qdisc add dev end1 parent 2:1 handle 3: pfifo limit 200
tc -n tb-h2-s2.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 2000us
tc -n tb-h2-s2.emulator qdisc add dev end0 root handle 2: tbf rate 100000000bit burst 2271 limit 1514
tc -n tb-h2-s2.emulator qdisc add dev end0 parent 2:1 handle 3: pfifo limit 200
ip netns exec tb-h2-s2.emulator nft 'add table netdev testbed'
ip netns exec tb-h2-s2.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-h2-s2.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-h2-s2.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-h2-s2.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-h2-s2.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-h2-s2.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-h2-s2.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-h2-s2.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-h2-s2.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-h2-s2.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-h2-s2.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-h2-s2.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-h2-s2.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-h2-s2.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-h2-s2.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-h2-s2.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-h2-s2.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-h2-s2.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-h2-s2.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-h2-s2.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-h2-s2.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-h2-s2.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-h2-s2.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-h2-s2.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
tc -n tb-h3-s3.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 2000us
tc -n tb-h3-s3.emulator qdisc add dev end1 root handle 2: tbf rate 100000000bit burst 2271 limit 1514
tc -n tb-h3-s3.emulator qdisc add dev end1 parent 2:1 handle 3: pfifo limit 200
tc -n tb-h3-s3.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 2000us
tc -n tb-h3-s3.emulator qdisc add dev end0 root handle 2: tbf rate 100000000bit burst 2271 limit 1514
tc -n tb-h3-s3.emulator qdisc add dev end0 parent 2:1 handle 3: pfifo limit 200
ip netns exec tb-h3-s3.emulator nft 'add table netdev testbed'
ip netns exec tb-h3-s3.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-h3-s3.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-h3-s3.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-h3-s3.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-h3-s3.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-h3-s3.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-h3-s3.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-h3-s3.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-h3-s3.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-h3-s3.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-h3-s3.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-h3-s3.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-h3-s3.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-h3-s3.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-h3-s3.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-h3-s3.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-h3-s3.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-h3-s3.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-h3-s3.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-h3-s3.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-h3-s3.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-h3-s3.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-h3-s3.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-h3-s3.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
tc -n tb-h4-s3.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 2000us
tc -n tb-h4-s3.emulator qdisc add dev end1 root handle 2: tbf rate 100000000bit burst 2271 limit 1514
tc -n tb-h4-s3.emulator qdisc add dev end1 parent 2:1 handle 3: pfifo limit 200
tc -n tb-h4-s3.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 2000us
tc -n tb-h4-s3.emulator qdisc add dev end0 root handle 2: tbf rate 100000000bit burst 2271 limit 1514
tc -n tb-h4-s3.emulator qdisc add dev end0 parent 2:1 handle 3: pfifo limit 200
ip netns exec tb-h4-s3.emulator nft 'add table netdev testbed'
ip netns exec tb-h4-s3.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-h4-s3.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-h4-s3.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-h4-s3.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-h4-s3.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-h4-s3.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-h4-s3.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-h4-s3.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-h4-s3.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-h4-s3.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-h4-s3.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-h4-s3.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-h4-s3.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-h4-s3.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-h4-s3.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-h4-s3.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-h4-s3.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-h4-s3.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-h4-s3.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-h4-s3.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-h4-s3.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-h4-s3.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-h4-s3.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-h4-s3.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
mkdir -p /run/tb-ovs/c0
printf %s '{"app": "learning-switch", "is_ours": true, "listen": ["198.18.0.1", 6653], "names": {"1": "s1", "2": "s2", "3": "s3"}, "waits": false}
' | tee /run/tb-ovs/c0/told.json > /dev/null
ip netns exec tb-c0 python3 -m testbed.agent.controller /run/tb-ovs/c0 &
ip netns exec tb-s1 env OVS_RUNDIR=/run/tb-ovs/s1 ovs-vsctl --timeout=30 wait-until controller br0 is_connected=true
ip netns exec tb-s2 env OVS_RUNDIR=/run/tb-ovs/s2 ovs-vsctl --timeout=30 wait-until controller br0 is_connected=true
ip netns exec tb-s3 env OVS_RUNDIR=/run/tb-ovs/s3 ovs-vsctl --timeout=30 wait-until controller br0 is_connected=true

# To take it down:
#   ip netns exec tb-c0 sh -c 'kill -TERM "$(cat /run/tb-ovs/c0/pid)"'
#   rm -r /run/tb-ovs/c0
#   ip netns exec tb-h4-s3.emulator nft 'delete table netdev testbed'
#   tc -n tb-h4-s3.emulator qdisc del dev end0 root
#   tc -n tb-h4-s3.emulator qdisc del dev wire1 root
#   tc -n tb-h4-s3.emulator qdisc del dev end1 root
#   tc -n tb-h4-s3.emulator qdisc del dev wire0 root
#   ip netns exec tb-h3-s3.emulator nft 'delete table netdev testbed'
#   tc -n tb-h3-s3.emulator qdisc del dev end0 root
#   tc -n tb-h3-s3.emulator qdisc del dev wire1 root
#   tc -n tb-h3-s3.emulator qdisc del dev end1 root
#   tc -n tb-h3-s3.emulator qdisc del dev wire0 root
#   ip netns exec tb-h2-s2.emulator nft 'delete table netdev testbed'
#   tc -n tb-h2-s2.emulator qdisc del dev end0 root
#   tc -n tb-h2-s2.emulator qdisc del dev wire1 root
#   tc -n tb-h2-s2.emulator qdisc del dev end1 root
#   tc -n tb-h2-s2.emulator qdisc del dev wire0 root
#   ip netns exec tb-h1-s2.emulator nft 'delete table netdev testbed'
#   tc -n tb-h1-s2.emulator qdisc del dev end0 root
#   tc -n tb-h1-s2.emulator qdisc del dev wire1 root
#   tc -n tb-h1-s2.emulator qdisc del dev end1 root
#   tc -n tb-h1-s2.emulator qdisc del dev wire0 root
#   ip netns del tb-c0.control
#   /usr/bin/python3 -EsB "${TESTBED:-testbed}/agent/mininet_driver.py" remove /run/tb-mininet-campus.mininet
