#!/bin/sh -e
printf %s '{"pid_file": "/run/tb-mininet.mininet", "hosts": [{"name": "one", "netns": "tb-one", "kind": "host"}, {"name": "two", "netns": "tb-two", "kind": "host"}, {"name": "between", "netns": "tb-between", "kind": "node"}, {"name": "tb-fast.emulator", "netns": "tb-fast.emulator", "kind": "node"}], "switches": [{"name": "left", "netns": "tb-left", "kind": "bridge", "options": {"stp": false, "vlans": false}}, {"name": "right", "netns": "tb-right", "kind": "bridge", "options": {"stp": true, "vlans": false}}], "links": [{"ends": [{"node": "one", "device": "eth0", "mac": "02:54:42:00:00:00"}, {"node": "left", "device": "eth0", "mac": "02:54:42:00:00:01"}], "mtu_bytes": 1500, "tc": null}, {"ends": [{"node": "left", "device": "eth1", "mac": "02:54:42:00:00:02"}, {"node": "right", "device": "eth0", "mac": "02:54:42:00:00:03"}], "mtu_bytes": 1500, "tc": {"delay": "10000us", "max_queue_size": 2147483647}}, {"ends": [{"node": "right", "device": "eth1", "mac": "02:54:42:00:00:04"}, {"node": "between", "device": "eth0", "mac": "02:54:42:00:00:05"}], "mtu_bytes": 1500, "tc": {"bw": 100.0, "delay": "5000us", "max_queue_size": 142}}, {"ends": [{"node": "two", "device": "eth0", "mac": "02:54:42:00:00:06"}, {"node": "left", "device": "eth2", "mac": "02:54:42:00:00:07"}], "mtu_bytes": 1500, "tc": {"bw": 10.0, "max_queue_size": 50}}, {"ends": [{"node": "between", "device": "eth1", "mac": "02:54:42:00:00:08"}, {"node": "tb-fast.emulator", "device": "end0", "mac": "02:54:43:00:00:08"}], "mtu_bytes": 9000, "tc": null}, {"ends": [{"node": "tb-fast.emulator", "device": "end1", "mac": "02:54:43:00:00:09"}, {"node": "two", "device": "eth1", "mac": "02:54:42:00:00:09"}], "mtu_bytes": 9000, "tc": null}]}' | /usr/bin/python3 -EsB "${TESTBED:-testbed}/agent/mininet_driver.py" build .
ip link add name wire0 mtu 9000 netns tb-fast.emulator type veth peer name wire1 mtu 9000 netns tb-fast.emulator
ip netns exec tb-one sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-one sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-one sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-one sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-one address add 10.0.0.1/24 dev eth0
ip -n tb-one link set lo up
ip -n tb-one link set eth0 up
ip -n tb-one neighbour replace 10.0.0.2 lladdr 02:54:42:00:00:05 dev eth0 nud permanent
ip -n tb-one neighbour replace 10.0.0.3 lladdr 02:54:42:00:00:06 dev eth0 nud permanent
ip -n tb-one route replace default via 10.0.0.2 dev eth0
ip netns exec tb-two sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-two sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-two sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-two sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-two address add 10.0.0.3/24 dev eth0
ip -n tb-two address add 10.0.1.2/24 dev eth1
ip -n tb-two link set lo up
ip -n tb-two link set eth0 up
ip -n tb-two link set eth1 up
ip -n tb-two neighbour replace 10.0.0.1 lladdr 02:54:42:00:00:00 dev eth0 nud permanent
ip -n tb-two neighbour replace 10.0.0.2 lladdr 02:54:42:00:00:05 dev eth0 nud permanent
ip -n tb-two neighbour replace 10.0.1.1 lladdr 02:54:42:00:00:08 dev eth1 nud permanent
ip netns exec tb-left sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-left link set lo up
ip -n tb-left link set eth0 up
ip -n tb-left link set eth1 up
ip -n tb-left link set eth2 up
ip netns exec tb-right sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-right link set lo up
ip -n tb-right link set eth0 up
ip -n tb-right link set eth1 up
ip netns exec tb-between sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-between sh -c 'echo 1 > /proc/sys/net/ipv4/ip_forward'
ip netns exec tb-between sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/forwarding'
ip netns exec tb-between sh -c 'echo 0 > /proc/sys/net/ipv4/conf/all/rp_filter'
ip netns exec tb-between sh -c 'echo 0 > /proc/sys/net/ipv4/conf/all/send_redirects'
ip netns exec tb-between sh -c 'echo 0 > /proc/sys/net/ipv4/conf/default/send_redirects'
ip netns exec tb-between sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth0/send_redirects'
ip netns exec tb-between sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth1/send_redirects'
ip -n tb-between address add 10.0.0.2/24 dev eth0
ip -n tb-between address add 10.0.1.1/24 dev eth1
ip -n tb-between link set lo up
ip -n tb-between link set eth0 up
ip -n tb-between link set eth1 up
ip -n tb-between neighbour replace 10.0.0.1 lladdr 02:54:42:00:00:00 dev eth0 nud permanent
ip -n tb-between neighbour replace 10.0.0.3 lladdr 02:54:42:00:00:06 dev eth0 nud permanent
ip -n tb-between neighbour replace 10.0.1.2 lladdr 02:54:42:00:00:09 dev eth1 nud permanent
ip netns exec tb-one ethtool -K eth0 tso off gso off tx-udp-segmentation off gro off
ip netns exec tb-two ethtool -K eth0 tso off gso off tx-udp-segmentation off gro off
ip -n tb-two link set dev eth0 gso_max_segs 1
ip netns exec tb-two ethtool -K eth1 tso off gso off tx-udp-segmentation off gro off
ip netns exec tb-fast.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-fast.emulator link set end0 up
ip -n tb-fast.emulator link set end1 up
ip -n tb-fast.emulator link set wire0 up
ip -n tb-fast.emulator link set wire1 up
tc -n tb-fast.emulator qdisc add dev end1 root handle 2: tbf rate 10000000000bit burst 13521 limit 901400
tc -n tb-fast.emulator qdisc add dev end0 root handle 2: tbf rate 10000000000bit burst 13521 limit 901400
ip netns exec tb-fast.emulator nft 'add table netdev testbed'
ip netns exec tb-fast.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-fast.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-fast.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-fast.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-fast.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-fast.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-fast.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-fast.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-fast.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-fast.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-fast.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-fast.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-fast.emulator nft 'add rule netdev testbed data-forward meta length > 9000 counter name "oversize-forward"'
ip netns exec tb-fast.emulator nft 'add rule netdev testbed data-forward numgen inc mod 1000 == 999 counter name "dropped-forward" drop'
ip netns exec tb-fast.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-fast.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-fast.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-fast.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-fast.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-fast.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-fast.emulator nft 'add rule netdev testbed data-backward meta length > 9000 counter name "oversize-backward"'
ip netns exec tb-fast.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-fast.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-fast.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-fast.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'

# To take it down:
#   ip netns exec tb-fast.emulator nft 'delete table netdev testbed'
#   tc -n tb-fast.emulator qdisc del dev end0 root
#   tc -n tb-fast.emulator qdisc del dev end1 root
#   /usr/bin/python3 -EsB "${TESTBED:-testbed}/agent/mininet_driver.py" remove /run/tb-mininet.mininet
