#!/bin/sh -e
printf %s '{"pid_file": "/run/tb-mininet.mininet", "hosts": [{"name": "left", "netns": "tb-left", "kind": "host"}, {"name": "right", "netns": "tb-right", "kind": "host"}], "switches": [{"name": "switch", "netns": "tb-switch", "kind": "bridge", "options": {"stp": false, "vlans": false}}], "links": [{"ends": [{"node": "left", "device": "eth0", "mac": "02:54:42:00:00:00"}, {"node": "switch", "device": "eth0", "mac": "02:54:42:00:00:01"}], "mtu_bytes": 1500, "tc": {"bw": 1000.0, "max_queue_size": 100}}, {"ends": [{"node": "switch", "device": "eth1", "mac": "02:54:42:00:00:02"}, {"node": "right", "device": "eth0", "mac": "02:54:42:00:00:03"}], "mtu_bytes": 1500, "tc": {"bw": 1000.0, "max_queue_size": 100}}]}' | /usr/bin/python3 -EsB "${TESTBED:-testbed}/agent/mininet_driver.py" build .
ip netns exec tb-left sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-left sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-left sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-left sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-left address add 10.0.0.1/24 dev eth0
ip -n tb-left link set lo up
ip -n tb-left link set eth0 up
ip -n tb-left neighbour replace 10.0.0.2 lladdr 02:54:42:00:00:03 dev eth0 nud permanent
ip netns exec tb-right sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-right sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-right sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-right sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-right address add 10.0.0.2/24 dev eth0
ip -n tb-right link set lo up
ip -n tb-right link set eth0 up
ip -n tb-right neighbour replace 10.0.0.1 lladdr 02:54:42:00:00:00 dev eth0 nud permanent
ip netns exec tb-switch sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-switch link set lo up
ip -n tb-switch link set eth0 up
ip -n tb-switch link set eth1 up
ip netns exec tb-left ethtool -K eth0 tso off gso off tx-udp-segmentation off gro off
ip -n tb-left link set dev eth0 gso_max_segs 1
ip netns exec tb-right ethtool -K eth0 tso off gso off tx-udp-segmentation off gro off
ip -n tb-right link set dev eth0 gso_max_segs 1

# To take it down:
#   /usr/bin/python3 -EsB "${TESTBED:-testbed}/agent/mininet_driver.py" remove /run/tb-mininet.mininet
