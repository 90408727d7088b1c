#!/bin/sh -e
ip netns add tb-left
ip netns add tb-right
ip netns add tb-left-edge
ip netns add tb-right-edge
ip netns add tb-core
ip netns add tb-control
ip netns add tb-control.control
ip link add name eth0 address 02:54:56:00:00:00 mtu 1500 netns tb-left type veth peer name eth0 address 02:54:42:00:00:01 mtu 1500 netns tb-left-edge
ip link add name eth1 address 02:54:42:00:00:02 mtu 1500 netns tb-left-edge type veth peer name eth0 address 02:54:42:00:00:03 mtu 1500 netns tb-core
ip link add name eth1 address 02:54:42:00:00:04 mtu 1500 netns tb-core type veth peer name eth0 address 02:54:42:00:00:05 mtu 1500 netns tb-right-edge
ip link add name eth1 address 02:54:42:00:00:06 mtu 1500 netns tb-right-edge type veth peer name eth0 address 02:54:56:00:00:07 mtu 1500 netns tb-right
ip netns exec tb-left sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-left link add vm0 mtu 1500 type bridge stp_state 0 mcast_snooping 0
ip -n tb-left tuntap add dev tap0 mode tap
ip -n tb-left link set tap0 mtu 1500
ip -n tb-left link set eth0 master vm0
ip -n tb-left link set tap0 master vm0
ip -n tb-left link set eth0 up
ip -n tb-left link set tap0 up
ip -n tb-left link set vm0 up
ip netns exec tb-right sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-right link add vm0 mtu 1500 type bridge stp_state 0 mcast_snooping 0
ip -n tb-right tuntap add dev tap0 mode tap
ip -n tb-right link set tap0 mtu 1500
ip -n tb-right link set eth0 master vm0
ip -n tb-right link set tap0 master vm0
ip -n tb-right link set eth0 up
ip -n tb-right link set tap0 up
ip -n tb-right link set vm0 up
ip netns exec tb-left-edge sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-left-edge link add br0 type bridge stp_state 0 mcast_snooping 0
ip -n tb-left-edge link set eth0 master br0
ip -n tb-left-edge link set eth1 master br0
ip -n tb-left-edge link set br0 up
ip -n tb-left-edge link set lo up
ip -n tb-left-edge link set eth0 up
ip -n tb-left-edge link set eth1 up
ip netns exec tb-right-edge sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-right-edge link add br0 type bridge stp_state 0 mcast_snooping 0
ip -n tb-right-edge link set eth0 master br0
ip -n tb-right-edge link set eth1 master br0
ip -n tb-right-edge link set br0 up
ip -n tb-right-edge link set lo up
ip -n tb-right-edge link set eth0 up
ip -n tb-right-edge link set eth1 up
ip netns exec tb-core sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-core link set lo up
ip -n tb-core link set eth0 up
ip -n tb-core link set eth1 up
ip netns exec tb-control sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-control link set lo up
ip link add name ctl0 address 02:54:43:00:00:02 mtu 1500 netns tb-core type veth peer name port1 mtu 1500 netns tb-control.control
ip link add name uplink mtu 1500 netns tb-control.control type veth peer name ctl0 address 02:54:43:00:00:01 mtu 1500 netns tb-control
ip netns exec tb-control.control sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-control.control link add br0 type bridge stp_state 0 mcast_snooping 0
ip -n tb-control.control link set uplink master br0
ip -n tb-control.control link set port1 master br0
ip -n tb-control.control link set br0 up
ip -n tb-control.control link set uplink up
ip -n tb-control.control link set port1 up
ip -n tb-control address add 198.18.0.1/15 dev ctl0
ip -n tb-control link set ctl0 up
ip -n tb-control neighbour replace 198.18.0.2 lladdr 02:54:43:00:00:02 dev ctl0 nud permanent
ip -n tb-core address add 198.18.0.2/15 dev ctl0
ip -n tb-core link set ctl0 up
ip -n tb-core neighbour replace 198.18.0.1 lladdr 02:54:43:00:00:01 dev ctl0 nud permanent
mkdir -p /run/tb-ovs/core
ip netns exec tb-core env OVS_RUNDIR=/run/tb-ovs/core ovsdb-tool create /run/tb-ovs/core/conf.db /usr/share/openvswitch/vswitch.ovsschema
ip netns exec tb-core env OVS_RUNDIR=/run/tb-ovs/core ovsdb-server --remote=punix:/run/tb-ovs/core/db.sock --detach --no-chdir --pidfile --log-file=/run/tb-ovs/core/ovsdb-server.log -vconsole:off -vsyslog:off /run/tb-ovs/core/conf.db
mkdir -p /run/tb-ovs/control
printf %s '{"app": "learning-switch", "is_ours": true, "listen": ["198.18.0.1", 6653], "names": {"1": "core"}, "waits": false}
' | tee /run/tb-ovs/control/told.json > /dev/null
ip netns exec tb-control python3 -m testbed.agent.controller /run/tb-ovs/control &
awk '$1 < 10 { system("sleep " 10 - $1) }' /proc/uptime
ip netns exec tb-core env OVS_RUNDIR=/run/tb-ovs/core ovs-vswitchd --detach --no-chdir --pidfile --log-file=/run/tb-ovs/core/ovs-vswitchd.log -vconsole:off -vsyslog:off
ip netns exec tb-core env OVS_RUNDIR=/run/tb-ovs/core ovs-vsctl --timeout=30 add-br br0 -- set bridge br0 datapath_type=system fail_mode=secure protocols=OpenFlow10,OpenFlow11,OpenFlow12,OpenFlow13,OpenFlow14,OpenFlow15 other_config:datapath-id=0000000000000001 -- add-port br0 eth0 -- set interface eth0 ofport_request=1 -- add-port br0 eth1 -- set interface eth1 ofport_request=2 -- set-controller br0 tcp:198.18.0.1:6653 -- set controller br0 connection_mode=out-of-band max_backoff=1000
ip netns exec tb-core env OVS_RUNDIR=/run/tb-ovs/core ovs-vsctl --timeout=30 wait-until controller br0 is_connected=true
ip netns exec tb-left qemu-system-x86_64 -name left,debug-threads=on -nodefaults -no-user-config -no-reboot -display none -serial stdio -machine q35,accel=@accelerator@ -cpu @cpu@ -smp 1 -m 1024M -object rng-random,id=rng,filename=/dev/urandom -device virtio-rng-pci,rng=rng -kernel @kernel/newest@ -initrd @initramfs/host-virtio/newest@ -append 'console=ttyS0 quiet panic=-1 net.ifnames=0 no_timer_check tsc=reliable testbed.root=host testbed.agent=@agent@' -virtfs local,path=@root@,mount_tag=root,security_model=none,readonly=on,multidevs=remap -virtfs local,path=@modules/newest@,mount_tag=modules,security_model=none,readonly=on,multidevs=remap -chardev socket,id=agent,path=/run/vm-left.agent,server=on,wait=off -device virtio-serial-pci -device virtserialport,chardev=agent,name=org.qemu.guest_agent.0 -netdev tap,id=net0,ifname=tap0,script=no,downscript=no -device virtio-net-pci,netdev=net0,mac=02:54:42:00:00:00,romfile= &
ip netns exec tb-right qemu-system-x86_64 -name right,debug-threads=on -nodefaults -no-user-config -no-reboot -display none -serial stdio -machine q35,accel=@accelerator@ -cpu @cpu@ -smp 1 -m 1024M -object rng-random,id=rng,filename=/dev/urandom -device virtio-rng-pci,rng=rng -kernel @kernel/newest@ -initrd @initramfs/host-virtio/newest@ -append 'console=ttyS0 quiet panic=-1 net.ifnames=0 no_timer_check tsc=reliable testbed.root=host testbed.agent=@agent@' -virtfs local,path=@root@,mount_tag=root,security_model=none,readonly=on,multidevs=remap -virtfs local,path=@modules/newest@,mount_tag=modules,security_model=none,readonly=on,multidevs=remap -chardev socket,id=agent,path=/run/vm-right.agent,server=on,wait=off -device virtio-serial-pci -device virtserialport,chardev=agent,name=org.qemu.guest_agent.0 -netdev tap,id=net0,ifname=tap0,script=no,downscript=no -device virtio-net-pci,netdev=net0,mac=02:54:42:00:00:07,romfile= &
# on left: ip link set eth0 mtu 1500
# on left: sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
# on left: sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
# on left: sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
# on left: sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
# on left: sh -c 'echo 2147483647 > /proc/sys/net/core/rmem_max'
# on left: sh -c 'echo 2147483647 > /proc/sys/net/core/wmem_max'
# on left: ip address add 10.0.0.1/24 dev eth0
# on left: ip link set lo up
# on left: ip link set eth0 up
# on left: ip neighbour replace 10.0.0.2 lladdr 02:54:42:00:00:07 dev eth0 nud permanent
# on right: ip link set eth0 mtu 1500
# on right: sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
# on right: sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
# on right: sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
# on right: sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
# on right: sh -c 'echo 2147483647 > /proc/sys/net/core/rmem_max'
# on right: sh -c 'echo 2147483647 > /proc/sys/net/core/wmem_max'
# on right: ip address add 10.0.0.2/24 dev eth0
# on right: ip link set lo up
# on right: ip link set eth0 up
# on right: ip neighbour replace 10.0.0.1 lladdr 02:54:42:00:00:00 dev eth0 nud permanent

# To take it down:
#   ip netns exec tb-core env OVS_RUNDIR=/run/tb-ovs/core ovs-appctl -t ovs-vswitchd exit --cleanup
#   ip netns exec tb-control sh -c 'kill -TERM "$(cat /run/tb-ovs/control/pid)"'
#   rm -r /run/tb-ovs/control
#   ip netns exec tb-core env OVS_RUNDIR=/run/tb-ovs/core ovs-appctl -t ovsdb-server exit
#   rm -r /run/tb-ovs/core
#   ip -n tb-right-edge link del br0
#   ip -n tb-left-edge link del br0
#   ip netns del tb-control.control
#   ip netns del tb-control
#   ip netns del tb-core
#   ip netns del tb-right-edge
#   ip netns del tb-left-edge
#   ip netns del tb-right
#   ip netns del tb-left
