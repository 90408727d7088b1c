#!/bin/sh -e
ip netns add tb-left
ip netns add tb-right
ip netns add tb-switch
ip link add name eth0 address 02:54:56:00:00:00 mtu 1500 netns tb-left type veth peer name eth0 address 02:54:42:00:00:01 mtu 1500 netns tb-switch
ip link add name eth1 address 02:54:42:00:00:02 mtu 1500 netns tb-switch type veth peer name eth0 address 02:54:56:00:00:03 mtu 1500 netns tb-right
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
ip netns exec tb-switch sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-switch link add br0 type bridge stp_state 0 mcast_snooping 0
ip -n tb-switch link set eth0 master br0
ip -n tb-switch link set eth1 master br0
ip -n tb-switch link set br0 up
ip -n tb-switch link set lo up
ip -n tb-switch link set eth0 up
ip -n tb-switch link set eth1 up
ip netns exec tb-left qemu-system-x86_64 -name left,debug-threads=on -nodefaults -no-user-config -no-reboot -display none -serial stdio -machine q35,accel=@accelerator@ -cpu @cpu@ -smp 1 -m 2048M -object rng-random,id=rng,filename=/dev/urandom -device virtio-rng-pci,rng=rng -kernel @kernel/newest@ -initrd @initramfs/host-virtio/newest@ -append 'console=ttyS0 quiet panic=-1 net.ifnames=0 no_timer_check tsc=reliable testbed.root=host testbed.agent=@agent@' -virtfs local,path=@root@,mount_tag=root,security_model=none,readonly=on,multidevs=remap -virtfs local,path=@modules/newest@,mount_tag=modules,security_model=none,readonly=on,multidevs=remap -chardev socket,id=agent,path=/run/vm-left.agent,server=on,wait=off -device virtio-serial-pci -device virtserialport,chardev=agent,name=org.qemu.guest_agent.0 -netdev tap,id=net0,ifname=tap0,script=no,downscript=no -device virtio-net-pci,netdev=net0,mac=02:54:42:00:00:00,romfile= &
ip netns exec tb-right qemu-system-x86_64 -name right,debug-threads=on -nodefaults -no-user-config -no-reboot -display none -serial stdio -machine q35,accel=@accelerator@ -cpu @cpu@ -smp 1 -m 2048M -object rng-random,id=rng,filename=/dev/urandom -device virtio-rng-pci,rng=rng -kernel @kernel/newest@ -initrd @initramfs/host-virtio/newest@ -append 'console=ttyS0 quiet panic=-1 net.ifnames=0 no_timer_check tsc=reliable testbed.root=host testbed.agent=@agent@' -virtfs local,path=@root@,mount_tag=root,security_model=none,readonly=on,multidevs=remap -virtfs local,path=@modules/newest@,mount_tag=modules,security_model=none,readonly=on,multidevs=remap -chardev socket,id=agent,path=/run/vm-right.agent,server=on,wait=off -device virtio-serial-pci -device virtserialport,chardev=agent,name=org.qemu.guest_agent.0 -netdev tap,id=net0,ifname=tap0,script=no,downscript=no -device virtio-net-pci,netdev=net0,mac=02:54:42:00:00:03,romfile= &
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
# on left: ip neighbour replace 10.0.0.2 lladdr 02:54:42:00:00:03 dev eth0 nud permanent
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
#   ip -n tb-switch link del br0
#   ip netns del tb-switch
#   ip netns del tb-right
#   ip netns del tb-left
