#!/bin/sh -e
ip netns add tb-left
ip netns add tb-right
ip netns add tb-s1
ip netns add tb-s2
ip netns add tb-c0
ip netns add tb-trunk.emulator
ip netns add tb-c0.control.emulator
ip netns add tb-c0.control
ip link add name eth0 address 02:54:42:00:00:00 mtu 1500 netns tb-left type veth peer name eth0 address 02:54:42:00:00:01 mtu 1500 netns tb-s1
ip link add name eth1 address 02:54:42:00:00:02 mtu 1500 netns tb-s1 type veth peer name end0 mtu 1500 netns tb-trunk.emulator
ip link add name wire0 mtu 1500 netns tb-trunk.emulator type veth peer name wire1 mtu 1500 netns tb-trunk.emulator
ip link add name eth0 address 02:54:42:00:00:03 mtu 1500 netns tb-s2 type veth peer name end1 mtu 1500 netns tb-trunk.emulator
ip link add name eth1 address 02:54:42:00:00:04 mtu 1500 netns tb-s2 type veth peer name eth0 address 02:54:42:00:00:05 mtu 1500 netns tb-right
ip netns exec tb-left sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-left sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-left sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-left sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-left address add 10.0.0.1/24 dev eth0
ip -n tb-left link set lo up
ip -n tb-left link set eth0 up
ip -n tb-left neighbour replace 10.0.0.2 lladdr 02:54:42:00:00:05 dev eth0 nud permanent
ip netns exec tb-right sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-right sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-right sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-right sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-right address add 10.0.0.2/24 dev eth0
ip -n tb-right link set lo up
ip -n tb-right link set eth0 up
ip -n tb-right neighbour replace 10.0.0.1 lladdr 02:54:42:00:00:00 dev eth0 nud permanent
ip netns exec tb-s1 sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-s1 link set lo up
ip -n tb-s1 link set eth0 up
ip -n tb-s1 link set eth1 up
ip netns exec tb-s2 sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-s2 link set lo up
ip -n tb-s2 link set eth0 up
ip -n tb-s2 link set eth1 up
ip netns exec tb-c0 sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-c0 link set lo up
ip netns exec tb-s1 ethtool -K eth0 tso off gso off tx-udp-segmentation off
ip netns exec tb-left ethtool -K eth0 gro on
ip netns exec tb-left sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-left sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-s2 ethtool -K eth1 tso off gso off tx-udp-segmentation off
ip netns exec tb-right ethtool -K eth0 gro on
ip netns exec tb-right sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-right sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip link add name ctl0 address 02:54:43:00:00:02 mtu 1500 netns tb-s1 type veth peer name port1 mtu 1500 netns tb-c0.control
ip link add name ctl0 address 02:54:43:00:00:03 mtu 1500 netns tb-s2 type veth peer name port2 mtu 1500 netns tb-c0.control
ip link add name uplink mtu 1500 netns tb-c0.control type veth peer name end0 mtu 1500 netns tb-c0.control.emulator
ip link add name wire0 mtu 1500 netns tb-c0.control.emulator type veth peer name wire1 mtu 1500 netns tb-c0.control.emulator
ip link add name end1 mtu 1500 netns tb-c0.control.emulator type veth peer name ctl0 address 02:54:43:00:00:01 mtu 1500 netns tb-c0
ip netns exec tb-c0.control sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-c0.control link add br0 type bridge stp_state 0 mcast_snooping 0
ip -n tb-c0.control link set uplink master br0
ip -n tb-c0.control link set port1 master br0
ip -n tb-c0.control link set port2 master br0
ip -n tb-c0.control link set br0 up
ip -n tb-c0.control link set uplink up
ip -n tb-c0.control link set port1 up
ip -n tb-c0.control link set port2 up
ip -n tb-c0 address add 198.18.0.1/15 dev ctl0
ip -n tb-c0 link set ctl0 up
ip -n tb-c0 neighbour replace 198.18.0.2 lladdr 02:54:43:00:00:02 dev ctl0 nud permanent
ip -n tb-c0 neighbour replace 198.18.0.3 lladdr 02:54:43:00:00:03 dev ctl0 nud permanent
ip -n tb-s1 address add 198.18.0.2/15 dev ctl0
ip -n tb-s1 link set ctl0 up
ip -n tb-s1 neighbour replace 198.18.0.1 lladdr 02:54:43:00:00:01 dev ctl0 nud permanent
ip -n tb-s2 address add 198.18.0.3/15 dev ctl0
ip -n tb-s2 link set ctl0 up
ip -n tb-s2 neighbour replace 198.18.0.1 lladdr 02:54:43:00:00:01 dev ctl0 nud permanent
ip netns exec tb-trunk.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-c0.control.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-trunk.emulator link set end0 up
ip -n tb-trunk.emulator link set end1 up
ip -n tb-trunk.emulator link set wire0 up
ip -n tb-trunk.emulator link set wire1 up
ip -n tb-c0.control.emulator link set end0 up
ip -n tb-c0.control.emulator link set end1 up
ip -n tb-c0.control.emulator link set wire0 up
ip -n tb-c0.control.emulator link set wire1 up
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
ip netns exec tb-c0.control.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-c0.control.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-c0.control.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-c0.control.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-c0.control.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 5000us
tc -n tb-c0.control.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 5000us
ip netns exec tb-c0.control.emulator nft 'add table netdev testbed'
ip netns exec tb-c0.control.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-c0.control.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-c0.control.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-c0.control.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-c0.control.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-c0.control.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-c0.control.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-c0.control.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-c0.control.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-c0.control.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-c0.control.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-c0.control.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-c0.control.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-c0.control.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-c0.control.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-c0.control.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-c0.control.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-c0.control.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-c0.control.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-c0.control.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-c0.control.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-c0.control.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-c0.control.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-c0.control.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
mkdir -p /run/tb-ovs/s1
ip netns exec tb-s1 env OVS_RUNDIR=/run/tb-ovs/s1 ovsdb-tool create /run/tb-ovs/s1/conf.db /usr/share/openvswitch/vswitch.ovsschema
ip netns exec tb-s1 env OVS_RUNDIR=/run/tb-ovs/s1 ovsdb-server --remote=punix:/run/tb-ovs/s1/db.sock --detach --no-chdir --pidfile --log-file=/run/tb-ovs/s1/ovsdb-server.log -vconsole:off -vsyslog:off /run/tb-ovs/s1/conf.db
mkdir -p /run/tb-ovs/s2
ip netns exec tb-s2 env OVS_RUNDIR=/run/tb-ovs/s2 ovsdb-tool create /run/tb-ovs/s2/conf.db /usr/share/openvswitch/vswitch.ovsschema
ip netns exec tb-s2 env OVS_RUNDIR=/run/tb-ovs/s2 ovsdb-server --remote=punix:/run/tb-ovs/s2/db.sock --detach --no-chdir --pidfile --log-file=/run/tb-ovs/s2/ovsdb-server.log -vconsole:off -vsyslog:off /run/tb-ovs/s2/conf.db
mkdir -p /run/tb-ovs/c0
printf %s '{"app": "learning-switch", "is_ours": true, "listen": ["198.18.0.1", 6653], "names": {"1": "s1", "2": "s2"}, "waits": false}
' | tee /run/tb-ovs/c0/told.json > /dev/null
ip netns exec tb-c0 python3 -m testbed.agent.controller /run/tb-ovs/c0 &
awk '$1 < 10 { system("sleep " 10 - $1) }' /proc/uptime
ip netns exec tb-s1 env OVS_RUNDIR=/run/tb-ovs/s1 ovs-vswitchd --detach --no-chdir --pidfile --log-file=/run/tb-ovs/s1/ovs-vswitchd.log -vconsole:off -vsyslog:off
ip netns exec tb-s1 env OVS_RUNDIR=/run/tb-ovs/s1 ovs-vsctl --timeout=30 add-br br0 -- set bridge br0 datapath_type=system fail_mode=secure protocols=OpenFlow10,OpenFlow11,OpenFlow12,OpenFlow13,OpenFlow14,OpenFlow15 other_config:datapath-id=0000000000000001 -- add-port br0 eth0 -- set interface eth0 ofport_request=1 -- add-port br0 eth1 -- set interface eth1 ofport_request=2 -- set-controller br0 tcp:198.18.0.1:6653 -- set controller br0 connection_mode=out-of-band max_backoff=1000
ip netns exec tb-s2 env OVS_RUNDIR=/run/tb-ovs/s2 ovs-vswitchd --detach --no-chdir --pidfile --log-file=/run/tb-ovs/s2/ovs-vswitchd.log -vconsole:off -vsyslog:off
ip netns exec tb-s2 env OVS_RUNDIR=/run/tb-ovs/s2 ovs-vsctl --timeout=30 add-br br0 -- set bridge br0 datapath_type=system fail_mode=secure protocols=OpenFlow10,OpenFlow11,OpenFlow12,OpenFlow13,OpenFlow14,OpenFlow15 other_config:datapath-id=0000000000000002 -- add-port br0 eth0 -- set interface eth0 ofport_request=1 -- add-port br0 eth1 -- set interface eth1 ofport_request=2 -- set-controller br0 tcp:198.18.0.1:6653 -- set controller br0 connection_mode=out-of-band max_backoff=1000
ip netns exec tb-s1 env OVS_RUNDIR=/run/tb-ovs/s1 ovs-vsctl --timeout=30 wait-until controller br0 is_connected=true
ip netns exec tb-s2 env OVS_RUNDIR=/run/tb-ovs/s2 ovs-vsctl --timeout=30 wait-until controller br0 is_connected=true

# To take it down:
#   ip netns exec tb-s2 env OVS_RUNDIR=/run/tb-ovs/s2 ovs-appctl -t ovs-vswitchd exit --cleanup
#   ip netns exec tb-s1 env OVS_RUNDIR=/run/tb-ovs/s1 ovs-appctl -t ovs-vswitchd exit --cleanup
#   ip netns exec tb-c0 sh -c 'kill -TERM "$(cat /run/tb-ovs/c0/pid)"'
#   rm -r /run/tb-ovs/c0
#   ip netns exec tb-s2 env OVS_RUNDIR=/run/tb-ovs/s2 ovs-appctl -t ovsdb-server exit
#   rm -r /run/tb-ovs/s2
#   ip netns exec tb-s1 env OVS_RUNDIR=/run/tb-ovs/s1 ovs-appctl -t ovsdb-server exit
#   rm -r /run/tb-ovs/s1
#   ip netns exec tb-c0.control.emulator nft 'delete table netdev testbed'
#   tc -n tb-c0.control.emulator qdisc del dev wire1 root
#   tc -n tb-c0.control.emulator qdisc del dev wire0 root
#   ip netns exec tb-trunk.emulator nft 'delete table netdev testbed'
#   tc -n tb-trunk.emulator qdisc del dev end0 root
#   tc -n tb-trunk.emulator qdisc del dev end1 root
#   ip netns del tb-c0.control
#   ip netns del tb-c0.control.emulator
#   ip netns del tb-trunk.emulator
#   ip netns del tb-c0
#   ip netns del tb-s2
#   ip netns del tb-s1
#   ip netns del tb-right
#   ip netns del tb-left
