#!/bin/sh -e
ip netns add tb-host-0-0
ip netns add tb-host-0-1
ip netns add tb-host-0-2
ip netns add tb-host-0-3
ip netns add tb-host-1-0
ip netns add tb-host-1-1
ip netns add tb-host-1-2
ip netns add tb-host-1-3
ip netns add tb-host-2-0
ip netns add tb-host-2-1
ip netns add tb-host-2-2
ip netns add tb-host-2-3
ip netns add tb-host-3-0
ip netns add tb-host-3-1
ip netns add tb-host-3-2
ip netns add tb-host-3-3
ip netns add tb-edge-0-0
ip netns add tb-edge-0-1
ip netns add tb-agg-0-0
ip netns add tb-agg-0-1
ip netns add tb-edge-1-0
ip netns add tb-edge-1-1
ip netns add tb-agg-1-0
ip netns add tb-agg-1-1
ip netns add tb-edge-2-0
ip netns add tb-edge-2-1
ip netns add tb-agg-2-0
ip netns add tb-agg-2-1
ip netns add tb-edge-3-0
ip netns add tb-edge-3-1
ip netns add tb-agg-3-0
ip netns add tb-agg-3-1
ip netns add tb-core-0
ip netns add tb-core-1
ip netns add tb-core-2
ip netns add tb-core-3
ip netns add tb-c0
ip netns add tb-port-0-0.emulator
ip netns add tb-port-0-1.emulator
ip netns add tb-port-0-2.emulator
ip netns add tb-port-0-3.emulator
ip netns add tb-port-1-0.emulator
ip netns add tb-port-1-1.emulator
ip netns add tb-port-1-2.emulator
ip netns add tb-port-1-3.emulator
ip netns add tb-port-2-0.emulator
ip netns add tb-port-2-1.emulator
ip netns add tb-port-2-2.emulator
ip netns add tb-port-2-3.emulator
ip netns add tb-port-3-0.emulator
ip netns add tb-port-3-1.emulator
ip netns add tb-port-3-2.emulator
ip netns add tb-port-3-3.emulator
ip netns add tb-pod-0-0-0.emulator
ip netns add tb-pod-0-0-1.emulator
ip netns add tb-pod-0-1-0.emulator
ip netns add tb-pod-0-1-1.emulator
ip netns add tb-pod-1-0-0.emulator
ip netns add tb-pod-1-0-1.emulator
ip netns add tb-pod-1-1-0.emulator
ip netns add tb-pod-1-1-1.emulator
ip netns add tb-pod-2-0-0.emulator
ip netns add tb-pod-2-0-1.emulator
ip netns add tb-pod-2-1-0.emulator
ip netns add tb-pod-2-1-1.emulator
ip netns add tb-pod-3-0-0.emulator
ip netns add tb-pod-3-0-1.emulator
ip netns add tb-pod-3-1-0.emulator
ip netns add tb-pod-3-1-1.emulator
ip netns add tb-up-0-0-0.emulator
ip netns add tb-up-0-0-1.emulator
ip netns add tb-up-0-1-0.emulator
ip netns add tb-up-0-1-1.emulator
ip netns add tb-up-1-0-0.emulator
ip netns add tb-up-1-0-1.emulator
ip netns add tb-up-1-1-0.emulator
ip netns add tb-up-1-1-1.emulator
ip netns add tb-up-2-0-0.emulator
ip netns add tb-up-2-0-1.emulator
ip netns add tb-up-2-1-0.emulator
ip netns add tb-up-2-1-1.emulator
ip netns add tb-up-3-0-0.emulator
ip netns add tb-up-3-0-1.emulator
ip netns add tb-up-3-1-0.emulator
ip netns add tb-up-3-1-1.emulator
ip netns add tb-c0.control.emulator
ip netns add tb-c0.control
ip link add name eth0 address 02:54:42:00:00:00 mtu 1500 netns tb-host-0-0 type veth peer name end0 mtu 1500 netns tb-port-0-0.emulator
ip link add name wire0 mtu 1500 netns tb-port-0-0.emulator type veth peer name wire1 mtu 1500 netns tb-port-0-0.emulator
ip link add name eth0 address 02:54:42:00:00:01 mtu 1500 netns tb-edge-0-0 type veth peer name end1 mtu 1500 netns tb-port-0-0.emulator
ip link add name eth0 address 02:54:42:00:00:02 mtu 1500 netns tb-host-0-1 type veth peer name end0 mtu 1500 netns tb-port-0-1.emulator
ip link add name wire0 mtu 1500 netns tb-port-0-1.emulator type veth peer name wire1 mtu 1500 netns tb-port-0-1.emulator
ip link add name eth1 address 02:54:42:00:00:03 mtu 1500 netns tb-edge-0-0 type veth peer name end1 mtu 1500 netns tb-port-0-1.emulator
ip link add name eth0 address 02:54:42:00:00:04 mtu 1500 netns tb-host-0-2 type veth peer name end0 mtu 1500 netns tb-port-0-2.emulator
ip link add name wire0 mtu 1500 netns tb-port-0-2.emulator type veth peer name wire1 mtu 1500 netns tb-port-0-2.emulator
ip link add name eth0 address 02:54:42:00:00:05 mtu 1500 netns tb-edge-0-1 type veth peer name end1 mtu 1500 netns tb-port-0-2.emulator
ip link add name eth0 address 02:54:42:00:00:06 mtu 1500 netns tb-host-0-3 type veth peer name end0 mtu 1500 netns tb-port-0-3.emulator
ip link add name wire0 mtu 1500 netns tb-port-0-3.emulator type veth peer name wire1 mtu 1500 netns tb-port-0-3.emulator
ip link add name eth1 address 02:54:42:00:00:07 mtu 1500 netns tb-edge-0-1 type veth peer name end1 mtu 1500 netns tb-port-0-3.emulator
ip link add name eth0 address 02:54:42:00:00:08 mtu 1500 netns tb-host-1-0 type veth peer name end0 mtu 1500 netns tb-port-1-0.emulator
ip link add name wire0 mtu 1500 netns tb-port-1-0.emulator type veth peer name wire1 mtu 1500 netns tb-port-1-0.emulator
ip link add name eth0 address 02:54:42:00:00:09 mtu 1500 netns tb-edge-1-0 type veth peer name end1 mtu 1500 netns tb-port-1-0.emulator
ip link add name eth0 address 02:54:42:00:00:0a mtu 1500 netns tb-host-1-1 type veth peer name end0 mtu 1500 netns tb-port-1-1.emulator
ip link add name wire0 mtu 1500 netns tb-port-1-1.emulator type veth peer name wire1 mtu 1500 netns tb-port-1-1.emulator
ip link add name eth1 address 02:54:42:00:00:0b mtu 1500 netns tb-edge-1-0 type veth peer name end1 mtu 1500 netns tb-port-1-1.emulator
ip link add name eth0 address 02:54:42:00:00:0c mtu 1500 netns tb-host-1-2 type veth peer name end0 mtu 1500 netns tb-port-1-2.emulator
ip link add name wire0 mtu 1500 netns tb-port-1-2.emulator type veth peer name wire1 mtu 1500 netns tb-port-1-2.emulator
ip link add name eth0 address 02:54:42:00:00:0d mtu 1500 netns tb-edge-1-1 type veth peer name end1 mtu 1500 netns tb-port-1-2.emulator
ip link add name eth0 address 02:54:42:00:00:0e mtu 1500 netns tb-host-1-3 type veth peer name end0 mtu 1500 netns tb-port-1-3.emulator
ip link add name wire0 mtu 1500 netns tb-port-1-3.emulator type veth peer name wire1 mtu 1500 netns tb-port-1-3.emulator
ip link add name eth1 address 02:54:42:00:00:0f mtu 1500 netns tb-edge-1-1 type veth peer name end1 mtu 1500 netns tb-port-1-3.emulator
ip link add name eth0 address 02:54:42:00:00:10 mtu 1500 netns tb-host-2-0 type veth peer name end0 mtu 1500 netns tb-port-2-0.emulator
ip link add name wire0 mtu 1500 netns tb-port-2-0.emulator type veth peer name wire1 mtu 1500 netns tb-port-2-0.emulator
ip link add name eth0 address 02:54:42:00:00:11 mtu 1500 netns tb-edge-2-0 type veth peer name end1 mtu 1500 netns tb-port-2-0.emulator
ip link add name eth0 address 02:54:42:00:00:12 mtu 1500 netns tb-host-2-1 type veth peer name end0 mtu 1500 netns tb-port-2-1.emulator
ip link add name wire0 mtu 1500 netns tb-port-2-1.emulator type veth peer name wire1 mtu 1500 netns tb-port-2-1.emulator
ip link add name eth1 address 02:54:42:00:00:13 mtu 1500 netns tb-edge-2-0 type veth peer name end1 mtu 1500 netns tb-port-2-1.emulator
ip link add name eth0 address 02:54:42:00:00:14 mtu 1500 netns tb-host-2-2 type veth peer name end0 mtu 1500 netns tb-port-2-2.emulator
ip link add name wire0 mtu 1500 netns tb-port-2-2.emulator type veth peer name wire1 mtu 1500 netns tb-port-2-2.emulator
ip link add name eth0 address 02:54:42:00:00:15 mtu 1500 netns tb-edge-2-1 type veth peer name end1 mtu 1500 netns tb-port-2-2.emulator
ip link add name eth0 address 02:54:42:00:00:16 mtu 1500 netns tb-host-2-3 type veth peer name end0 mtu 1500 netns tb-port-2-3.emulator
ip link add name wire0 mtu 1500 netns tb-port-2-3.emulator type veth peer name wire1 mtu 1500 netns tb-port-2-3.emulator
ip link add name eth1 address 02:54:42:00:00:17 mtu 1500 netns tb-edge-2-1 type veth peer name end1 mtu 1500 netns tb-port-2-3.emulator
ip link add name eth0 address 02:54:42:00:00:18 mtu 1500 netns tb-host-3-0 type veth peer name end0 mtu 1500 netns tb-port-3-0.emulator
ip link add name wire0 mtu 1500 netns tb-port-3-0.emulator type veth peer name wire1 mtu 1500 netns tb-port-3-0.emulator
ip link add name eth0 address 02:54:42:00:00:19 mtu 1500 netns tb-edge-3-0 type veth peer name end1 mtu 1500 netns tb-port-3-0.emulator
ip link add name eth0 address 02:54:42:00:00:1a mtu 1500 netns tb-host-3-1 type veth peer name end0 mtu 1500 netns tb-port-3-1.emulator
ip link add name wire0 mtu 1500 netns tb-port-3-1.emulator type veth peer name wire1 mtu 1500 netns tb-port-3-1.emulator
ip link add name eth1 address 02:54:42:00:00:1b mtu 1500 netns tb-edge-3-0 type veth peer name end1 mtu 1500 netns tb-port-3-1.emulator
ip link add name eth0 address 02:54:42:00:00:1c mtu 1500 netns tb-host-3-2 type veth peer name end0 mtu 1500 netns tb-port-3-2.emulator
ip link add name wire0 mtu 1500 netns tb-port-3-2.emulator type veth peer name wire1 mtu 1500 netns tb-port-3-2.emulator
ip link add name eth0 address 02:54:42:00:00:1d mtu 1500 netns tb-edge-3-1 type veth peer name end1 mtu 1500 netns tb-port-3-2.emulator
ip link add name eth0 address 02:54:42:00:00:1e mtu 1500 netns tb-host-3-3 type veth peer name end0 mtu 1500 netns tb-port-3-3.emulator
ip link add name wire0 mtu 1500 netns tb-port-3-3.emulator type veth peer name wire1 mtu 1500 netns tb-port-3-3.emulator
ip link add name eth1 address 02:54:42:00:00:1f mtu 1500 netns tb-edge-3-1 type veth peer name end1 mtu 1500 netns tb-port-3-3.emulator
ip link add name eth2 address 02:54:42:00:00:20 mtu 1500 netns tb-edge-0-0 type veth peer name end0 mtu 1500 netns tb-pod-0-0-0.emulator
ip link add name wire0 mtu 1500 netns tb-pod-0-0-0.emulator type veth peer name wire1 mtu 1500 netns tb-pod-0-0-0.emulator
ip link add name eth0 address 02:54:42:00:00:21 mtu 1500 netns tb-agg-0-0 type veth peer name end1 mtu 1500 netns tb-pod-0-0-0.emulator
ip link add name eth3 address 02:54:42:00:00:22 mtu 1500 netns tb-edge-0-0 type veth peer name end0 mtu 1500 netns tb-pod-0-0-1.emulator
ip link add name wire0 mtu 1500 netns tb-pod-0-0-1.emulator type veth peer name wire1 mtu 1500 netns tb-pod-0-0-1.emulator
ip link add name eth0 address 02:54:42:00:00:23 mtu 1500 netns tb-agg-0-1 type veth peer name end1 mtu 1500 netns tb-pod-0-0-1.emulator
ip link add name eth2 address 02:54:42:00:00:24 mtu 1500 netns tb-edge-0-1 type veth peer name end0 mtu 1500 netns tb-pod-0-1-0.emulator
ip link add name wire0 mtu 1500 netns tb-pod-0-1-0.emulator type veth peer name wire1 mtu 1500 netns tb-pod-0-1-0.emulator
ip link add name eth1 address 02:54:42:00:00:25 mtu 1500 netns tb-agg-0-0 type veth peer name end1 mtu 1500 netns tb-pod-0-1-0.emulator
ip link add name eth3 address 02:54:42:00:00:26 mtu 1500 netns tb-edge-0-1 type veth peer name end0 mtu 1500 netns tb-pod-0-1-1.emulator
ip link add name wire0 mtu 1500 netns tb-pod-0-1-1.emulator type veth peer name wire1 mtu 1500 netns tb-pod-0-1-1.emulator
ip link add name eth1 address 02:54:42:00:00:27 mtu 1500 netns tb-agg-0-1 type veth peer name end1 mtu 1500 netns tb-pod-0-1-1.emulator
ip link add name eth2 address 02:54:42:00:00:28 mtu 1500 netns tb-edge-1-0 type veth peer name end0 mtu 1500 netns tb-pod-1-0-0.emulator
ip link add name wire0 mtu 1500 netns tb-pod-1-0-0.emulator type veth peer name wire1 mtu 1500 netns tb-pod-1-0-0.emulator
ip link add name eth0 address 02:54:42:00:00:29 mtu 1500 netns tb-agg-1-0 type veth peer name end1 mtu 1500 netns tb-pod-1-0-0.emulator
ip link add name eth3 address 02:54:42:00:00:2a mtu 1500 netns tb-edge-1-0 type veth peer name end0 mtu 1500 netns tb-pod-1-0-1.emulator
ip link add name wire0 mtu 1500 netns tb-pod-1-0-1.emulator type veth peer name wire1 mtu 1500 netns tb-pod-1-0-1.emulator
ip link add name eth0 address 02:54:42:00:00:2b mtu 1500 netns tb-agg-1-1 type veth peer name end1 mtu 1500 netns tb-pod-1-0-1.emulator
ip link add name eth2 address 02:54:42:00:00:2c mtu 1500 netns tb-edge-1-1 type veth peer name end0 mtu 1500 netns tb-pod-1-1-0.emulator
ip link add name wire0 mtu 1500 netns tb-pod-1-1-0.emulator type veth peer name wire1 mtu 1500 netns tb-pod-1-1-0.emulator
ip link add name eth1 address 02:54:42:00:00:2d mtu 1500 netns tb-agg-1-0 type veth peer name end1 mtu 1500 netns tb-pod-1-1-0.emulator
ip link add name eth3 address 02:54:42:00:00:2e mtu 1500 netns tb-edge-1-1 type veth peer name end0 mtu 1500 netns tb-pod-1-1-1.emulator
ip link add name wire0 mtu 1500 netns tb-pod-1-1-1.emulator type veth peer name wire1 mtu 1500 netns tb-pod-1-1-1.emulator
ip link add name eth1 address 02:54:42:00:00:2f mtu 1500 netns tb-agg-1-1 type veth peer name end1 mtu 1500 netns tb-pod-1-1-1.emulator
ip link add name eth2 address 02:54:42:00:00:30 mtu 1500 netns tb-edge-2-0 type veth peer name end0 mtu 1500 netns tb-pod-2-0-0.emulator
ip link add name wire0 mtu 1500 netns tb-pod-2-0-0.emulator type veth peer name wire1 mtu 1500 netns tb-pod-2-0-0.emulator
ip link add name eth0 address 02:54:42:00:00:31 mtu 1500 netns tb-agg-2-0 type veth peer name end1 mtu 1500 netns tb-pod-2-0-0.emulator
ip link add name eth3 address 02:54:42:00:00:32 mtu 1500 netns tb-edge-2-0 type veth peer name end0 mtu 1500 netns tb-pod-2-0-1.emulator
ip link add name wire0 mtu 1500 netns tb-pod-2-0-1.emulator type veth peer name wire1 mtu 1500 netns tb-pod-2-0-1.emulator
ip link add name eth0 address 02:54:42:00:00:33 mtu 1500 netns tb-agg-2-1 type veth peer name end1 mtu 1500 netns tb-pod-2-0-1.emulator
ip link add name eth2 address 02:54:42:00:00:34 mtu 1500 netns tb-edge-2-1 type veth peer name end0 mtu 1500 netns tb-pod-2-1-0.emulator
ip link add name wire0 mtu 1500 netns tb-pod-2-1-0.emulator type veth peer name wire1 mtu 1500 netns tb-pod-2-1-0.emulator
ip link add name eth1 address 02:54:42:00:00:35 mtu 1500 netns tb-agg-2-0 type veth peer name end1 mtu 1500 netns tb-pod-2-1-0.emulator
ip link add name eth3 address 02:54:42:00:00:36 mtu 1500 netns tb-edge-2-1 type veth peer name end0 mtu 1500 netns tb-pod-2-1-1.emulator
ip link add name wire0 mtu 1500 netns tb-pod-2-1-1.emulator type veth peer name wire1 mtu 1500 netns tb-pod-2-1-1.emulator
ip link add name eth1 address 02:54:42:00:00:37 mtu 1500 netns tb-agg-2-1 type veth peer name end1 mtu 1500 netns tb-pod-2-1-1.emulator
ip link add name eth2 address 02:54:42:00:00:38 mtu 1500 netns tb-edge-3-0 type veth peer name end0 mtu 1500 netns tb-pod-3-0-0.emulator
ip link add name wire0 mtu 1500 netns tb-pod-3-0-0.emulator type veth peer name wire1 mtu 1500 netns tb-pod-3-0-0.emulator
ip link add name eth0 address 02:54:42:00:00:39 mtu 1500 netns tb-agg-3-0 type veth peer name end1 mtu 1500 netns tb-pod-3-0-0.emulator
ip link add name eth3 address 02:54:42:00:00:3a mtu 1500 netns tb-edge-3-0 type veth peer name end0 mtu 1500 netns tb-pod-3-0-1.emulator
ip link add name wire0 mtu 1500 netns tb-pod-3-0-1.emulator type veth peer name wire1 mtu 1500 netns tb-pod-3-0-1.emulator
ip link add name eth0 address 02:54:42:00:00:3b mtu 1500 netns tb-agg-3-1 type veth peer name end1 mtu 1500 netns tb-pod-3-0-1.emulator
ip link add name eth2 address 02:54:42:00:00:3c mtu 1500 netns tb-edge-3-1 type veth peer name end0 mtu 1500 netns tb-pod-3-1-0.emulator
ip link add name wire0 mtu 1500 netns tb-pod-3-1-0.emulator type veth peer name wire1 mtu 1500 netns tb-pod-3-1-0.emulator
ip link add name eth1 address 02:54:42:00:00:3d mtu 1500 netns tb-agg-3-0 type veth peer name end1 mtu 1500 netns tb-pod-3-1-0.emulator
ip link add name eth3 address 02:54:42:00:00:3e mtu 1500 netns tb-edge-3-1 type veth peer name end0 mtu 1500 netns tb-pod-3-1-1.emulator
ip link add name wire0 mtu 1500 netns tb-pod-3-1-1.emulator type veth peer name wire1 mtu 1500 netns tb-pod-3-1-1.emulator
ip link add name eth1 address 02:54:42:00:00:3f mtu 1500 netns tb-agg-3-1 type veth peer name end1 mtu 1500 netns tb-pod-3-1-1.emulator
ip link add name eth2 address 02:54:42:00:00:40 mtu 1500 netns tb-agg-0-0 type veth peer name end0 mtu 1500 netns tb-up-0-0-0.emulator
ip link add name wire0 mtu 1500 netns tb-up-0-0-0.emulator type veth peer name wire1 mtu 1500 netns tb-up-0-0-0.emulator
ip link add name eth0 address 02:54:42:00:00:41 mtu 1500 netns tb-core-0 type veth peer name end1 mtu 1500 netns tb-up-0-0-0.emulator
ip link add name eth3 address 02:54:42:00:00:42 mtu 1500 netns tb-agg-0-0 type veth peer name end0 mtu 1500 netns tb-up-0-0-1.emulator
ip link add name wire0 mtu 1500 netns tb-up-0-0-1.emulator type veth peer name wire1 mtu 1500 netns tb-up-0-0-1.emulator
ip link add name eth0 address 02:54:42:00:00:43 mtu 1500 netns tb-core-1 type veth peer name end1 mtu 1500 netns tb-up-0-0-1.emulator
ip link add name eth2 address 02:54:42:00:00:44 mtu 1500 netns tb-agg-0-1 type veth peer name end0 mtu 1500 netns tb-up-0-1-0.emulator
ip link add name wire0 mtu 1500 netns tb-up-0-1-0.emulator type veth peer name wire1 mtu 1500 netns tb-up-0-1-0.emulator
ip link add name eth0 address 02:54:42:00:00:45 mtu 1500 netns tb-core-2 type veth peer name end1 mtu 1500 netns tb-up-0-1-0.emulator
ip link add name eth3 address 02:54:42:00:00:46 mtu 1500 netns tb-agg-0-1 type veth peer name end0 mtu 1500 netns tb-up-0-1-1.emulator
ip link add name wire0 mtu 1500 netns tb-up-0-1-1.emulator type veth peer name wire1 mtu 1500 netns tb-up-0-1-1.emulator
ip link add name eth0 address 02:54:42:00:00:47 mtu 1500 netns tb-core-3 type veth peer name end1 mtu 1500 netns tb-up-0-1-1.emulator
ip link add name eth2 address 02:54:42:00:00:48 mtu 1500 netns tb-agg-1-0 type veth peer name end0 mtu 1500 netns tb-up-1-0-0.emulator
ip link add name wire0 mtu 1500 netns tb-up-1-0-0.emulator type veth peer name wire1 mtu 1500 netns tb-up-1-0-0.emulator
ip link add name eth1 address 02:54:42:00:00:49 mtu 1500 netns tb-core-0 type veth peer name end1 mtu 1500 netns tb-up-1-0-0.emulator
ip link add name eth3 address 02:54:42:00:00:4a mtu 1500 netns tb-agg-1-0 type veth peer name end0 mtu 1500 netns tb-up-1-0-1.emulator
ip link add name wire0 mtu 1500 netns tb-up-1-0-1.emulator type veth peer name wire1 mtu 1500 netns tb-up-1-0-1.emulator
ip link add name eth1 address 02:54:42:00:00:4b mtu 1500 netns tb-core-1 type veth peer name end1 mtu 1500 netns tb-up-1-0-1.emulator
ip link add name eth2 address 02:54:42:00:00:4c mtu 1500 netns tb-agg-1-1 type veth peer name end0 mtu 1500 netns tb-up-1-1-0.emulator
ip link add name wire0 mtu 1500 netns tb-up-1-1-0.emulator type veth peer name wire1 mtu 1500 netns tb-up-1-1-0.emulator
ip link add name eth1 address 02:54:42:00:00:4d mtu 1500 netns tb-core-2 type veth peer name end1 mtu 1500 netns tb-up-1-1-0.emulator
ip link add name eth3 address 02:54:42:00:00:4e mtu 1500 netns tb-agg-1-1 type veth peer name end0 mtu 1500 netns tb-up-1-1-1.emulator
ip link add name wire0 mtu 1500 netns tb-up-1-1-1.emulator type veth peer name wire1 mtu 1500 netns tb-up-1-1-1.emulator
ip link add name eth1 address 02:54:42:00:00:4f mtu 1500 netns tb-core-3 type veth peer name end1 mtu 1500 netns tb-up-1-1-1.emulator
ip link add name eth2 address 02:54:42:00:00:50 mtu 1500 netns tb-agg-2-0 type veth peer name end0 mtu 1500 netns tb-up-2-0-0.emulator
ip link add name wire0 mtu 1500 netns tb-up-2-0-0.emulator type veth peer name wire1 mtu 1500 netns tb-up-2-0-0.emulator
ip link add name eth2 address 02:54:42:00:00:51 mtu 1500 netns tb-core-0 type veth peer name end1 mtu 1500 netns tb-up-2-0-0.emulator
ip link add name eth3 address 02:54:42:00:00:52 mtu 1500 netns tb-agg-2-0 type veth peer name end0 mtu 1500 netns tb-up-2-0-1.emulator
ip link add name wire0 mtu 1500 netns tb-up-2-0-1.emulator type veth peer name wire1 mtu 1500 netns tb-up-2-0-1.emulator
ip link add name eth2 address 02:54:42:00:00:53 mtu 1500 netns tb-core-1 type veth peer name end1 mtu 1500 netns tb-up-2-0-1.emulator
ip link add name eth2 address 02:54:42:00:00:54 mtu 1500 netns tb-agg-2-1 type veth peer name end0 mtu 1500 netns tb-up-2-1-0.emulator
ip link add name wire0 mtu 1500 netns tb-up-2-1-0.emulator type veth peer name wire1 mtu 1500 netns tb-up-2-1-0.emulator
ip link add name eth2 address 02:54:42:00:00:55 mtu 1500 netns tb-core-2 type veth peer name end1 mtu 1500 netns tb-up-2-1-0.emulator
ip link add name eth3 address 02:54:42:00:00:56 mtu 1500 netns tb-agg-2-1 type veth peer name end0 mtu 1500 netns tb-up-2-1-1.emulator
ip link add name wire0 mtu 1500 netns tb-up-2-1-1.emulator type veth peer name wire1 mtu 1500 netns tb-up-2-1-1.emulator
ip link add name eth2 address 02:54:42:00:00:57 mtu 1500 netns tb-core-3 type veth peer name end1 mtu 1500 netns tb-up-2-1-1.emulator
ip link add name eth2 address 02:54:42:00:00:58 mtu 1500 netns tb-agg-3-0 type veth peer name end0 mtu 1500 netns tb-up-3-0-0.emulator
ip link add name wire0 mtu 1500 netns tb-up-3-0-0.emulator type veth peer name wire1 mtu 1500 netns tb-up-3-0-0.emulator
ip link add name eth3 address 02:54:42:00:00:59 mtu 1500 netns tb-core-0 type veth peer name end1 mtu 1500 netns tb-up-3-0-0.emulator
ip link add name eth3 address 02:54:42:00:00:5a mtu 1500 netns tb-agg-3-0 type veth peer name end0 mtu 1500 netns tb-up-3-0-1.emulator
ip link add name wire0 mtu 1500 netns tb-up-3-0-1.emulator type veth peer name wire1 mtu 1500 netns tb-up-3-0-1.emulator
ip link add name eth3 address 02:54:42:00:00:5b mtu 1500 netns tb-core-1 type veth peer name end1 mtu 1500 netns tb-up-3-0-1.emulator
ip link add name eth2 address 02:54:42:00:00:5c mtu 1500 netns tb-agg-3-1 type veth peer name end0 mtu 1500 netns tb-up-3-1-0.emulator
ip link add name wire0 mtu 1500 netns tb-up-3-1-0.emulator type veth peer name wire1 mtu 1500 netns tb-up-3-1-0.emulator
ip link add name eth3 address 02:54:42:00:00:5d mtu 1500 netns tb-core-2 type veth peer name end1 mtu 1500 netns tb-up-3-1-0.emulator
ip link add name eth3 address 02:54:42:00:00:5e mtu 1500 netns tb-agg-3-1 type veth peer name end0 mtu 1500 netns tb-up-3-1-1.emulator
ip link add name wire0 mtu 1500 netns tb-up-3-1-1.emulator type veth peer name wire1 mtu 1500 netns tb-up-3-1-1.emulator
ip link add name eth3 address 02:54:42:00:00:5f mtu 1500 netns tb-core-3 type veth peer name end1 mtu 1500 netns tb-up-3-1-1.emulator
ip netns exec tb-host-0-0 sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-host-0-0 sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-host-0-0 sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-host-0-0 sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-host-0-0 address add 10.0.0.1/24 dev eth0
ip -n tb-host-0-0 link set lo up
ip -n tb-host-0-0 link set eth0 up
ip -n tb-host-0-0 neighbour replace 10.0.0.2 lladdr 02:54:42:00:00:02 dev eth0 nud permanent
ip -n tb-host-0-0 neighbour replace 10.0.0.3 lladdr 02:54:42:00:00:04 dev eth0 nud permanent
ip -n tb-host-0-0 neighbour replace 10.0.0.4 lladdr 02:54:42:00:00:06 dev eth0 nud permanent
ip -n tb-host-0-0 neighbour replace 10.0.0.5 lladdr 02:54:42:00:00:08 dev eth0 nud permanent
ip -n tb-host-0-0 neighbour replace 10.0.0.6 lladdr 02:54:42:00:00:0a dev eth0 nud permanent
ip -n tb-host-0-0 neighbour replace 10.0.0.7 lladdr 02:54:42:00:00:0c dev eth0 nud permanent
ip -n tb-host-0-0 neighbour replace 10.0.0.8 lladdr 02:54:42:00:00:0e dev eth0 nud permanent
ip -n tb-host-0-0 neighbour replace 10.0.0.9 lladdr 02:54:42:00:00:10 dev eth0 nud permanent
ip -n tb-host-0-0 neighbour replace 10.0.0.10 lladdr 02:54:42:00:00:12 dev eth0 nud permanent
ip -n tb-host-0-0 neighbour replace 10.0.0.11 lladdr 02:54:42:00:00:14 dev eth0 nud permanent
ip -n tb-host-0-0 neighbour replace 10.0.0.12 lladdr 02:54:42:00:00:16 dev eth0 nud permanent
ip -n tb-host-0-0 neighbour replace 10.0.0.13 lladdr 02:54:42:00:00:18 dev eth0 nud permanent
ip -n tb-host-0-0 neighbour replace 10.0.0.14 lladdr 02:54:42:00:00:1a dev eth0 nud permanent
ip -n tb-host-0-0 neighbour replace 10.0.0.15 lladdr 02:54:42:00:00:1c dev eth0 nud permanent
ip -n tb-host-0-0 neighbour replace 10.0.0.16 lladdr 02:54:42:00:00:1e dev eth0 nud permanent
ip netns exec tb-host-0-1 sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-host-0-1 sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-host-0-1 sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-host-0-1 sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-host-0-1 address add 10.0.0.2/24 dev eth0
ip -n tb-host-0-1 link set lo up
ip -n tb-host-0-1 link set eth0 up
ip -n tb-host-0-1 neighbour replace 10.0.0.1 lladdr 02:54:42:00:00:00 dev eth0 nud permanent
ip -n tb-host-0-1 neighbour replace 10.0.0.3 lladdr 02:54:42:00:00:04 dev eth0 nud permanent
ip -n tb-host-0-1 neighbour replace 10.0.0.4 lladdr 02:54:42:00:00:06 dev eth0 nud permanent
ip -n tb-host-0-1 neighbour replace 10.0.0.5 lladdr 02:54:42:00:00:08 dev eth0 nud permanent
ip -n tb-host-0-1 neighbour replace 10.0.0.6 lladdr 02:54:42:00:00:0a dev eth0 nud permanent
ip -n tb-host-0-1 neighbour replace 10.0.0.7 lladdr 02:54:42:00:00:0c dev eth0 nud permanent
ip -n tb-host-0-1 neighbour replace 10.0.0.8 lladdr 02:54:42:00:00:0e dev eth0 nud permanent
ip -n tb-host-0-1 neighbour replace 10.0.0.9 lladdr 02:54:42:00:00:10 dev eth0 nud permanent
ip -n tb-host-0-1 neighbour replace 10.0.0.10 lladdr 02:54:42:00:00:12 dev eth0 nud permanent
ip -n tb-host-0-1 neighbour replace 10.0.0.11 lladdr 02:54:42:00:00:14 dev eth0 nud permanent
ip -n tb-host-0-1 neighbour replace 10.0.0.12 lladdr 02:54:42:00:00:16 dev eth0 nud permanent
ip -n tb-host-0-1 neighbour replace 10.0.0.13 lladdr 02:54:42:00:00:18 dev eth0 nud permanent
ip -n tb-host-0-1 neighbour replace 10.0.0.14 lladdr 02:54:42:00:00:1a dev eth0 nud permanent
ip -n tb-host-0-1 neighbour replace 10.0.0.15 lladdr 02:54:42:00:00:1c dev eth0 nud permanent
ip -n tb-host-0-1 neighbour replace 10.0.0.16 lladdr 02:54:42:00:00:1e dev eth0 nud permanent
ip netns exec tb-host-0-2 sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-host-0-2 sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-host-0-2 sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-host-0-2 sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-host-0-2 address add 10.0.0.3/24 dev eth0
ip -n tb-host-0-2 link set lo up
ip -n tb-host-0-2 link set eth0 up
ip -n tb-host-0-2 neighbour replace 10.0.0.1 lladdr 02:54:42:00:00:00 dev eth0 nud permanent
ip -n tb-host-0-2 neighbour replace 10.0.0.2 lladdr 02:54:42:00:00:02 dev eth0 nud permanent
ip -n tb-host-0-2 neighbour replace 10.0.0.4 lladdr 02:54:42:00:00:06 dev eth0 nud permanent
ip -n tb-host-0-2 neighbour replace 10.0.0.5 lladdr 02:54:42:00:00:08 dev eth0 nud permanent
ip -n tb-host-0-2 neighbour replace 10.0.0.6 lladdr 02:54:42:00:00:0a dev eth0 nud permanent
ip -n tb-host-0-2 neighbour replace 10.0.0.7 lladdr 02:54:42:00:00:0c dev eth0 nud permanent
ip -n tb-host-0-2 neighbour replace 10.0.0.8 lladdr 02:54:42:00:00:0e dev eth0 nud permanent
ip -n tb-host-0-2 neighbour replace 10.0.0.9 lladdr 02:54:42:00:00:10 dev eth0 nud permanent
ip -n tb-host-0-2 neighbour replace 10.0.0.10 lladdr 02:54:42:00:00:12 dev eth0 nud permanent
ip -n tb-host-0-2 neighbour replace 10.0.0.11 lladdr 02:54:42:00:00:14 dev eth0 nud permanent
ip -n tb-host-0-2 neighbour replace 10.0.0.12 lladdr 02:54:42:00:00:16 dev eth0 nud permanent
ip -n tb-host-0-2 neighbour replace 10.0.0.13 lladdr 02:54:42:00:00:18 dev eth0 nud permanent
ip -n tb-host-0-2 neighbour replace 10.0.0.14 lladdr 02:54:42:00:00:1a dev eth0 nud permanent
ip -n tb-host-0-2 neighbour replace 10.0.0.15 lladdr 02:54:42:00:00:1c dev eth0 nud permanent
ip -n tb-host-0-2 neighbour replace 10.0.0.16 lladdr 02:54:42:00:00:1e dev eth0 nud permanent
ip netns exec tb-host-0-3 sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-host-0-3 sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-host-0-3 sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-host-0-3 sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-host-0-3 address add 10.0.0.4/24 dev eth0
ip -n tb-host-0-3 link set lo up
ip -n tb-host-0-3 link set eth0 up
ip -n tb-host-0-3 neighbour replace 10.0.0.1 lladdr 02:54:42:00:00:00 dev eth0 nud permanent
ip -n tb-host-0-3 neighbour replace 10.0.0.2 lladdr 02:54:42:00:00:02 dev eth0 nud permanent
ip -n tb-host-0-3 neighbour replace 10.0.0.3 lladdr 02:54:42:00:00:04 dev eth0 nud permanent
ip -n tb-host-0-3 neighbour replace 10.0.0.5 lladdr 02:54:42:00:00:08 dev eth0 nud permanent
ip -n tb-host-0-3 neighbour replace 10.0.0.6 lladdr 02:54:42:00:00:0a dev eth0 nud permanent
ip -n tb-host-0-3 neighbour replace 10.0.0.7 lladdr 02:54:42:00:00:0c dev eth0 nud permanent
ip -n tb-host-0-3 neighbour replace 10.0.0.8 lladdr 02:54:42:00:00:0e dev eth0 nud permanent
ip -n tb-host-0-3 neighbour replace 10.0.0.9 lladdr 02:54:42:00:00:10 dev eth0 nud permanent
ip -n tb-host-0-3 neighbour replace 10.0.0.10 lladdr 02:54:42:00:00:12 dev eth0 nud permanent
ip -n tb-host-0-3 neighbour replace 10.0.0.11 lladdr 02:54:42:00:00:14 dev eth0 nud permanent
ip -n tb-host-0-3 neighbour replace 10.0.0.12 lladdr 02:54:42:00:00:16 dev eth0 nud permanent
ip -n tb-host-0-3 neighbour replace 10.0.0.13 lladdr 02:54:42:00:00:18 dev eth0 nud permanent
ip -n tb-host-0-3 neighbour replace 10.0.0.14 lladdr 02:54:42:00:00:1a dev eth0 nud permanent
ip -n tb-host-0-3 neighbour replace 10.0.0.15 lladdr 02:54:42:00:00:1c dev eth0 nud permanent
ip -n tb-host-0-3 neighbour replace 10.0.0.16 lladdr 02:54:42:00:00:1e dev eth0 nud permanent
ip netns exec tb-host-1-0 sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-host-1-0 sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-host-1-0 sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-host-1-0 sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-host-1-0 address add 10.0.0.5/24 dev eth0
ip -n tb-host-1-0 link set lo up
ip -n tb-host-1-0 link set eth0 up
ip -n tb-host-1-0 neighbour replace 10.0.0.1 lladdr 02:54:42:00:00:00 dev eth0 nud permanent
ip -n tb-host-1-0 neighbour replace 10.0.0.2 lladdr 02:54:42:00:00:02 dev eth0 nud permanent
ip -n tb-host-1-0 neighbour replace 10.0.0.3 lladdr 02:54:42:00:00:04 dev eth0 nud permanent
ip -n tb-host-1-0 neighbour replace 10.0.0.4 lladdr 02:54:42:00:00:06 dev eth0 nud permanent
ip -n tb-host-1-0 neighbour replace 10.0.0.6 lladdr 02:54:42:00:00:0a dev eth0 nud permanent
ip -n tb-host-1-0 neighbour replace 10.0.0.7 lladdr 02:54:42:00:00:0c dev eth0 nud permanent
ip -n tb-host-1-0 neighbour replace 10.0.0.8 lladdr 02:54:42:00:00:0e dev eth0 nud permanent
ip -n tb-host-1-0 neighbour replace 10.0.0.9 lladdr 02:54:42:00:00:10 dev eth0 nud permanent
ip -n tb-host-1-0 neighbour replace 10.0.0.10 lladdr 02:54:42:00:00:12 dev eth0 nud permanent
ip -n tb-host-1-0 neighbour replace 10.0.0.11 lladdr 02:54:42:00:00:14 dev eth0 nud permanent
ip -n tb-host-1-0 neighbour replace 10.0.0.12 lladdr 02:54:42:00:00:16 dev eth0 nud permanent
ip -n tb-host-1-0 neighbour replace 10.0.0.13 lladdr 02:54:42:00:00:18 dev eth0 nud permanent
ip -n tb-host-1-0 neighbour replace 10.0.0.14 lladdr 02:54:42:00:00:1a dev eth0 nud permanent
ip -n tb-host-1-0 neighbour replace 10.0.0.15 lladdr 02:54:42:00:00:1c dev eth0 nud permanent
ip -n tb-host-1-0 neighbour replace 10.0.0.16 lladdr 02:54:42:00:00:1e dev eth0 nud permanent
ip netns exec tb-host-1-1 sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-host-1-1 sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-host-1-1 sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-host-1-1 sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-host-1-1 address add 10.0.0.6/24 dev eth0
ip -n tb-host-1-1 link set lo up
ip -n tb-host-1-1 link set eth0 up
ip -n tb-host-1-1 neighbour replace 10.0.0.1 lladdr 02:54:42:00:00:00 dev eth0 nud permanent
ip -n tb-host-1-1 neighbour replace 10.0.0.2 lladdr 02:54:42:00:00:02 dev eth0 nud permanent
ip -n tb-host-1-1 neighbour replace 10.0.0.3 lladdr 02:54:42:00:00:04 dev eth0 nud permanent
ip -n tb-host-1-1 neighbour replace 10.0.0.4 lladdr 02:54:42:00:00:06 dev eth0 nud permanent
ip -n tb-host-1-1 neighbour replace 10.0.0.5 lladdr 02:54:42:00:00:08 dev eth0 nud permanent
ip -n tb-host-1-1 neighbour replace 10.0.0.7 lladdr 02:54:42:00:00:0c dev eth0 nud permanent
ip -n tb-host-1-1 neighbour replace 10.0.0.8 lladdr 02:54:42:00:00:0e dev eth0 nud permanent
ip -n tb-host-1-1 neighbour replace 10.0.0.9 lladdr 02:54:42:00:00:10 dev eth0 nud permanent
ip -n tb-host-1-1 neighbour replace 10.0.0.10 lladdr 02:54:42:00:00:12 dev eth0 nud permanent
ip -n tb-host-1-1 neighbour replace 10.0.0.11 lladdr 02:54:42:00:00:14 dev eth0 nud permanent
ip -n tb-host-1-1 neighbour replace 10.0.0.12 lladdr 02:54:42:00:00:16 dev eth0 nud permanent
ip -n tb-host-1-1 neighbour replace 10.0.0.13 lladdr 02:54:42:00:00:18 dev eth0 nud permanent
ip -n tb-host-1-1 neighbour replace 10.0.0.14 lladdr 02:54:42:00:00:1a dev eth0 nud permanent
ip -n tb-host-1-1 neighbour replace 10.0.0.15 lladdr 02:54:42:00:00:1c dev eth0 nud permanent
ip -n tb-host-1-1 neighbour replace 10.0.0.16 lladdr 02:54:42:00:00:1e dev eth0 nud permanent
ip netns exec tb-host-1-2 sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-host-1-2 sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-host-1-2 sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-host-1-2 sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-host-1-2 address add 10.0.0.7/24 dev eth0
ip -n tb-host-1-2 link set lo up
ip -n tb-host-1-2 link set eth0 up
ip -n tb-host-1-2 neighbour replace 10.0.0.1 lladdr 02:54:42:00:00:00 dev eth0 nud permanent
ip -n tb-host-1-2 neighbour replace 10.0.0.2 lladdr 02:54:42:00:00:02 dev eth0 nud permanent
ip -n tb-host-1-2 neighbour replace 10.0.0.3 lladdr 02:54:42:00:00:04 dev eth0 nud permanent
ip -n tb-host-1-2 neighbour replace 10.0.0.4 lladdr 02:54:42:00:00:06 dev eth0 nud permanent
ip -n tb-host-1-2 neighbour replace 10.0.0.5 lladdr 02:54:42:00:00:08 dev eth0 nud permanent
ip -n tb-host-1-2 neighbour replace 10.0.0.6 lladdr 02:54:42:00:00:0a dev eth0 nud permanent
ip -n tb-host-1-2 neighbour replace 10.0.0.8 lladdr 02:54:42:00:00:0e dev eth0 nud permanent
ip -n tb-host-1-2 neighbour replace 10.0.0.9 lladdr 02:54:42:00:00:10 dev eth0 nud permanent
ip -n tb-host-1-2 neighbour replace 10.0.0.10 lladdr 02:54:42:00:00:12 dev eth0 nud permanent
ip -n tb-host-1-2 neighbour replace 10.0.0.11 lladdr 02:54:42:00:00:14 dev eth0 nud permanent
ip -n tb-host-1-2 neighbour replace 10.0.0.12 lladdr 02:54:42:00:00:16 dev eth0 nud permanent
ip -n tb-host-1-2 neighbour replace 10.0.0.13 lladdr 02:54:42:00:00:18 dev eth0 nud permanent
ip -n tb-host-1-2 neighbour replace 10.0.0.14 lladdr 02:54:42:00:00:1a dev eth0 nud permanent
ip -n tb-host-1-2 neighbour replace 10.0.0.15 lladdr 02:54:42:00:00:1c dev eth0 nud permanent
ip -n tb-host-1-2 neighbour replace 10.0.0.16 lladdr 02:54:42:00:00:1e dev eth0 nud permanent
ip netns exec tb-host-1-3 sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-host-1-3 sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-host-1-3 sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-host-1-3 sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-host-1-3 address add 10.0.0.8/24 dev eth0
ip -n tb-host-1-3 link set lo up
ip -n tb-host-1-3 link set eth0 up
ip -n tb-host-1-3 neighbour replace 10.0.0.1 lladdr 02:54:42:00:00:00 dev eth0 nud permanent
ip -n tb-host-1-3 neighbour replace 10.0.0.2 lladdr 02:54:42:00:00:02 dev eth0 nud permanent
ip -n tb-host-1-3 neighbour replace 10.0.0.3 lladdr 02:54:42:00:00:04 dev eth0 nud permanent
ip -n tb-host-1-3 neighbour replace 10.0.0.4 lladdr 02:54:42:00:00:06 dev eth0 nud permanent
ip -n tb-host-1-3 neighbour replace 10.0.0.5 lladdr 02:54:42:00:00:08 dev eth0 nud permanent
ip -n tb-host-1-3 neighbour replace 10.0.0.6 lladdr 02:54:42:00:00:0a dev eth0 nud permanent
ip -n tb-host-1-3 neighbour replace 10.0.0.7 lladdr 02:54:42:00:00:0c dev eth0 nud permanent
ip -n tb-host-1-3 neighbour replace 10.0.0.9 lladdr 02:54:42:00:00:10 dev eth0 nud permanent
ip -n tb-host-1-3 neighbour replace 10.0.0.10 lladdr 02:54:42:00:00:12 dev eth0 nud permanent
ip -n tb-host-1-3 neighbour replace 10.0.0.11 lladdr 02:54:42:00:00:14 dev eth0 nud permanent
ip -n tb-host-1-3 neighbour replace 10.0.0.12 lladdr 02:54:42:00:00:16 dev eth0 nud permanent
ip -n tb-host-1-3 neighbour replace 10.0.0.13 lladdr 02:54:42:00:00:18 dev eth0 nud permanent
ip -n tb-host-1-3 neighbour replace 10.0.0.14 lladdr 02:54:42:00:00:1a dev eth0 nud permanent
ip -n tb-host-1-3 neighbour replace 10.0.0.15 lladdr 02:54:42:00:00:1c dev eth0 nud permanent
ip -n tb-host-1-3 neighbour replace 10.0.0.16 lladdr 02:54:42:00:00:1e dev eth0 nud permanent
ip netns exec tb-host-2-0 sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-host-2-0 sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-host-2-0 sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-host-2-0 sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-host-2-0 address add 10.0.0.9/24 dev eth0
ip -n tb-host-2-0 link set lo up
ip -n tb-host-2-0 link set eth0 up
ip -n tb-host-2-0 neighbour replace 10.0.0.1 lladdr 02:54:42:00:00:00 dev eth0 nud permanent
ip -n tb-host-2-0 neighbour replace 10.0.0.2 lladdr 02:54:42:00:00:02 dev eth0 nud permanent
ip -n tb-host-2-0 neighbour replace 10.0.0.3 lladdr 02:54:42:00:00:04 dev eth0 nud permanent
ip -n tb-host-2-0 neighbour replace 10.0.0.4 lladdr 02:54:42:00:00:06 dev eth0 nud permanent
ip -n tb-host-2-0 neighbour replace 10.0.0.5 lladdr 02:54:42:00:00:08 dev eth0 nud permanent
ip -n tb-host-2-0 neighbour replace 10.0.0.6 lladdr 02:54:42:00:00:0a dev eth0 nud permanent
ip -n tb-host-2-0 neighbour replace 10.0.0.7 lladdr 02:54:42:00:00:0c dev eth0 nud permanent
ip -n tb-host-2-0 neighbour replace 10.0.0.8 lladdr 02:54:42:00:00:0e dev eth0 nud permanent
ip -n tb-host-2-0 neighbour replace 10.0.0.10 lladdr 02:54:42:00:00:12 dev eth0 nud permanent
ip -n tb-host-2-0 neighbour replace 10.0.0.11 lladdr 02:54:42:00:00:14 dev eth0 nud permanent
ip -n tb-host-2-0 neighbour replace 10.0.0.12 lladdr 02:54:42:00:00:16 dev eth0 nud permanent
ip -n tb-host-2-0 neighbour replace 10.0.0.13 lladdr 02:54:42:00:00:18 dev eth0 nud permanent
ip -n tb-host-2-0 neighbour replace 10.0.0.14 lladdr 02:54:42:00:00:1a dev eth0 nud permanent
ip -n tb-host-2-0 neighbour replace 10.0.0.15 lladdr 02:54:42:00:00:1c dev eth0 nud permanent
ip -n tb-host-2-0 neighbour replace 10.0.0.16 lladdr 02:54:42:00:00:1e dev eth0 nud permanent
ip netns exec tb-host-2-1 sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-host-2-1 sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-host-2-1 sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-host-2-1 sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-host-2-1 address add 10.0.0.10/24 dev eth0
ip -n tb-host-2-1 link set lo up
ip -n tb-host-2-1 link set eth0 up
ip -n tb-host-2-1 neighbour replace 10.0.0.1 lladdr 02:54:42:00:00:00 dev eth0 nud permanent
ip -n tb-host-2-1 neighbour replace 10.0.0.2 lladdr 02:54:42:00:00:02 dev eth0 nud permanent
ip -n tb-host-2-1 neighbour replace 10.0.0.3 lladdr 02:54:42:00:00:04 dev eth0 nud permanent
ip -n tb-host-2-1 neighbour replace 10.0.0.4 lladdr 02:54:42:00:00:06 dev eth0 nud permanent
ip -n tb-host-2-1 neighbour replace 10.0.0.5 lladdr 02:54:42:00:00:08 dev eth0 nud permanent
ip -n tb-host-2-1 neighbour replace 10.0.0.6 lladdr 02:54:42:00:00:0a dev eth0 nud permanent
ip -n tb-host-2-1 neighbour replace 10.0.0.7 lladdr 02:54:42:00:00:0c dev eth0 nud permanent
ip -n tb-host-2-1 neighbour replace 10.0.0.8 lladdr 02:54:42:00:00:0e dev eth0 nud permanent
ip -n tb-host-2-1 neighbour replace 10.0.0.9 lladdr 02:54:42:00:00:10 dev eth0 nud permanent
ip -n tb-host-2-1 neighbour replace 10.0.0.11 lladdr 02:54:42:00:00:14 dev eth0 nud permanent
ip -n tb-host-2-1 neighbour replace 10.0.0.12 lladdr 02:54:42:00:00:16 dev eth0 nud permanent
ip -n tb-host-2-1 neighbour replace 10.0.0.13 lladdr 02:54:42:00:00:18 dev eth0 nud permanent
ip -n tb-host-2-1 neighbour replace 10.0.0.14 lladdr 02:54:42:00:00:1a dev eth0 nud permanent
ip -n tb-host-2-1 neighbour replace 10.0.0.15 lladdr 02:54:42:00:00:1c dev eth0 nud permanent
ip -n tb-host-2-1 neighbour replace 10.0.0.16 lladdr 02:54:42:00:00:1e dev eth0 nud permanent
ip netns exec tb-host-2-2 sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-host-2-2 sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-host-2-2 sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-host-2-2 sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-host-2-2 address add 10.0.0.11/24 dev eth0
ip -n tb-host-2-2 link set lo up
ip -n tb-host-2-2 link set eth0 up
ip -n tb-host-2-2 neighbour replace 10.0.0.1 lladdr 02:54:42:00:00:00 dev eth0 nud permanent
ip -n tb-host-2-2 neighbour replace 10.0.0.2 lladdr 02:54:42:00:00:02 dev eth0 nud permanent
ip -n tb-host-2-2 neighbour replace 10.0.0.3 lladdr 02:54:42:00:00:04 dev eth0 nud permanent
ip -n tb-host-2-2 neighbour replace 10.0.0.4 lladdr 02:54:42:00:00:06 dev eth0 nud permanent
ip -n tb-host-2-2 neighbour replace 10.0.0.5 lladdr 02:54:42:00:00:08 dev eth0 nud permanent
ip -n tb-host-2-2 neighbour replace 10.0.0.6 lladdr 02:54:42:00:00:0a dev eth0 nud permanent
ip -n tb-host-2-2 neighbour replace 10.0.0.7 lladdr 02:54:42:00:00:0c dev eth0 nud permanent
ip -n tb-host-2-2 neighbour replace 10.0.0.8 lladdr 02:54:42:00:00:0e dev eth0 nud permanent
ip -n tb-host-2-2 neighbour replace 10.0.0.9 lladdr 02:54:42:00:00:10 dev eth0 nud permanent
ip -n tb-host-2-2 neighbour replace 10.0.0.10 lladdr 02:54:42:00:00:12 dev eth0 nud permanent
ip -n tb-host-2-2 neighbour replace 10.0.0.12 lladdr 02:54:42:00:00:16 dev eth0 nud permanent
ip -n tb-host-2-2 neighbour replace 10.0.0.13 lladdr 02:54:42:00:00:18 dev eth0 nud permanent
ip -n tb-host-2-2 neighbour replace 10.0.0.14 lladdr 02:54:42:00:00:1a dev eth0 nud permanent
ip -n tb-host-2-2 neighbour replace 10.0.0.15 lladdr 02:54:42:00:00:1c dev eth0 nud permanent
ip -n tb-host-2-2 neighbour replace 10.0.0.16 lladdr 02:54:42:00:00:1e dev eth0 nud permanent
ip netns exec tb-host-2-3 sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-host-2-3 sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-host-2-3 sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-host-2-3 sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-host-2-3 address add 10.0.0.12/24 dev eth0
ip -n tb-host-2-3 link set lo up
ip -n tb-host-2-3 link set eth0 up
ip -n tb-host-2-3 neighbour replace 10.0.0.1 lladdr 02:54:42:00:00:00 dev eth0 nud permanent
ip -n tb-host-2-3 neighbour replace 10.0.0.2 lladdr 02:54:42:00:00:02 dev eth0 nud permanent
ip -n tb-host-2-3 neighbour replace 10.0.0.3 lladdr 02:54:42:00:00:04 dev eth0 nud permanent
ip -n tb-host-2-3 neighbour replace 10.0.0.4 lladdr 02:54:42:00:00:06 dev eth0 nud permanent
ip -n tb-host-2-3 neighbour replace 10.0.0.5 lladdr 02:54:42:00:00:08 dev eth0 nud permanent
ip -n tb-host-2-3 neighbour replace 10.0.0.6 lladdr 02:54:42:00:00:0a dev eth0 nud permanent
ip -n tb-host-2-3 neighbour replace 10.0.0.7 lladdr 02:54:42:00:00:0c dev eth0 nud permanent
ip -n tb-host-2-3 neighbour replace 10.0.0.8 lladdr 02:54:42:00:00:0e dev eth0 nud permanent
ip -n tb-host-2-3 neighbour replace 10.0.0.9 lladdr 02:54:42:00:00:10 dev eth0 nud permanent
ip -n tb-host-2-3 neighbour replace 10.0.0.10 lladdr 02:54:42:00:00:12 dev eth0 nud permanent
ip -n tb-host-2-3 neighbour replace 10.0.0.11 lladdr 02:54:42:00:00:14 dev eth0 nud permanent
ip -n tb-host-2-3 neighbour replace 10.0.0.13 lladdr 02:54:42:00:00:18 dev eth0 nud permanent
ip -n tb-host-2-3 neighbour replace 10.0.0.14 lladdr 02:54:42:00:00:1a dev eth0 nud permanent
ip -n tb-host-2-3 neighbour replace 10.0.0.15 lladdr 02:54:42:00:00:1c dev eth0 nud permanent
ip -n tb-host-2-3 neighbour replace 10.0.0.16 lladdr 02:54:42:00:00:1e dev eth0 nud permanent
ip netns exec tb-host-3-0 sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-host-3-0 sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-host-3-0 sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-host-3-0 sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-host-3-0 address add 10.0.0.13/24 dev eth0
ip -n tb-host-3-0 link set lo up
ip -n tb-host-3-0 link set eth0 up
ip -n tb-host-3-0 neighbour replace 10.0.0.1 lladdr 02:54:42:00:00:00 dev eth0 nud permanent
ip -n tb-host-3-0 neighbour replace 10.0.0.2 lladdr 02:54:42:00:00:02 dev eth0 nud permanent
ip -n tb-host-3-0 neighbour replace 10.0.0.3 lladdr 02:54:42:00:00:04 dev eth0 nud permanent
ip -n tb-host-3-0 neighbour replace 10.0.0.4 lladdr 02:54:42:00:00:06 dev eth0 nud permanent
ip -n tb-host-3-0 neighbour replace 10.0.0.5 lladdr 02:54:42:00:00:08 dev eth0 nud permanent
ip -n tb-host-3-0 neighbour replace 10.0.0.6 lladdr 02:54:42:00:00:0a dev eth0 nud permanent
ip -n tb-host-3-0 neighbour replace 10.0.0.7 lladdr 02:54:42:00:00:0c dev eth0 nud permanent
ip -n tb-host-3-0 neighbour replace 10.0.0.8 lladdr 02:54:42:00:00:0e dev eth0 nud permanent
ip -n tb-host-3-0 neighbour replace 10.0.0.9 lladdr 02:54:42:00:00:10 dev eth0 nud permanent
ip -n tb-host-3-0 neighbour replace 10.0.0.10 lladdr 02:54:42:00:00:12 dev eth0 nud permanent
ip -n tb-host-3-0 neighbour replace 10.0.0.11 lladdr 02:54:42:00:00:14 dev eth0 nud permanent
ip -n tb-host-3-0 neighbour replace 10.0.0.12 lladdr 02:54:42:00:00:16 dev eth0 nud permanent
ip -n tb-host-3-0 neighbour replace 10.0.0.14 lladdr 02:54:42:00:00:1a dev eth0 nud permanent
ip -n tb-host-3-0 neighbour replace 10.0.0.15 lladdr 02:54:42:00:00:1c dev eth0 nud permanent
ip -n tb-host-3-0 neighbour replace 10.0.0.16 lladdr 02:54:42:00:00:1e dev eth0 nud permanent
ip netns exec tb-host-3-1 sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-host-3-1 sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-host-3-1 sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-host-3-1 sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-host-3-1 address add 10.0.0.14/24 dev eth0
ip -n tb-host-3-1 link set lo up
ip -n tb-host-3-1 link set eth0 up
ip -n tb-host-3-1 neighbour replace 10.0.0.1 lladdr 02:54:42:00:00:00 dev eth0 nud permanent
ip -n tb-host-3-1 neighbour replace 10.0.0.2 lladdr 02:54:42:00:00:02 dev eth0 nud permanent
ip -n tb-host-3-1 neighbour replace 10.0.0.3 lladdr 02:54:42:00:00:04 dev eth0 nud permanent
ip -n tb-host-3-1 neighbour replace 10.0.0.4 lladdr 02:54:42:00:00:06 dev eth0 nud permanent
ip -n tb-host-3-1 neighbour replace 10.0.0.5 lladdr 02:54:42:00:00:08 dev eth0 nud permanent
ip -n tb-host-3-1 neighbour replace 10.0.0.6 lladdr 02:54:42:00:00:0a dev eth0 nud permanent
ip -n tb-host-3-1 neighbour replace 10.0.0.7 lladdr 02:54:42:00:00:0c dev eth0 nud permanent
ip -n tb-host-3-1 neighbour replace 10.0.0.8 lladdr 02:54:42:00:00:0e dev eth0 nud permanent
ip -n tb-host-3-1 neighbour replace 10.0.0.9 lladdr 02:54:42:00:00:10 dev eth0 nud permanent
ip -n tb-host-3-1 neighbour replace 10.0.0.10 lladdr 02:54:42:00:00:12 dev eth0 nud permanent
ip -n tb-host-3-1 neighbour replace 10.0.0.11 lladdr 02:54:42:00:00:14 dev eth0 nud permanent
ip -n tb-host-3-1 neighbour replace 10.0.0.12 lladdr 02:54:42:00:00:16 dev eth0 nud permanent
ip -n tb-host-3-1 neighbour replace 10.0.0.13 lladdr 02:54:42:00:00:18 dev eth0 nud permanent
ip -n tb-host-3-1 neighbour replace 10.0.0.15 lladdr 02:54:42:00:00:1c dev eth0 nud permanent
ip -n tb-host-3-1 neighbour replace 10.0.0.16 lladdr 02:54:42:00:00:1e dev eth0 nud permanent
ip netns exec tb-host-3-2 sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-host-3-2 sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-host-3-2 sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-host-3-2 sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-host-3-2 address add 10.0.0.15/24 dev eth0
ip -n tb-host-3-2 link set lo up
ip -n tb-host-3-2 link set eth0 up
ip -n tb-host-3-2 neighbour replace 10.0.0.1 lladdr 02:54:42:00:00:00 dev eth0 nud permanent
ip -n tb-host-3-2 neighbour replace 10.0.0.2 lladdr 02:54:42:00:00:02 dev eth0 nud permanent
ip -n tb-host-3-2 neighbour replace 10.0.0.3 lladdr 02:54:42:00:00:04 dev eth0 nud permanent
ip -n tb-host-3-2 neighbour replace 10.0.0.4 lladdr 02:54:42:00:00:06 dev eth0 nud permanent
ip -n tb-host-3-2 neighbour replace 10.0.0.5 lladdr 02:54:42:00:00:08 dev eth0 nud permanent
ip -n tb-host-3-2 neighbour replace 10.0.0.6 lladdr 02:54:42:00:00:0a dev eth0 nud permanent
ip -n tb-host-3-2 neighbour replace 10.0.0.7 lladdr 02:54:42:00:00:0c dev eth0 nud permanent
ip -n tb-host-3-2 neighbour replace 10.0.0.8 lladdr 02:54:42:00:00:0e dev eth0 nud permanent
ip -n tb-host-3-2 neighbour replace 10.0.0.9 lladdr 02:54:42:00:00:10 dev eth0 nud permanent
ip -n tb-host-3-2 neighbour replace 10.0.0.10 lladdr 02:54:42:00:00:12 dev eth0 nud permanent
ip -n tb-host-3-2 neighbour replace 10.0.0.11 lladdr 02:54:42:00:00:14 dev eth0 nud permanent
ip -n tb-host-3-2 neighbour replace 10.0.0.12 lladdr 02:54:42:00:00:16 dev eth0 nud permanent
ip -n tb-host-3-2 neighbour replace 10.0.0.13 lladdr 02:54:42:00:00:18 dev eth0 nud permanent
ip -n tb-host-3-2 neighbour replace 10.0.0.14 lladdr 02:54:42:00:00:1a dev eth0 nud permanent
ip -n tb-host-3-2 neighbour replace 10.0.0.16 lladdr 02:54:42:00:00:1e dev eth0 nud permanent
ip netns exec tb-host-3-3 sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-host-3-3 sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-host-3-3 sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-host-3-3 sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-host-3-3 address add 10.0.0.16/24 dev eth0
ip -n tb-host-3-3 link set lo up
ip -n tb-host-3-3 link set eth0 up
ip -n tb-host-3-3 neighbour replace 10.0.0.1 lladdr 02:54:42:00:00:00 dev eth0 nud permanent
ip -n tb-host-3-3 neighbour replace 10.0.0.2 lladdr 02:54:42:00:00:02 dev eth0 nud permanent
ip -n tb-host-3-3 neighbour replace 10.0.0.3 lladdr 02:54:42:00:00:04 dev eth0 nud permanent
ip -n tb-host-3-3 neighbour replace 10.0.0.4 lladdr 02:54:42:00:00:06 dev eth0 nud permanent
ip -n tb-host-3-3 neighbour replace 10.0.0.5 lladdr 02:54:42:00:00:08 dev eth0 nud permanent
ip -n tb-host-3-3 neighbour replace 10.0.0.6 lladdr 02:54:42:00:00:0a dev eth0 nud permanent
ip -n tb-host-3-3 neighbour replace 10.0.0.7 lladdr 02:54:42:00:00:0c dev eth0 nud permanent
ip -n tb-host-3-3 neighbour replace 10.0.0.8 lladdr 02:54:42:00:00:0e dev eth0 nud permanent
ip -n tb-host-3-3 neighbour replace 10.0.0.9 lladdr 02:54:42:00:00:10 dev eth0 nud permanent
ip -n tb-host-3-3 neighbour replace 10.0.0.10 lladdr 02:54:42:00:00:12 dev eth0 nud permanent
ip -n tb-host-3-3 neighbour replace 10.0.0.11 lladdr 02:54:42:00:00:14 dev eth0 nud permanent
ip -n tb-host-3-3 neighbour replace 10.0.0.12 lladdr 02:54:42:00:00:16 dev eth0 nud permanent
ip -n tb-host-3-3 neighbour replace 10.0.0.13 lladdr 02:54:42:00:00:18 dev eth0 nud permanent
ip -n tb-host-3-3 neighbour replace 10.0.0.14 lladdr 02:54:42:00:00:1a dev eth0 nud permanent
ip -n tb-host-3-3 neighbour replace 10.0.0.15 lladdr 02:54:42:00:00:1c dev eth0 nud permanent
ip netns exec tb-edge-0-0 sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-edge-0-0 link set lo up
ip -n tb-edge-0-0 link set eth0 up
ip -n tb-edge-0-0 link set eth1 up
ip -n tb-edge-0-0 link set eth2 up
ip -n tb-edge-0-0 link set eth3 up
ip netns exec tb-edge-0-1 sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-edge-0-1 link set lo up
ip -n tb-edge-0-1 link set eth0 up
ip -n tb-edge-0-1 link set eth1 up
ip -n tb-edge-0-1 link set eth2 up
ip -n tb-edge-0-1 link set eth3 up
ip netns exec tb-agg-0-0 sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-agg-0-0 link set lo up
ip -n tb-agg-0-0 link set eth0 up
ip -n tb-agg-0-0 link set eth1 up
ip -n tb-agg-0-0 link set eth2 up
ip -n tb-agg-0-0 link set eth3 up
ip netns exec tb-agg-0-1 sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-agg-0-1 link set lo up
ip -n tb-agg-0-1 link set eth0 up
ip -n tb-agg-0-1 link set eth1 up
ip -n tb-agg-0-1 link set eth2 up
ip -n tb-agg-0-1 link set eth3 up
ip netns exec tb-edge-1-0 sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-edge-1-0 link set lo up
ip -n tb-edge-1-0 link set eth0 up
ip -n tb-edge-1-0 link set eth1 up
ip -n tb-edge-1-0 link set eth2 up
ip -n tb-edge-1-0 link set eth3 up
ip netns exec tb-edge-1-1 sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-edge-1-1 link set lo up
ip -n tb-edge-1-1 link set eth0 up
ip -n tb-edge-1-1 link set eth1 up
ip -n tb-edge-1-1 link set eth2 up
ip -n tb-edge-1-1 link set eth3 up
ip netns exec tb-agg-1-0 sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-agg-1-0 link set lo up
ip -n tb-agg-1-0 link set eth0 up
ip -n tb-agg-1-0 link set eth1 up
ip -n tb-agg-1-0 link set eth2 up
ip -n tb-agg-1-0 link set eth3 up
ip netns exec tb-agg-1-1 sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-agg-1-1 link set lo up
ip -n tb-agg-1-1 link set eth0 up
ip -n tb-agg-1-1 link set eth1 up
ip -n tb-agg-1-1 link set eth2 up
ip -n tb-agg-1-1 link set eth3 up
ip netns exec tb-edge-2-0 sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-edge-2-0 link set lo up
ip -n tb-edge-2-0 link set eth0 up
ip -n tb-edge-2-0 link set eth1 up
ip -n tb-edge-2-0 link set eth2 up
ip -n tb-edge-2-0 link set eth3 up
ip netns exec tb-edge-2-1 sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-edge-2-1 link set lo up
ip -n tb-edge-2-1 link set eth0 up
ip -n tb-edge-2-1 link set eth1 up
ip -n tb-edge-2-1 link set eth2 up
ip -n tb-edge-2-1 link set eth3 up
ip netns exec tb-agg-2-0 sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-agg-2-0 link set lo up
ip -n tb-agg-2-0 link set eth0 up
ip -n tb-agg-2-0 link set eth1 up
ip -n tb-agg-2-0 link set eth2 up
ip -n tb-agg-2-0 link set eth3 up
ip netns exec tb-agg-2-1 sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-agg-2-1 link set lo up
ip -n tb-agg-2-1 link set eth0 up
ip -n tb-agg-2-1 link set eth1 up
ip -n tb-agg-2-1 link set eth2 up
ip -n tb-agg-2-1 link set eth3 up
ip netns exec tb-edge-3-0 sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-edge-3-0 link set lo up
ip -n tb-edge-3-0 link set eth0 up
ip -n tb-edge-3-0 link set eth1 up
ip -n tb-edge-3-0 link set eth2 up
ip -n tb-edge-3-0 link set eth3 up
ip netns exec tb-edge-3-1 sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-edge-3-1 link set lo up
ip -n tb-edge-3-1 link set eth0 up
ip -n tb-edge-3-1 link set eth1 up
ip -n tb-edge-3-1 link set eth2 up
ip -n tb-edge-3-1 link set eth3 up
ip netns exec tb-agg-3-0 sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-agg-3-0 link set lo up
ip -n tb-agg-3-0 link set eth0 up
ip -n tb-agg-3-0 link set eth1 up
ip -n tb-agg-3-0 link set eth2 up
ip -n tb-agg-3-0 link set eth3 up
ip netns exec tb-agg-3-1 sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-agg-3-1 link set lo up
ip -n tb-agg-3-1 link set eth0 up
ip -n tb-agg-3-1 link set eth1 up
ip -n tb-agg-3-1 link set eth2 up
ip -n tb-agg-3-1 link set eth3 up
ip netns exec tb-core-0 sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-core-0 link set lo up
ip -n tb-core-0 link set eth0 up
ip -n tb-core-0 link set eth1 up
ip -n tb-core-0 link set eth2 up
ip -n tb-core-0 link set eth3 up
ip netns exec tb-core-1 sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-core-1 link set lo up
ip -n tb-core-1 link set eth0 up
ip -n tb-core-1 link set eth1 up
ip -n tb-core-1 link set eth2 up
ip -n tb-core-1 link set eth3 up
ip netns exec tb-core-2 sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-core-2 link set lo up
ip -n tb-core-2 link set eth0 up
ip -n tb-core-2 link set eth1 up
ip -n tb-core-2 link set eth2 up
ip -n tb-core-2 link set eth3 up
ip netns exec tb-core-3 sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-core-3 link set lo up
ip -n tb-core-3 link set eth0 up
ip -n tb-core-3 link set eth1 up
ip -n tb-core-3 link set eth2 up
ip -n tb-core-3 link set eth3 up
ip netns exec tb-c0 sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-c0 link set lo up
ip netns exec tb-host-0-0 ethtool -K eth0 gro on
ip netns exec tb-host-0-0 sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-host-0-0 sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-host-0-1 ethtool -K eth0 gro on
ip netns exec tb-host-0-1 sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-host-0-1 sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-host-0-2 ethtool -K eth0 gro on
ip netns exec tb-host-0-2 sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-host-0-2 sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-host-0-3 ethtool -K eth0 gro on
ip netns exec tb-host-0-3 sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-host-0-3 sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-host-1-0 ethtool -K eth0 gro on
ip netns exec tb-host-1-0 sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-host-1-0 sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-host-1-1 ethtool -K eth0 gro on
ip netns exec tb-host-1-1 sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-host-1-1 sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-host-1-2 ethtool -K eth0 gro on
ip netns exec tb-host-1-2 sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-host-1-2 sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-host-1-3 ethtool -K eth0 gro on
ip netns exec tb-host-1-3 sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-host-1-3 sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-host-2-0 ethtool -K eth0 gro on
ip netns exec tb-host-2-0 sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-host-2-0 sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-host-2-1 ethtool -K eth0 gro on
ip netns exec tb-host-2-1 sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-host-2-1 sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-host-2-2 ethtool -K eth0 gro on
ip netns exec tb-host-2-2 sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-host-2-2 sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-host-2-3 ethtool -K eth0 gro on
ip netns exec tb-host-2-3 sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-host-2-3 sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-host-3-0 ethtool -K eth0 gro on
ip netns exec tb-host-3-0 sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-host-3-0 sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-host-3-1 ethtool -K eth0 gro on
ip netns exec tb-host-3-1 sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-host-3-1 sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-host-3-2 ethtool -K eth0 gro on
ip netns exec tb-host-3-2 sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-host-3-2 sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-host-3-3 ethtool -K eth0 gro on
ip netns exec tb-host-3-3 sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-host-3-3 sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip link add name ctl0 address 02:54:43:00:00:02 mtu 1500 netns tb-edge-0-0 type veth peer name port1 mtu 1500 netns tb-c0.control
ip link add name ctl0 address 02:54:43:00:00:03 mtu 1500 netns tb-edge-0-1 type veth peer name port2 mtu 1500 netns tb-c0.control
ip link add name ctl0 address 02:54:43:00:00:04 mtu 1500 netns tb-agg-0-0 type veth peer name port3 mtu 1500 netns tb-c0.control
ip link add name ctl0 address 02:54:43:00:00:05 mtu 1500 netns tb-agg-0-1 type veth peer name port4 mtu 1500 netns tb-c0.control
ip link add name ctl0 address 02:54:43:00:00:06 mtu 1500 netns tb-edge-1-0 type veth peer name port5 mtu 1500 netns tb-c0.control
ip link add name ctl0 address 02:54:43:00:00:07 mtu 1500 netns tb-edge-1-1 type veth peer name port6 mtu 1500 netns tb-c0.control
ip link add name ctl0 address 02:54:43:00:00:08 mtu 1500 netns tb-agg-1-0 type veth peer name port7 mtu 1500 netns tb-c0.control
ip link add name ctl0 address 02:54:43:00:00:09 mtu 1500 netns tb-agg-1-1 type veth peer name port8 mtu 1500 netns tb-c0.control
ip link add name ctl0 address 02:54:43:00:00:0a mtu 1500 netns tb-edge-2-0 type veth peer name port9 mtu 1500 netns tb-c0.control
ip link add name ctl0 address 02:54:43:00:00:0b mtu 1500 netns tb-edge-2-1 type veth peer name port10 mtu 1500 netns tb-c0.control
ip link add name ctl0 address 02:54:43:00:00:0c mtu 1500 netns tb-agg-2-0 type veth peer name port11 mtu 1500 netns tb-c0.control
ip link add name ctl0 address 02:54:43:00:00:0d mtu 1500 netns tb-agg-2-1 type veth peer name port12 mtu 1500 netns tb-c0.control
ip link add name ctl0 address 02:54:43:00:00:0e mtu 1500 netns tb-edge-3-0 type veth peer name port13 mtu 1500 netns tb-c0.control
ip link add name ctl0 address 02:54:43:00:00:0f mtu 1500 netns tb-edge-3-1 type veth peer name port14 mtu 1500 netns tb-c0.control
ip link add name ctl0 address 02:54:43:00:00:10 mtu 1500 netns tb-agg-3-0 type veth peer name port15 mtu 1500 netns tb-c0.control
ip link add name ctl0 address 02:54:43:00:00:11 mtu 1500 netns tb-agg-3-1 type veth peer name port16 mtu 1500 netns tb-c0.control
ip link add name ctl0 address 02:54:43:00:00:12 mtu 1500 netns tb-core-0 type veth peer name port17 mtu 1500 netns tb-c0.control
ip link add name ctl0 address 02:54:43:00:00:13 mtu 1500 netns tb-core-1 type veth peer name port18 mtu 1500 netns tb-c0.control
ip link add name ctl0 address 02:54:43:00:00:14 mtu 1500 netns tb-core-2 type veth peer name port19 mtu 1500 netns tb-c0.control
ip link add name ctl0 address 02:54:43:00:00:15 mtu 1500 netns tb-core-3 type veth peer name port20 mtu 1500 netns tb-c0.control
ip link add name uplink mtu 1500 netns tb-c0.control type veth peer name end0 mtu 1500 netns tb-c0.control.emulator
ip link add name wire0 mtu 1500 netns tb-c0.control.emulator type veth peer name wire1 mtu 1500 netns tb-c0.control.emulator
ip link add name end1 mtu 1500 netns tb-c0.control.emulator type veth peer name ctl0 address 02:54:43:00:00:01 mtu 1500 netns tb-c0
ip netns exec tb-c0.control sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-c0.control link add br0 type bridge stp_state 0 mcast_snooping 0
ip -n tb-c0.control link set uplink master br0
ip -n tb-c0.control link set port1 master br0
ip -n tb-c0.control link set port2 master br0
ip -n tb-c0.control link set port3 master br0
ip -n tb-c0.control link set port4 master br0
ip -n tb-c0.control link set port5 master br0
ip -n tb-c0.control link set port6 master br0
ip -n tb-c0.control link set port7 master br0
ip -n tb-c0.control link set port8 master br0
ip -n tb-c0.control link set port9 master br0
ip -n tb-c0.control link set port10 master br0
ip -n tb-c0.control link set port11 master br0
ip -n tb-c0.control link set port12 master br0
ip -n tb-c0.control link set port13 master br0
ip -n tb-c0.control link set port14 master br0
ip -n tb-c0.control link set port15 master br0
ip -n tb-c0.control link set port16 master br0
ip -n tb-c0.control link set port17 master br0
ip -n tb-c0.control link set port18 master br0
ip -n tb-c0.control link set port19 master br0
ip -n tb-c0.control link set port20 master br0
ip -n tb-c0.control link set br0 up
ip -n tb-c0.control link set uplink up
ip -n tb-c0.control link set port1 up
ip -n tb-c0.control link set port2 up
ip -n tb-c0.control link set port3 up
ip -n tb-c0.control link set port4 up
ip -n tb-c0.control link set port5 up
ip -n tb-c0.control link set port6 up
ip -n tb-c0.control link set port7 up
ip -n tb-c0.control link set port8 up
ip -n tb-c0.control link set port9 up
ip -n tb-c0.control link set port10 up
ip -n tb-c0.control link set port11 up
ip -n tb-c0.control link set port12 up
ip -n tb-c0.control link set port13 up
ip -n tb-c0.control link set port14 up
ip -n tb-c0.control link set port15 up
ip -n tb-c0.control link set port16 up
ip -n tb-c0.control link set port17 up
ip -n tb-c0.control link set port18 up
ip -n tb-c0.control link set port19 up
ip -n tb-c0.control link set port20 up
ip -n tb-c0 address add 198.18.0.1/15 dev ctl0
ip -n tb-c0 link set ctl0 up
ip -n tb-c0 neighbour replace 198.18.0.2 lladdr 02:54:43:00:00:02 dev ctl0 nud permanent
ip -n tb-c0 neighbour replace 198.18.0.3 lladdr 02:54:43:00:00:03 dev ctl0 nud permanent
ip -n tb-c0 neighbour replace 198.18.0.4 lladdr 02:54:43:00:00:04 dev ctl0 nud permanent
ip -n tb-c0 neighbour replace 198.18.0.5 lladdr 02:54:43:00:00:05 dev ctl0 nud permanent
ip -n tb-c0 neighbour replace 198.18.0.6 lladdr 02:54:43:00:00:06 dev ctl0 nud permanent
ip -n tb-c0 neighbour replace 198.18.0.7 lladdr 02:54:43:00:00:07 dev ctl0 nud permanent
ip -n tb-c0 neighbour replace 198.18.0.8 lladdr 02:54:43:00:00:08 dev ctl0 nud permanent
ip -n tb-c0 neighbour replace 198.18.0.9 lladdr 02:54:43:00:00:09 dev ctl0 nud permanent
ip -n tb-c0 neighbour replace 198.18.0.10 lladdr 02:54:43:00:00:0a dev ctl0 nud permanent
ip -n tb-c0 neighbour replace 198.18.0.11 lladdr 02:54:43:00:00:0b dev ctl0 nud permanent
ip -n tb-c0 neighbour replace 198.18.0.12 lladdr 02:54:43:00:00:0c dev ctl0 nud permanent
ip -n tb-c0 neighbour replace 198.18.0.13 lladdr 02:54:43:00:00:0d dev ctl0 nud permanent
ip -n tb-c0 neighbour replace 198.18.0.14 lladdr 02:54:43:00:00:0e dev ctl0 nud permanent
ip -n tb-c0 neighbour replace 198.18.0.15 lladdr 02:54:43:00:00:0f dev ctl0 nud permanent
ip -n tb-c0 neighbour replace 198.18.0.16 lladdr 02:54:43:00:00:10 dev ctl0 nud permanent
ip -n tb-c0 neighbour replace 198.18.0.17 lladdr 02:54:43:00:00:11 dev ctl0 nud permanent
ip -n tb-c0 neighbour replace 198.18.0.18 lladdr 02:54:43:00:00:12 dev ctl0 nud permanent
ip -n tb-c0 neighbour replace 198.18.0.19 lladdr 02:54:43:00:00:13 dev ctl0 nud permanent
ip -n tb-c0 neighbour replace 198.18.0.20 lladdr 02:54:43:00:00:14 dev ctl0 nud permanent
ip -n tb-c0 neighbour replace 198.18.0.21 lladdr 02:54:43:00:00:15 dev ctl0 nud permanent
ip -n tb-edge-0-0 address add 198.18.0.2/15 dev ctl0
ip -n tb-edge-0-0 link set ctl0 up
ip -n tb-edge-0-0 neighbour replace 198.18.0.1 lladdr 02:54:43:00:00:01 dev ctl0 nud permanent
ip -n tb-edge-0-1 address add 198.18.0.3/15 dev ctl0
ip -n tb-edge-0-1 link set ctl0 up
ip -n tb-edge-0-1 neighbour replace 198.18.0.1 lladdr 02:54:43:00:00:01 dev ctl0 nud permanent
ip -n tb-agg-0-0 address add 198.18.0.4/15 dev ctl0
ip -n tb-agg-0-0 link set ctl0 up
ip -n tb-agg-0-0 neighbour replace 198.18.0.1 lladdr 02:54:43:00:00:01 dev ctl0 nud permanent
ip -n tb-agg-0-1 address add 198.18.0.5/15 dev ctl0
ip -n tb-agg-0-1 link set ctl0 up
ip -n tb-agg-0-1 neighbour replace 198.18.0.1 lladdr 02:54:43:00:00:01 dev ctl0 nud permanent
ip -n tb-edge-1-0 address add 198.18.0.6/15 dev ctl0
ip -n tb-edge-1-0 link set ctl0 up
ip -n tb-edge-1-0 neighbour replace 198.18.0.1 lladdr 02:54:43:00:00:01 dev ctl0 nud permanent
ip -n tb-edge-1-1 address add 198.18.0.7/15 dev ctl0
ip -n tb-edge-1-1 link set ctl0 up
ip -n tb-edge-1-1 neighbour replace 198.18.0.1 lladdr 02:54:43:00:00:01 dev ctl0 nud permanent
ip -n tb-agg-1-0 address add 198.18.0.8/15 dev ctl0
ip -n tb-agg-1-0 link set ctl0 up
ip -n tb-agg-1-0 neighbour replace 198.18.0.1 lladdr 02:54:43:00:00:01 dev ctl0 nud permanent
ip -n tb-agg-1-1 address add 198.18.0.9/15 dev ctl0
ip -n tb-agg-1-1 link set ctl0 up
ip -n tb-agg-1-1 neighbour replace 198.18.0.1 lladdr 02:54:43:00:00:01 dev ctl0 nud permanent
ip -n tb-edge-2-0 address add 198.18.0.10/15 dev ctl0
ip -n tb-edge-2-0 link set ctl0 up
ip -n tb-edge-2-0 neighbour replace 198.18.0.1 lladdr 02:54:43:00:00:01 dev ctl0 nud permanent
ip -n tb-edge-2-1 address add 198.18.0.11/15 dev ctl0
ip -n tb-edge-2-1 link set ctl0 up
ip -n tb-edge-2-1 neighbour replace 198.18.0.1 lladdr 02:54:43:00:00:01 dev ctl0 nud permanent
ip -n tb-agg-2-0 address add 198.18.0.12/15 dev ctl0
ip -n tb-agg-2-0 link set ctl0 up
ip -n tb-agg-2-0 neighbour replace 198.18.0.1 lladdr 02:54:43:00:00:01 dev ctl0 nud permanent
ip -n tb-agg-2-1 address add 198.18.0.13/15 dev ctl0
ip -n tb-agg-2-1 link set ctl0 up
ip -n tb-agg-2-1 neighbour replace 198.18.0.1 lladdr 02:54:43:00:00:01 dev ctl0 nud permanent
ip -n tb-edge-3-0 address add 198.18.0.14/15 dev ctl0
ip -n tb-edge-3-0 link set ctl0 up
ip -n tb-edge-3-0 neighbour replace 198.18.0.1 lladdr 02:54:43:00:00:01 dev ctl0 nud permanent
ip -n tb-edge-3-1 address add 198.18.0.15/15 dev ctl0
ip -n tb-edge-3-1 link set ctl0 up
ip -n tb-edge-3-1 neighbour replace 198.18.0.1 lladdr 02:54:43:00:00:01 dev ctl0 nud permanent
ip -n tb-agg-3-0 address add 198.18.0.16/15 dev ctl0
ip -n tb-agg-3-0 link set ctl0 up
ip -n tb-agg-3-0 neighbour replace 198.18.0.1 lladdr 02:54:43:00:00:01 dev ctl0 nud permanent
ip -n tb-agg-3-1 address add 198.18.0.17/15 dev ctl0
ip -n tb-agg-3-1 link set ctl0 up
ip -n tb-agg-3-1 neighbour replace 198.18.0.1 lladdr 02:54:43:00:00:01 dev ctl0 nud permanent
ip -n tb-core-0 address add 198.18.0.18/15 dev ctl0
ip -n tb-core-0 link set ctl0 up
ip -n tb-core-0 neighbour replace 198.18.0.1 lladdr 02:54:43:00:00:01 dev ctl0 nud permanent
ip -n tb-core-1 address add 198.18.0.19/15 dev ctl0
ip -n tb-core-1 link set ctl0 up
ip -n tb-core-1 neighbour replace 198.18.0.1 lladdr 02:54:43:00:00:01 dev ctl0 nud permanent
ip -n tb-core-2 address add 198.18.0.20/15 dev ctl0
ip -n tb-core-2 link set ctl0 up
ip -n tb-core-2 neighbour replace 198.18.0.1 lladdr 02:54:43:00:00:01 dev ctl0 nud permanent
ip -n tb-core-3 address add 198.18.0.21/15 dev ctl0
ip -n tb-core-3 link set ctl0 up
ip -n tb-core-3 neighbour replace 198.18.0.1 lladdr 02:54:43:00:00:01 dev ctl0 nud permanent
ip netns exec tb-port-0-0.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-port-0-1.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-port-0-2.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-port-0-3.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-port-1-0.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-port-1-1.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-port-1-2.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-port-1-3.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-port-2-0.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-port-2-1.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-port-2-2.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-port-2-3.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-port-3-0.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-port-3-1.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-port-3-2.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-port-3-3.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-pod-0-0-0.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-pod-0-0-1.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-pod-0-1-0.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-pod-0-1-1.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-pod-1-0-0.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-pod-1-0-1.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-pod-1-1-0.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-pod-1-1-1.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-pod-2-0-0.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-pod-2-0-1.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-pod-2-1-0.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-pod-2-1-1.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-pod-3-0-0.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-pod-3-0-1.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-pod-3-1-0.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-pod-3-1-1.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-up-0-0-0.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-up-0-0-1.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-up-0-1-0.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-up-0-1-1.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-up-1-0-0.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-up-1-0-1.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-up-1-1-0.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-up-1-1-1.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-up-2-0-0.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-up-2-0-1.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-up-2-1-0.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-up-2-1-1.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-up-3-0-0.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-up-3-0-1.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-up-3-1-0.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-up-3-1-1.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-c0.control.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-port-0-0.emulator link set end0 up
ip -n tb-port-0-0.emulator link set end1 up
ip -n tb-port-0-0.emulator link set wire0 up
ip -n tb-port-0-0.emulator link set wire1 up
ip -n tb-port-0-1.emulator link set end0 up
ip -n tb-port-0-1.emulator link set end1 up
ip -n tb-port-0-1.emulator link set wire0 up
ip -n tb-port-0-1.emulator link set wire1 up
ip -n tb-port-0-2.emulator link set end0 up
ip -n tb-port-0-2.emulator link set end1 up
ip -n tb-port-0-2.emulator link set wire0 up
ip -n tb-port-0-2.emulator link set wire1 up
ip -n tb-port-0-3.emulator link set end0 up
ip -n tb-port-0-3.emulator link set end1 up
ip -n tb-port-0-3.emulator link set wire0 up
ip -n tb-port-0-3.emulator link set wire1 up
ip -n tb-port-1-0.emulator link set end0 up
ip -n tb-port-1-0.emulator link set end1 up
ip -n tb-port-1-0.emulator link set wire0 up
ip -n tb-port-1-0.emulator link set wire1 up
ip -n tb-port-1-1.emulator link set end0 up
ip -n tb-port-1-1.emulator link set end1 up
ip -n tb-port-1-1.emulator link set wire0 up
ip -n tb-port-1-1.emulator link set wire1 up
ip -n tb-port-1-2.emulator link set end0 up
ip -n tb-port-1-2.emulator link set end1 up
ip -n tb-port-1-2.emulator link set wire0 up
ip -n tb-port-1-2.emulator link set wire1 up
ip -n tb-port-1-3.emulator link set end0 up
ip -n tb-port-1-3.emulator link set end1 up
ip -n tb-port-1-3.emulator link set wire0 up
ip -n tb-port-1-3.emulator link set wire1 up
ip -n tb-port-2-0.emulator link set end0 up
ip -n tb-port-2-0.emulator link set end1 up
ip -n tb-port-2-0.emulator link set wire0 up
ip -n tb-port-2-0.emulator link set wire1 up
ip -n tb-port-2-1.emulator link set end0 up
ip -n tb-port-2-1.emulator link set end1 up
ip -n tb-port-2-1.emulator link set wire0 up
ip -n tb-port-2-1.emulator link set wire1 up
ip -n tb-port-2-2.emulator link set end0 up
ip -n tb-port-2-2.emulator link set end1 up
ip -n tb-port-2-2.emulator link set wire0 up
ip -n tb-port-2-2.emulator link set wire1 up
ip -n tb-port-2-3.emulator link set end0 up
ip -n tb-port-2-3.emulator link set end1 up
ip -n tb-port-2-3.emulator link set wire0 up
ip -n tb-port-2-3.emulator link set wire1 up
ip -n tb-port-3-0.emulator link set end0 up
ip -n tb-port-3-0.emulator link set end1 up
ip -n tb-port-3-0.emulator link set wire0 up
ip -n tb-port-3-0.emulator link set wire1 up
ip -n tb-port-3-1.emulator link set end0 up
ip -n tb-port-3-1.emulator link set end1 up
ip -n tb-port-3-1.emulator link set wire0 up
ip -n tb-port-3-1.emulator link set wire1 up
ip -n tb-port-3-2.emulator link set end0 up
ip -n tb-port-3-2.emulator link set end1 up
ip -n tb-port-3-2.emulator link set wire0 up
ip -n tb-port-3-2.emulator link set wire1 up
ip -n tb-port-3-3.emulator link set end0 up
ip -n tb-port-3-3.emulator link set end1 up
ip -n tb-port-3-3.emulator link set wire0 up
ip -n tb-port-3-3.emulator link set wire1 up
ip -n tb-pod-0-0-0.emulator link set end0 up
ip -n tb-pod-0-0-0.emulator link set end1 up
ip -n tb-pod-0-0-0.emulator link set wire0 up
ip -n tb-pod-0-0-0.emulator link set wire1 up
ip -n tb-pod-0-0-1.emulator link set end0 up
ip -n tb-pod-0-0-1.emulator link set end1 up
ip -n tb-pod-0-0-1.emulator link set wire0 up
ip -n tb-pod-0-0-1.emulator link set wire1 up
ip -n tb-pod-0-1-0.emulator link set end0 up
ip -n tb-pod-0-1-0.emulator link set end1 up
ip -n tb-pod-0-1-0.emulator link set wire0 up
ip -n tb-pod-0-1-0.emulator link set wire1 up
ip -n tb-pod-0-1-1.emulator link set end0 up
ip -n tb-pod-0-1-1.emulator link set end1 up
ip -n tb-pod-0-1-1.emulator link set wire0 up
ip -n tb-pod-0-1-1.emulator link set wire1 up
ip -n tb-pod-1-0-0.emulator link set end0 up
ip -n tb-pod-1-0-0.emulator link set end1 up
ip -n tb-pod-1-0-0.emulator link set wire0 up
ip -n tb-pod-1-0-0.emulator link set wire1 up
ip -n tb-pod-1-0-1.emulator link set end0 up
ip -n tb-pod-1-0-1.emulator link set end1 up
ip -n tb-pod-1-0-1.emulator link set wire0 up
ip -n tb-pod-1-0-1.emulator link set wire1 up
ip -n tb-pod-1-1-0.emulator link set end0 up
ip -n tb-pod-1-1-0.emulator link set end1 up
ip -n tb-pod-1-1-0.emulator link set wire0 up
ip -n tb-pod-1-1-0.emulator link set wire1 up
ip -n tb-pod-1-1-1.emulator link set end0 up
ip -n tb-pod-1-1-1.emulator link set end1 up
ip -n tb-pod-1-1-1.emulator link set wire0 up
ip -n tb-pod-1-1-1.emulator link set wire1 up
ip -n tb-pod-2-0-0.emulator link set end0 up
ip -n tb-pod-2-0-0.emulator link set end1 up
ip -n tb-pod-2-0-0.emulator link set wire0 up
ip -n tb-pod-2-0-0.emulator link set wire1 up
ip -n tb-pod-2-0-1.emulator link set end0 up
ip -n tb-pod-2-0-1.emulator link set end1 up
ip -n tb-pod-2-0-1.emulator link set wire0 up
ip -n tb-pod-2-0-1.emulator link set wire1 up
ip -n tb-pod-2-1-0.emulator link set end0 up
ip -n tb-pod-2-1-0.emulator link set end1 up
ip -n tb-pod-2-1-0.emulator link set wire0 up
ip -n tb-pod-2-1-0.emulator link set wire1 up
ip -n tb-pod-2-1-1.emulator link set end0 up
ip -n tb-pod-2-1-1.emulator link set end1 up
ip -n tb-pod-2-1-1.emulator link set wire0 up
ip -n tb-pod-2-1-1.emulator link set wire1 up
ip -n tb-pod-3-0-0.emulator link set end0 up
ip -n tb-pod-3-0-0.emulator link set end1 up
ip -n tb-pod-3-0-0.emulator link set wire0 up
ip -n tb-pod-3-0-0.emulator link set wire1 up
ip -n tb-pod-3-0-1.emulator link set end0 up
ip -n tb-pod-3-0-1.emulator link set end1 up
ip -n tb-pod-3-0-1.emulator link set wire0 up
ip -n tb-pod-3-0-1.emulator link set wire1 up
ip -n tb-pod-3-1-0.emulator link set end0 up
ip -n tb-pod-3-1-0.emulator link set end1 up
ip -n tb-pod-3-1-0.emulator link set wire0 up
ip -n tb-pod-3-1-0.emulator link set wire1 up
ip -n tb-pod-3-1-1.emulator link set end0 up
ip -n tb-pod-3-1-1.emulator link set end1 up
ip -n tb-pod-3-1-1.emulator link set wire0 up
ip -n tb-pod-3-1-1.emulator link set wire1 up
ip -n tb-up-0-0-0.emulator link set end0 up
ip -n tb-up-0-0-0.emulator link set end1 up
ip -n tb-up-0-0-0.emulator link set wire0 up
ip -n tb-up-0-0-0.emulator link set wire1 up
ip -n tb-up-0-0-1.emulator link set end0 up
ip -n tb-up-0-0-1.emulator link set end1 up
ip -n tb-up-0-0-1.emulator link set wire0 up
ip -n tb-up-0-0-1.emulator link set wire1 up
ip -n tb-up-0-1-0.emulator link set end0 up
ip -n tb-up-0-1-0.emulator link set end1 up
ip -n tb-up-0-1-0.emulator link set wire0 up
ip -n tb-up-0-1-0.emulator link set wire1 up
ip -n tb-up-0-1-1.emulator link set end0 up
ip -n tb-up-0-1-1.emulator link set end1 up
ip -n tb-up-0-1-1.emulator link set wire0 up
ip -n tb-up-0-1-1.emulator link set wire1 up
ip -n tb-up-1-0-0.emulator link set end0 up
ip -n tb-up-1-0-0.emulator link set end1 up
ip -n tb-up-1-0-0.emulator link set wire0 up
ip -n tb-up-1-0-0.emulator link set wire1 up
ip -n tb-up-1-0-1.emulator link set end0 up
ip -n tb-up-1-0-1.emulator link set end1 up
ip -n tb-up-1-0-1.emulator link set wire0 up
ip -n tb-up-1-0-1.emulator link set wire1 up
ip -n tb-up-1-1-0.emulator link set end0 up
ip -n tb-up-1-1-0.emulator link set end1 up
ip -n tb-up-1-1-0.emulator link set wire0 up
ip -n tb-up-1-1-0.emulator link set wire1 up
ip -n tb-up-1-1-1.emulator link set end0 up
ip -n tb-up-1-1-1.emulator link set end1 up
ip -n tb-up-1-1-1.emulator link set wire0 up
ip -n tb-up-1-1-1.emulator link set wire1 up
ip -n tb-up-2-0-0.emulator link set end0 up
ip -n tb-up-2-0-0.emulator link set end1 up
ip -n tb-up-2-0-0.emulator link set wire0 up
ip -n tb-up-2-0-0.emulator link set wire1 up
ip -n tb-up-2-0-1.emulator link set end0 up
ip -n tb-up-2-0-1.emulator link set end1 up
ip -n tb-up-2-0-1.emulator link set wire0 up
ip -n tb-up-2-0-1.emulator link set wire1 up
ip -n tb-up-2-1-0.emulator link set end0 up
ip -n tb-up-2-1-0.emulator link set end1 up
ip -n tb-up-2-1-0.emulator link set wire0 up
ip -n tb-up-2-1-0.emulator link set wire1 up
ip -n tb-up-2-1-1.emulator link set end0 up
ip -n tb-up-2-1-1.emulator link set end1 up
ip -n tb-up-2-1-1.emulator link set wire0 up
ip -n tb-up-2-1-1.emulator link set wire1 up
ip -n tb-up-3-0-0.emulator link set end0 up
ip -n tb-up-3-0-0.emulator link set end1 up
ip -n tb-up-3-0-0.emulator link set wire0 up
ip -n tb-up-3-0-0.emulator link set wire1 up
ip -n tb-up-3-0-1.emulator link set end0 up
ip -n tb-up-3-0-1.emulator link set end1 up
ip -n tb-up-3-0-1.emulator link set wire0 up
ip -n tb-up-3-0-1.emulator link set wire1 up
ip -n tb-up-3-1-0.emulator link set end0 up
ip -n tb-up-3-1-0.emulator link set end1 up
ip -n tb-up-3-1-0.emulator link set wire0 up
ip -n tb-up-3-1-0.emulator link set wire1 up
ip -n tb-up-3-1-1.emulator link set end0 up
ip -n tb-up-3-1-1.emulator link set end1 up
ip -n tb-up-3-1-1.emulator link set wire0 up
ip -n tb-up-3-1-1.emulator link set wire1 up
ip -n tb-c0.control.emulator link set end0 up
ip -n tb-c0.control.emulator link set end1 up
ip -n tb-c0.control.emulator link set wire0 up
ip -n tb-c0.control.emulator link set wire1 up
ip netns exec tb-port-0-0.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-port-0-0.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-port-0-0.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-port-0-0.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-port-0-0.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-port-0-0.emulator qdisc add dev end1 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
tc -n tb-port-0-0.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-port-0-0.emulator qdisc add dev end0 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
ip netns exec tb-port-0-0.emulator nft 'add table netdev testbed'
ip netns exec tb-port-0-0.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-port-0-0.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-port-0-0.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-port-0-0.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-port-0-0.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-port-0-0.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-port-0-0.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-port-0-0.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-port-0-0.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-port-0-0.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-port-0-0.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-port-0-0.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-port-0-0.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-port-0-0.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-port-0-0.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-port-0-0.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-port-0-0.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-port-0-0.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-port-0-0.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-port-0-0.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-port-0-0.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-port-0-0.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-port-0-0.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-port-0-0.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-port-0-1.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-port-0-1.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-port-0-1.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-port-0-1.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-port-0-1.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-port-0-1.emulator qdisc add dev end1 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
tc -n tb-port-0-1.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-port-0-1.emulator qdisc add dev end0 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
ip netns exec tb-port-0-1.emulator nft 'add table netdev testbed'
ip netns exec tb-port-0-1.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-port-0-1.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-port-0-1.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-port-0-1.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-port-0-1.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-port-0-1.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-port-0-1.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-port-0-1.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-port-0-1.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-port-0-1.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-port-0-1.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-port-0-1.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-port-0-1.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-port-0-1.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-port-0-1.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-port-0-1.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-port-0-1.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-port-0-1.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-port-0-1.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-port-0-1.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-port-0-1.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-port-0-1.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-port-0-1.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-port-0-1.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-port-0-2.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-port-0-2.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-port-0-2.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-port-0-2.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-port-0-2.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-port-0-2.emulator qdisc add dev end1 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
tc -n tb-port-0-2.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-port-0-2.emulator qdisc add dev end0 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
ip netns exec tb-port-0-2.emulator nft 'add table netdev testbed'
ip netns exec tb-port-0-2.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-port-0-2.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-port-0-2.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-port-0-2.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-port-0-2.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-port-0-2.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-port-0-2.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-port-0-2.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-port-0-2.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-port-0-2.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-port-0-2.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-port-0-2.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-port-0-2.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-port-0-2.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-port-0-2.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-port-0-2.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-port-0-2.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-port-0-2.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-port-0-2.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-port-0-2.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-port-0-2.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-port-0-2.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-port-0-2.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-port-0-2.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-port-0-3.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-port-0-3.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-port-0-3.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-port-0-3.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-port-0-3.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-port-0-3.emulator qdisc add dev end1 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
tc -n tb-port-0-3.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-port-0-3.emulator qdisc add dev end0 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
ip netns exec tb-port-0-3.emulator nft 'add table netdev testbed'
ip netns exec tb-port-0-3.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-port-0-3.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-port-0-3.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-port-0-3.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-port-0-3.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-port-0-3.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-port-0-3.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-port-0-3.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-port-0-3.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-port-0-3.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-port-0-3.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-port-0-3.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-port-0-3.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-port-0-3.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-port-0-3.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-port-0-3.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-port-0-3.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-port-0-3.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-port-0-3.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-port-0-3.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-port-0-3.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-port-0-3.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-port-0-3.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-port-0-3.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-port-1-0.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-port-1-0.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-port-1-0.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-port-1-0.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-port-1-0.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-port-1-0.emulator qdisc add dev end1 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
tc -n tb-port-1-0.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-port-1-0.emulator qdisc add dev end0 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
ip netns exec tb-port-1-0.emulator nft 'add table netdev testbed'
ip netns exec tb-port-1-0.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-port-1-0.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-port-1-0.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-port-1-0.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-port-1-0.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-port-1-0.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-port-1-0.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-port-1-0.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-port-1-0.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-port-1-0.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-port-1-0.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-port-1-0.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-port-1-0.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-port-1-0.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-port-1-0.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-port-1-0.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-port-1-0.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-port-1-0.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-port-1-0.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-port-1-0.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-port-1-0.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-port-1-0.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-port-1-0.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-port-1-0.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-port-1-1.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-port-1-1.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-port-1-1.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-port-1-1.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-port-1-1.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-port-1-1.emulator qdisc add dev end1 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
tc -n tb-port-1-1.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-port-1-1.emulator qdisc add dev end0 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
ip netns exec tb-port-1-1.emulator nft 'add table netdev testbed'
ip netns exec tb-port-1-1.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-port-1-1.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-port-1-1.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-port-1-1.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-port-1-1.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-port-1-1.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-port-1-1.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-port-1-1.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-port-1-1.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-port-1-1.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-port-1-1.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-port-1-1.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-port-1-1.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-port-1-1.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-port-1-1.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-port-1-1.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-port-1-1.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-port-1-1.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-port-1-1.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-port-1-1.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-port-1-1.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-port-1-1.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-port-1-1.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-port-1-1.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-port-1-2.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-port-1-2.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-port-1-2.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-port-1-2.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-port-1-2.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-port-1-2.emulator qdisc add dev end1 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
tc -n tb-port-1-2.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-port-1-2.emulator qdisc add dev end0 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
ip netns exec tb-port-1-2.emulator nft 'add table netdev testbed'
ip netns exec tb-port-1-2.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-port-1-2.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-port-1-2.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-port-1-2.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-port-1-2.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-port-1-2.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-port-1-2.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-port-1-2.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-port-1-2.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-port-1-2.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-port-1-2.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-port-1-2.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-port-1-2.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-port-1-2.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-port-1-2.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-port-1-2.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-port-1-2.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-port-1-2.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-port-1-2.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-port-1-2.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-port-1-2.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-port-1-2.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-port-1-2.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-port-1-2.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-port-1-3.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-port-1-3.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-port-1-3.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-port-1-3.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-port-1-3.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-port-1-3.emulator qdisc add dev end1 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
tc -n tb-port-1-3.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-port-1-3.emulator qdisc add dev end0 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
ip netns exec tb-port-1-3.emulator nft 'add table netdev testbed'
ip netns exec tb-port-1-3.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-port-1-3.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-port-1-3.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-port-1-3.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-port-1-3.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-port-1-3.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-port-1-3.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-port-1-3.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-port-1-3.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-port-1-3.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-port-1-3.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-port-1-3.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-port-1-3.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-port-1-3.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-port-1-3.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-port-1-3.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-port-1-3.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-port-1-3.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-port-1-3.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-port-1-3.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-port-1-3.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-port-1-3.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-port-1-3.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-port-1-3.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-port-2-0.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-port-2-0.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-port-2-0.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-port-2-0.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-port-2-0.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-port-2-0.emulator qdisc add dev end1 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
tc -n tb-port-2-0.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-port-2-0.emulator qdisc add dev end0 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
ip netns exec tb-port-2-0.emulator nft 'add table netdev testbed'
ip netns exec tb-port-2-0.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-port-2-0.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-port-2-0.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-port-2-0.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-port-2-0.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-port-2-0.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-port-2-0.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-port-2-0.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-port-2-0.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-port-2-0.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-port-2-0.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-port-2-0.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-port-2-0.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-port-2-0.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-port-2-0.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-port-2-0.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-port-2-0.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-port-2-0.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-port-2-0.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-port-2-0.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-port-2-0.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-port-2-0.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-port-2-0.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-port-2-0.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-port-2-1.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-port-2-1.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-port-2-1.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-port-2-1.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-port-2-1.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-port-2-1.emulator qdisc add dev end1 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
tc -n tb-port-2-1.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-port-2-1.emulator qdisc add dev end0 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
ip netns exec tb-port-2-1.emulator nft 'add table netdev testbed'
ip netns exec tb-port-2-1.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-port-2-1.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-port-2-1.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-port-2-1.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-port-2-1.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-port-2-1.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-port-2-1.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-port-2-1.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-port-2-1.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-port-2-1.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-port-2-1.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-port-2-1.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-port-2-1.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-port-2-1.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-port-2-1.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-port-2-1.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-port-2-1.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-port-2-1.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-port-2-1.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-port-2-1.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-port-2-1.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-port-2-1.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-port-2-1.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-port-2-1.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-port-2-2.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-port-2-2.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-port-2-2.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-port-2-2.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-port-2-2.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-port-2-2.emulator qdisc add dev end1 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
tc -n tb-port-2-2.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-port-2-2.emulator qdisc add dev end0 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
ip netns exec tb-port-2-2.emulator nft 'add table netdev testbed'
ip netns exec tb-port-2-2.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-port-2-2.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-port-2-2.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-port-2-2.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-port-2-2.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-port-2-2.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-port-2-2.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-port-2-2.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-port-2-2.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-port-2-2.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-port-2-2.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-port-2-2.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-port-2-2.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-port-2-2.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-port-2-2.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-port-2-2.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-port-2-2.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-port-2-2.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-port-2-2.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-port-2-2.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-port-2-2.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-port-2-2.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-port-2-2.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-port-2-2.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-port-2-3.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-port-2-3.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-port-2-3.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-port-2-3.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-port-2-3.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-port-2-3.emulator qdisc add dev end1 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
tc -n tb-port-2-3.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-port-2-3.emulator qdisc add dev end0 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
ip netns exec tb-port-2-3.emulator nft 'add table netdev testbed'
ip netns exec tb-port-2-3.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-port-2-3.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-port-2-3.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-port-2-3.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-port-2-3.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-port-2-3.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-port-2-3.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-port-2-3.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-port-2-3.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-port-2-3.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-port-2-3.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-port-2-3.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-port-2-3.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-port-2-3.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-port-2-3.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-port-2-3.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-port-2-3.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-port-2-3.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-port-2-3.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-port-2-3.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-port-2-3.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-port-2-3.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-port-2-3.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-port-2-3.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-port-3-0.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-port-3-0.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-port-3-0.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-port-3-0.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-port-3-0.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-port-3-0.emulator qdisc add dev end1 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
tc -n tb-port-3-0.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-port-3-0.emulator qdisc add dev end0 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
ip netns exec tb-port-3-0.emulator nft 'add table netdev testbed'
ip netns exec tb-port-3-0.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-port-3-0.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-port-3-0.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-port-3-0.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-port-3-0.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-port-3-0.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-port-3-0.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-port-3-0.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-port-3-0.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-port-3-0.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-port-3-0.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-port-3-0.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-port-3-0.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-port-3-0.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-port-3-0.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-port-3-0.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-port-3-0.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-port-3-0.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-port-3-0.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-port-3-0.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-port-3-0.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-port-3-0.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-port-3-0.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-port-3-0.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-port-3-1.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-port-3-1.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-port-3-1.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-port-3-1.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-port-3-1.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-port-3-1.emulator qdisc add dev end1 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
tc -n tb-port-3-1.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-port-3-1.emulator qdisc add dev end0 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
ip netns exec tb-port-3-1.emulator nft 'add table netdev testbed'
ip netns exec tb-port-3-1.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-port-3-1.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-port-3-1.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-port-3-1.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-port-3-1.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-port-3-1.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-port-3-1.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-port-3-1.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-port-3-1.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-port-3-1.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-port-3-1.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-port-3-1.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-port-3-1.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-port-3-1.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-port-3-1.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-port-3-1.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-port-3-1.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-port-3-1.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-port-3-1.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-port-3-1.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-port-3-1.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-port-3-1.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-port-3-1.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-port-3-1.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-port-3-2.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-port-3-2.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-port-3-2.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-port-3-2.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-port-3-2.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-port-3-2.emulator qdisc add dev end1 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
tc -n tb-port-3-2.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-port-3-2.emulator qdisc add dev end0 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
ip netns exec tb-port-3-2.emulator nft 'add table netdev testbed'
ip netns exec tb-port-3-2.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-port-3-2.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-port-3-2.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-port-3-2.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-port-3-2.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-port-3-2.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-port-3-2.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-port-3-2.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-port-3-2.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-port-3-2.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-port-3-2.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-port-3-2.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-port-3-2.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-port-3-2.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-port-3-2.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-port-3-2.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-port-3-2.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-port-3-2.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-port-3-2.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-port-3-2.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-port-3-2.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-port-3-2.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-port-3-2.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-port-3-2.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-port-3-3.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-port-3-3.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-port-3-3.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-port-3-3.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-port-3-3.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-port-3-3.emulator qdisc add dev end1 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
tc -n tb-port-3-3.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-port-3-3.emulator qdisc add dev end0 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
ip netns exec tb-port-3-3.emulator nft 'add table netdev testbed'
ip netns exec tb-port-3-3.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-port-3-3.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-port-3-3.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-port-3-3.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-port-3-3.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-port-3-3.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-port-3-3.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-port-3-3.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-port-3-3.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-port-3-3.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-port-3-3.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-port-3-3.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-port-3-3.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-port-3-3.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-port-3-3.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-port-3-3.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-port-3-3.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-port-3-3.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-port-3-3.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-port-3-3.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-port-3-3.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-port-3-3.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-port-3-3.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-port-3-3.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-pod-0-0-0.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-pod-0-0-0.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-pod-0-0-0.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-pod-0-0-0.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-pod-0-0-0.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-pod-0-0-0.emulator qdisc add dev end1 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
tc -n tb-pod-0-0-0.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-pod-0-0-0.emulator qdisc add dev end0 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
ip netns exec tb-pod-0-0-0.emulator nft 'add table netdev testbed'
ip netns exec tb-pod-0-0-0.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-pod-0-0-0.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-pod-0-0-0.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-pod-0-0-0.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-pod-0-0-0.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-pod-0-0-0.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-pod-0-0-0.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-pod-0-0-0.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-pod-0-0-0.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-pod-0-0-0.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-pod-0-0-0.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-pod-0-0-0.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-pod-0-0-0.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-pod-0-0-0.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-pod-0-0-0.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-pod-0-0-0.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-pod-0-0-0.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-pod-0-0-0.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-pod-0-0-0.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-pod-0-0-0.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-pod-0-0-0.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-pod-0-0-0.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-pod-0-0-0.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-pod-0-0-0.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-pod-0-0-1.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-pod-0-0-1.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-pod-0-0-1.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-pod-0-0-1.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-pod-0-0-1.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-pod-0-0-1.emulator qdisc add dev end1 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
tc -n tb-pod-0-0-1.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-pod-0-0-1.emulator qdisc add dev end0 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
ip netns exec tb-pod-0-0-1.emulator nft 'add table netdev testbed'
ip netns exec tb-pod-0-0-1.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-pod-0-0-1.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-pod-0-0-1.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-pod-0-0-1.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-pod-0-0-1.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-pod-0-0-1.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-pod-0-0-1.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-pod-0-0-1.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-pod-0-0-1.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-pod-0-0-1.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-pod-0-0-1.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-pod-0-0-1.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-pod-0-0-1.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-pod-0-0-1.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-pod-0-0-1.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-pod-0-0-1.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-pod-0-0-1.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-pod-0-0-1.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-pod-0-0-1.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-pod-0-0-1.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-pod-0-0-1.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-pod-0-0-1.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-pod-0-0-1.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-pod-0-0-1.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-pod-0-1-0.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-pod-0-1-0.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-pod-0-1-0.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-pod-0-1-0.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-pod-0-1-0.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-pod-0-1-0.emulator qdisc add dev end1 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
tc -n tb-pod-0-1-0.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-pod-0-1-0.emulator qdisc add dev end0 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
ip netns exec tb-pod-0-1-0.emulator nft 'add table netdev testbed'
ip netns exec tb-pod-0-1-0.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-pod-0-1-0.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-pod-0-1-0.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-pod-0-1-0.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-pod-0-1-0.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-pod-0-1-0.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-pod-0-1-0.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-pod-0-1-0.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-pod-0-1-0.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-pod-0-1-0.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-pod-0-1-0.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-pod-0-1-0.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-pod-0-1-0.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-pod-0-1-0.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-pod-0-1-0.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-pod-0-1-0.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-pod-0-1-0.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-pod-0-1-0.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-pod-0-1-0.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-pod-0-1-0.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-pod-0-1-0.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-pod-0-1-0.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-pod-0-1-0.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-pod-0-1-0.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-pod-0-1-1.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-pod-0-1-1.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-pod-0-1-1.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-pod-0-1-1.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-pod-0-1-1.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-pod-0-1-1.emulator qdisc add dev end1 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
tc -n tb-pod-0-1-1.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-pod-0-1-1.emulator qdisc add dev end0 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
ip netns exec tb-pod-0-1-1.emulator nft 'add table netdev testbed'
ip netns exec tb-pod-0-1-1.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-pod-0-1-1.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-pod-0-1-1.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-pod-0-1-1.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-pod-0-1-1.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-pod-0-1-1.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-pod-0-1-1.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-pod-0-1-1.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-pod-0-1-1.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-pod-0-1-1.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-pod-0-1-1.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-pod-0-1-1.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-pod-0-1-1.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-pod-0-1-1.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-pod-0-1-1.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-pod-0-1-1.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-pod-0-1-1.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-pod-0-1-1.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-pod-0-1-1.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-pod-0-1-1.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-pod-0-1-1.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-pod-0-1-1.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-pod-0-1-1.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-pod-0-1-1.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-pod-1-0-0.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-pod-1-0-0.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-pod-1-0-0.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-pod-1-0-0.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-pod-1-0-0.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-pod-1-0-0.emulator qdisc add dev end1 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
tc -n tb-pod-1-0-0.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-pod-1-0-0.emulator qdisc add dev end0 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
ip netns exec tb-pod-1-0-0.emulator nft 'add table netdev testbed'
ip netns exec tb-pod-1-0-0.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-pod-1-0-0.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-pod-1-0-0.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-pod-1-0-0.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-pod-1-0-0.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-pod-1-0-0.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-pod-1-0-0.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-pod-1-0-0.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-pod-1-0-0.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-pod-1-0-0.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-pod-1-0-0.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-pod-1-0-0.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-pod-1-0-0.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-pod-1-0-0.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-pod-1-0-0.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-pod-1-0-0.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-pod-1-0-0.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-pod-1-0-0.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-pod-1-0-0.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-pod-1-0-0.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-pod-1-0-0.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-pod-1-0-0.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-pod-1-0-0.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-pod-1-0-0.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-pod-1-0-1.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-pod-1-0-1.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-pod-1-0-1.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-pod-1-0-1.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-pod-1-0-1.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-pod-1-0-1.emulator qdisc add dev end1 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
tc -n tb-pod-1-0-1.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-pod-1-0-1.emulator qdisc add dev end0 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
ip netns exec tb-pod-1-0-1.emulator nft 'add table netdev testbed'
ip netns exec tb-pod-1-0-1.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-pod-1-0-1.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-pod-1-0-1.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-pod-1-0-1.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-pod-1-0-1.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-pod-1-0-1.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-pod-1-0-1.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-pod-1-0-1.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-pod-1-0-1.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-pod-1-0-1.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-pod-1-0-1.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-pod-1-0-1.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-pod-1-0-1.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-pod-1-0-1.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-pod-1-0-1.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-pod-1-0-1.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-pod-1-0-1.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-pod-1-0-1.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-pod-1-0-1.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-pod-1-0-1.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-pod-1-0-1.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-pod-1-0-1.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-pod-1-0-1.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-pod-1-0-1.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-pod-1-1-0.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-pod-1-1-0.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-pod-1-1-0.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-pod-1-1-0.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-pod-1-1-0.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-pod-1-1-0.emulator qdisc add dev end1 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
tc -n tb-pod-1-1-0.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-pod-1-1-0.emulator qdisc add dev end0 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
ip netns exec tb-pod-1-1-0.emulator nft 'add table netdev testbed'
ip netns exec tb-pod-1-1-0.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-pod-1-1-0.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-pod-1-1-0.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-pod-1-1-0.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-pod-1-1-0.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-pod-1-1-0.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-pod-1-1-0.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-pod-1-1-0.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-pod-1-1-0.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-pod-1-1-0.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-pod-1-1-0.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-pod-1-1-0.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-pod-1-1-0.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-pod-1-1-0.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-pod-1-1-0.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-pod-1-1-0.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-pod-1-1-0.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-pod-1-1-0.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-pod-1-1-0.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-pod-1-1-0.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-pod-1-1-0.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-pod-1-1-0.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-pod-1-1-0.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-pod-1-1-0.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-pod-1-1-1.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-pod-1-1-1.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-pod-1-1-1.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-pod-1-1-1.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-pod-1-1-1.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-pod-1-1-1.emulator qdisc add dev end1 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
tc -n tb-pod-1-1-1.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-pod-1-1-1.emulator qdisc add dev end0 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
ip netns exec tb-pod-1-1-1.emulator nft 'add table netdev testbed'
ip netns exec tb-pod-1-1-1.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-pod-1-1-1.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-pod-1-1-1.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-pod-1-1-1.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-pod-1-1-1.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-pod-1-1-1.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-pod-1-1-1.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-pod-1-1-1.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-pod-1-1-1.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-pod-1-1-1.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-pod-1-1-1.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-pod-1-1-1.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-pod-1-1-1.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-pod-1-1-1.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-pod-1-1-1.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-pod-1-1-1.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-pod-1-1-1.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-pod-1-1-1.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-pod-1-1-1.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-pod-1-1-1.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-pod-1-1-1.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-pod-1-1-1.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-pod-1-1-1.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-pod-1-1-1.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-pod-2-0-0.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-pod-2-0-0.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-pod-2-0-0.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-pod-2-0-0.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-pod-2-0-0.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-pod-2-0-0.emulator qdisc add dev end1 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
tc -n tb-pod-2-0-0.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-pod-2-0-0.emulator qdisc add dev end0 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
ip netns exec tb-pod-2-0-0.emulator nft 'add table netdev testbed'
ip netns exec tb-pod-2-0-0.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-pod-2-0-0.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-pod-2-0-0.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-pod-2-0-0.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-pod-2-0-0.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-pod-2-0-0.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-pod-2-0-0.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-pod-2-0-0.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-pod-2-0-0.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-pod-2-0-0.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-pod-2-0-0.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-pod-2-0-0.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-pod-2-0-0.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-pod-2-0-0.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-pod-2-0-0.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-pod-2-0-0.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-pod-2-0-0.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-pod-2-0-0.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-pod-2-0-0.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-pod-2-0-0.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-pod-2-0-0.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-pod-2-0-0.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-pod-2-0-0.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-pod-2-0-0.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-pod-2-0-1.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-pod-2-0-1.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-pod-2-0-1.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-pod-2-0-1.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-pod-2-0-1.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-pod-2-0-1.emulator qdisc add dev end1 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
tc -n tb-pod-2-0-1.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-pod-2-0-1.emulator qdisc add dev end0 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
ip netns exec tb-pod-2-0-1.emulator nft 'add table netdev testbed'
ip netns exec tb-pod-2-0-1.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-pod-2-0-1.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-pod-2-0-1.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-pod-2-0-1.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-pod-2-0-1.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-pod-2-0-1.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-pod-2-0-1.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-pod-2-0-1.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-pod-2-0-1.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-pod-2-0-1.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-pod-2-0-1.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-pod-2-0-1.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-pod-2-0-1.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-pod-2-0-1.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-pod-2-0-1.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-pod-2-0-1.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-pod-2-0-1.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-pod-2-0-1.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-pod-2-0-1.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-pod-2-0-1.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-pod-2-0-1.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-pod-2-0-1.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-pod-2-0-1.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-pod-2-0-1.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-pod-2-1-0.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-pod-2-1-0.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-pod-2-1-0.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-pod-2-1-0.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-pod-2-1-0.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-pod-2-1-0.emulator qdisc add dev end1 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
tc -n tb-pod-2-1-0.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-pod-2-1-0.emulator qdisc add dev end0 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
ip netns exec tb-pod-2-1-0.emulator nft 'add table netdev testbed'
ip netns exec tb-pod-2-1-0.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-pod-2-1-0.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-pod-2-1-0.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-pod-2-1-0.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-pod-2-1-0.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-pod-2-1-0.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-pod-2-1-0.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-pod-2-1-0.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-pod-2-1-0.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-pod-2-1-0.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-pod-2-1-0.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-pod-2-1-0.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-pod-2-1-0.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-pod-2-1-0.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-pod-2-1-0.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-pod-2-1-0.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-pod-2-1-0.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-pod-2-1-0.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-pod-2-1-0.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-pod-2-1-0.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-pod-2-1-0.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-pod-2-1-0.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-pod-2-1-0.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-pod-2-1-0.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-pod-2-1-1.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-pod-2-1-1.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-pod-2-1-1.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-pod-2-1-1.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-pod-2-1-1.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-pod-2-1-1.emulator qdisc add dev end1 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
tc -n tb-pod-2-1-1.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-pod-2-1-1.emulator qdisc add dev end0 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
ip netns exec tb-pod-2-1-1.emulator nft 'add table netdev testbed'
ip netns exec tb-pod-2-1-1.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-pod-2-1-1.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-pod-2-1-1.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-pod-2-1-1.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-pod-2-1-1.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-pod-2-1-1.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-pod-2-1-1.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-pod-2-1-1.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-pod-2-1-1.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-pod-2-1-1.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-pod-2-1-1.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-pod-2-1-1.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-pod-2-1-1.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-pod-2-1-1.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-pod-2-1-1.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-pod-2-1-1.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-pod-2-1-1.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-pod-2-1-1.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-pod-2-1-1.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-pod-2-1-1.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-pod-2-1-1.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-pod-2-1-1.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-pod-2-1-1.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-pod-2-1-1.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-pod-3-0-0.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-pod-3-0-0.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-pod-3-0-0.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-pod-3-0-0.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-pod-3-0-0.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-pod-3-0-0.emulator qdisc add dev end1 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
tc -n tb-pod-3-0-0.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-pod-3-0-0.emulator qdisc add dev end0 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
ip netns exec tb-pod-3-0-0.emulator nft 'add table netdev testbed'
ip netns exec tb-pod-3-0-0.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-pod-3-0-0.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-pod-3-0-0.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-pod-3-0-0.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-pod-3-0-0.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-pod-3-0-0.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-pod-3-0-0.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-pod-3-0-0.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-pod-3-0-0.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-pod-3-0-0.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-pod-3-0-0.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-pod-3-0-0.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-pod-3-0-0.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-pod-3-0-0.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-pod-3-0-0.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-pod-3-0-0.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-pod-3-0-0.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-pod-3-0-0.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-pod-3-0-0.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-pod-3-0-0.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-pod-3-0-0.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-pod-3-0-0.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-pod-3-0-0.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-pod-3-0-0.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-pod-3-0-1.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-pod-3-0-1.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-pod-3-0-1.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-pod-3-0-1.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-pod-3-0-1.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-pod-3-0-1.emulator qdisc add dev end1 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
tc -n tb-pod-3-0-1.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-pod-3-0-1.emulator qdisc add dev end0 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
ip netns exec tb-pod-3-0-1.emulator nft 'add table netdev testbed'
ip netns exec tb-pod-3-0-1.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-pod-3-0-1.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-pod-3-0-1.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-pod-3-0-1.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-pod-3-0-1.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-pod-3-0-1.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-pod-3-0-1.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-pod-3-0-1.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-pod-3-0-1.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-pod-3-0-1.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-pod-3-0-1.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-pod-3-0-1.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-pod-3-0-1.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-pod-3-0-1.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-pod-3-0-1.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-pod-3-0-1.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-pod-3-0-1.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-pod-3-0-1.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-pod-3-0-1.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-pod-3-0-1.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-pod-3-0-1.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-pod-3-0-1.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-pod-3-0-1.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-pod-3-0-1.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-pod-3-1-0.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-pod-3-1-0.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-pod-3-1-0.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-pod-3-1-0.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-pod-3-1-0.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-pod-3-1-0.emulator qdisc add dev end1 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
tc -n tb-pod-3-1-0.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-pod-3-1-0.emulator qdisc add dev end0 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
ip netns exec tb-pod-3-1-0.emulator nft 'add table netdev testbed'
ip netns exec tb-pod-3-1-0.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-pod-3-1-0.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-pod-3-1-0.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-pod-3-1-0.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-pod-3-1-0.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-pod-3-1-0.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-pod-3-1-0.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-pod-3-1-0.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-pod-3-1-0.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-pod-3-1-0.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-pod-3-1-0.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-pod-3-1-0.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-pod-3-1-0.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-pod-3-1-0.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-pod-3-1-0.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-pod-3-1-0.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-pod-3-1-0.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-pod-3-1-0.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-pod-3-1-0.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-pod-3-1-0.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-pod-3-1-0.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-pod-3-1-0.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-pod-3-1-0.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-pod-3-1-0.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-pod-3-1-1.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-pod-3-1-1.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-pod-3-1-1.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-pod-3-1-1.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-pod-3-1-1.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-pod-3-1-1.emulator qdisc add dev end1 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
tc -n tb-pod-3-1-1.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-pod-3-1-1.emulator qdisc add dev end0 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
ip netns exec tb-pod-3-1-1.emulator nft 'add table netdev testbed'
ip netns exec tb-pod-3-1-1.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-pod-3-1-1.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-pod-3-1-1.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-pod-3-1-1.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-pod-3-1-1.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-pod-3-1-1.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-pod-3-1-1.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-pod-3-1-1.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-pod-3-1-1.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-pod-3-1-1.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-pod-3-1-1.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-pod-3-1-1.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-pod-3-1-1.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-pod-3-1-1.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-pod-3-1-1.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-pod-3-1-1.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-pod-3-1-1.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-pod-3-1-1.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-pod-3-1-1.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-pod-3-1-1.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-pod-3-1-1.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-pod-3-1-1.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-pod-3-1-1.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-pod-3-1-1.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-up-0-0-0.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-up-0-0-0.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-up-0-0-0.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-up-0-0-0.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-up-0-0-0.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-up-0-0-0.emulator qdisc add dev end1 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
tc -n tb-up-0-0-0.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-up-0-0-0.emulator qdisc add dev end0 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
ip netns exec tb-up-0-0-0.emulator nft 'add table netdev testbed'
ip netns exec tb-up-0-0-0.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-up-0-0-0.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-up-0-0-0.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-up-0-0-0.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-up-0-0-0.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-up-0-0-0.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-up-0-0-0.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-up-0-0-0.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-up-0-0-0.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-up-0-0-0.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-up-0-0-0.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-up-0-0-0.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-up-0-0-0.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-up-0-0-0.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-up-0-0-0.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-up-0-0-0.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-up-0-0-0.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-up-0-0-0.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-up-0-0-0.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-up-0-0-0.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-up-0-0-0.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-up-0-0-0.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-up-0-0-0.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-up-0-0-0.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-up-0-0-1.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-up-0-0-1.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-up-0-0-1.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-up-0-0-1.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-up-0-0-1.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-up-0-0-1.emulator qdisc add dev end1 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
tc -n tb-up-0-0-1.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-up-0-0-1.emulator qdisc add dev end0 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
ip netns exec tb-up-0-0-1.emulator nft 'add table netdev testbed'
ip netns exec tb-up-0-0-1.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-up-0-0-1.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-up-0-0-1.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-up-0-0-1.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-up-0-0-1.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-up-0-0-1.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-up-0-0-1.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-up-0-0-1.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-up-0-0-1.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-up-0-0-1.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-up-0-0-1.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-up-0-0-1.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-up-0-0-1.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-up-0-0-1.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-up-0-0-1.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-up-0-0-1.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-up-0-0-1.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-up-0-0-1.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-up-0-0-1.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-up-0-0-1.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-up-0-0-1.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-up-0-0-1.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-up-0-0-1.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-up-0-0-1.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-up-0-1-0.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-up-0-1-0.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-up-0-1-0.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-up-0-1-0.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-up-0-1-0.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-up-0-1-0.emulator qdisc add dev end1 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
tc -n tb-up-0-1-0.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-up-0-1-0.emulator qdisc add dev end0 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
ip netns exec tb-up-0-1-0.emulator nft 'add table netdev testbed'
ip netns exec tb-up-0-1-0.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-up-0-1-0.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-up-0-1-0.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-up-0-1-0.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-up-0-1-0.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-up-0-1-0.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-up-0-1-0.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-up-0-1-0.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-up-0-1-0.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-up-0-1-0.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-up-0-1-0.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-up-0-1-0.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-up-0-1-0.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-up-0-1-0.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-up-0-1-0.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-up-0-1-0.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-up-0-1-0.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-up-0-1-0.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-up-0-1-0.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-up-0-1-0.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-up-0-1-0.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-up-0-1-0.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-up-0-1-0.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-up-0-1-0.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-up-0-1-1.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-up-0-1-1.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-up-0-1-1.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-up-0-1-1.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-up-0-1-1.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-up-0-1-1.emulator qdisc add dev end1 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
tc -n tb-up-0-1-1.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-up-0-1-1.emulator qdisc add dev end0 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
ip netns exec tb-up-0-1-1.emulator nft 'add table netdev testbed'
ip netns exec tb-up-0-1-1.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-up-0-1-1.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-up-0-1-1.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-up-0-1-1.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-up-0-1-1.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-up-0-1-1.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-up-0-1-1.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-up-0-1-1.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-up-0-1-1.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-up-0-1-1.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-up-0-1-1.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-up-0-1-1.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-up-0-1-1.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-up-0-1-1.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-up-0-1-1.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-up-0-1-1.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-up-0-1-1.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-up-0-1-1.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-up-0-1-1.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-up-0-1-1.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-up-0-1-1.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-up-0-1-1.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-up-0-1-1.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-up-0-1-1.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-up-1-0-0.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-up-1-0-0.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-up-1-0-0.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-up-1-0-0.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-up-1-0-0.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-up-1-0-0.emulator qdisc add dev end1 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
tc -n tb-up-1-0-0.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-up-1-0-0.emulator qdisc add dev end0 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
ip netns exec tb-up-1-0-0.emulator nft 'add table netdev testbed'
ip netns exec tb-up-1-0-0.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-up-1-0-0.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-up-1-0-0.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-up-1-0-0.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-up-1-0-0.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-up-1-0-0.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-up-1-0-0.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-up-1-0-0.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-up-1-0-0.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-up-1-0-0.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-up-1-0-0.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-up-1-0-0.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-up-1-0-0.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-up-1-0-0.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-up-1-0-0.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-up-1-0-0.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-up-1-0-0.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-up-1-0-0.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-up-1-0-0.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-up-1-0-0.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-up-1-0-0.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-up-1-0-0.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-up-1-0-0.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-up-1-0-0.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-up-1-0-1.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-up-1-0-1.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-up-1-0-1.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-up-1-0-1.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-up-1-0-1.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-up-1-0-1.emulator qdisc add dev end1 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
tc -n tb-up-1-0-1.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-up-1-0-1.emulator qdisc add dev end0 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
ip netns exec tb-up-1-0-1.emulator nft 'add table netdev testbed'
ip netns exec tb-up-1-0-1.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-up-1-0-1.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-up-1-0-1.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-up-1-0-1.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-up-1-0-1.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-up-1-0-1.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-up-1-0-1.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-up-1-0-1.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-up-1-0-1.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-up-1-0-1.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-up-1-0-1.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-up-1-0-1.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-up-1-0-1.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-up-1-0-1.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-up-1-0-1.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-up-1-0-1.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-up-1-0-1.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-up-1-0-1.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-up-1-0-1.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-up-1-0-1.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-up-1-0-1.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-up-1-0-1.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-up-1-0-1.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-up-1-0-1.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-up-1-1-0.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-up-1-1-0.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-up-1-1-0.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-up-1-1-0.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-up-1-1-0.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-up-1-1-0.emulator qdisc add dev end1 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
tc -n tb-up-1-1-0.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-up-1-1-0.emulator qdisc add dev end0 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
ip netns exec tb-up-1-1-0.emulator nft 'add table netdev testbed'
ip netns exec tb-up-1-1-0.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-up-1-1-0.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-up-1-1-0.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-up-1-1-0.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-up-1-1-0.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-up-1-1-0.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-up-1-1-0.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-up-1-1-0.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-up-1-1-0.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-up-1-1-0.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-up-1-1-0.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-up-1-1-0.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-up-1-1-0.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-up-1-1-0.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-up-1-1-0.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-up-1-1-0.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-up-1-1-0.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-up-1-1-0.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-up-1-1-0.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-up-1-1-0.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-up-1-1-0.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-up-1-1-0.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-up-1-1-0.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-up-1-1-0.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-up-1-1-1.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-up-1-1-1.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-up-1-1-1.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-up-1-1-1.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-up-1-1-1.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-up-1-1-1.emulator qdisc add dev end1 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
tc -n tb-up-1-1-1.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-up-1-1-1.emulator qdisc add dev end0 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
ip netns exec tb-up-1-1-1.emulator nft 'add table netdev testbed'
ip netns exec tb-up-1-1-1.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-up-1-1-1.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-up-1-1-1.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-up-1-1-1.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-up-1-1-1.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-up-1-1-1.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-up-1-1-1.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-up-1-1-1.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-up-1-1-1.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-up-1-1-1.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-up-1-1-1.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-up-1-1-1.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-up-1-1-1.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-up-1-1-1.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-up-1-1-1.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-up-1-1-1.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-up-1-1-1.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-up-1-1-1.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-up-1-1-1.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-up-1-1-1.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-up-1-1-1.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-up-1-1-1.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-up-1-1-1.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-up-1-1-1.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-up-2-0-0.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-up-2-0-0.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-up-2-0-0.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-up-2-0-0.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-up-2-0-0.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-up-2-0-0.emulator qdisc add dev end1 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
tc -n tb-up-2-0-0.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-up-2-0-0.emulator qdisc add dev end0 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
ip netns exec tb-up-2-0-0.emulator nft 'add table netdev testbed'
ip netns exec tb-up-2-0-0.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-up-2-0-0.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-up-2-0-0.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-up-2-0-0.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-up-2-0-0.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-up-2-0-0.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-up-2-0-0.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-up-2-0-0.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-up-2-0-0.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-up-2-0-0.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-up-2-0-0.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-up-2-0-0.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-up-2-0-0.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-up-2-0-0.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-up-2-0-0.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-up-2-0-0.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-up-2-0-0.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-up-2-0-0.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-up-2-0-0.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-up-2-0-0.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-up-2-0-0.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-up-2-0-0.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-up-2-0-0.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-up-2-0-0.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-up-2-0-1.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-up-2-0-1.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-up-2-0-1.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-up-2-0-1.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-up-2-0-1.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-up-2-0-1.emulator qdisc add dev end1 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
tc -n tb-up-2-0-1.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-up-2-0-1.emulator qdisc add dev end0 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
ip netns exec tb-up-2-0-1.emulator nft 'add table netdev testbed'
ip netns exec tb-up-2-0-1.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-up-2-0-1.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-up-2-0-1.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-up-2-0-1.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-up-2-0-1.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-up-2-0-1.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-up-2-0-1.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-up-2-0-1.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-up-2-0-1.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-up-2-0-1.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-up-2-0-1.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-up-2-0-1.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-up-2-0-1.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-up-2-0-1.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-up-2-0-1.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-up-2-0-1.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-up-2-0-1.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-up-2-0-1.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-up-2-0-1.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-up-2-0-1.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-up-2-0-1.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-up-2-0-1.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-up-2-0-1.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-up-2-0-1.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-up-2-1-0.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-up-2-1-0.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-up-2-1-0.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-up-2-1-0.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-up-2-1-0.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-up-2-1-0.emulator qdisc add dev end1 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
tc -n tb-up-2-1-0.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-up-2-1-0.emulator qdisc add dev end0 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
ip netns exec tb-up-2-1-0.emulator nft 'add table netdev testbed'
ip netns exec tb-up-2-1-0.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-up-2-1-0.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-up-2-1-0.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-up-2-1-0.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-up-2-1-0.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-up-2-1-0.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-up-2-1-0.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-up-2-1-0.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-up-2-1-0.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-up-2-1-0.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-up-2-1-0.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-up-2-1-0.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-up-2-1-0.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-up-2-1-0.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-up-2-1-0.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-up-2-1-0.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-up-2-1-0.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-up-2-1-0.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-up-2-1-0.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-up-2-1-0.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-up-2-1-0.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-up-2-1-0.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-up-2-1-0.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-up-2-1-0.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-up-2-1-1.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-up-2-1-1.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-up-2-1-1.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-up-2-1-1.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-up-2-1-1.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-up-2-1-1.emulator qdisc add dev end1 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
tc -n tb-up-2-1-1.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-up-2-1-1.emulator qdisc add dev end0 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
ip netns exec tb-up-2-1-1.emulator nft 'add table netdev testbed'
ip netns exec tb-up-2-1-1.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-up-2-1-1.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-up-2-1-1.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-up-2-1-1.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-up-2-1-1.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-up-2-1-1.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-up-2-1-1.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-up-2-1-1.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-up-2-1-1.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-up-2-1-1.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-up-2-1-1.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-up-2-1-1.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-up-2-1-1.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-up-2-1-1.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-up-2-1-1.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-up-2-1-1.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-up-2-1-1.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-up-2-1-1.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-up-2-1-1.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-up-2-1-1.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-up-2-1-1.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-up-2-1-1.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-up-2-1-1.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-up-2-1-1.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-up-3-0-0.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-up-3-0-0.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-up-3-0-0.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-up-3-0-0.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-up-3-0-0.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-up-3-0-0.emulator qdisc add dev end1 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
tc -n tb-up-3-0-0.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-up-3-0-0.emulator qdisc add dev end0 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
ip netns exec tb-up-3-0-0.emulator nft 'add table netdev testbed'
ip netns exec tb-up-3-0-0.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-up-3-0-0.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-up-3-0-0.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-up-3-0-0.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-up-3-0-0.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-up-3-0-0.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-up-3-0-0.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-up-3-0-0.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-up-3-0-0.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-up-3-0-0.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-up-3-0-0.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-up-3-0-0.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-up-3-0-0.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-up-3-0-0.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-up-3-0-0.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-up-3-0-0.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-up-3-0-0.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-up-3-0-0.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-up-3-0-0.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-up-3-0-0.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-up-3-0-0.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-up-3-0-0.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-up-3-0-0.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-up-3-0-0.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-up-3-0-1.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-up-3-0-1.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-up-3-0-1.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-up-3-0-1.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-up-3-0-1.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-up-3-0-1.emulator qdisc add dev end1 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
tc -n tb-up-3-0-1.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-up-3-0-1.emulator qdisc add dev end0 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
ip netns exec tb-up-3-0-1.emulator nft 'add table netdev testbed'
ip netns exec tb-up-3-0-1.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-up-3-0-1.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-up-3-0-1.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-up-3-0-1.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-up-3-0-1.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-up-3-0-1.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-up-3-0-1.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-up-3-0-1.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-up-3-0-1.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-up-3-0-1.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-up-3-0-1.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-up-3-0-1.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-up-3-0-1.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-up-3-0-1.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-up-3-0-1.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-up-3-0-1.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-up-3-0-1.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-up-3-0-1.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-up-3-0-1.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-up-3-0-1.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-up-3-0-1.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-up-3-0-1.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-up-3-0-1.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-up-3-0-1.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-up-3-1-0.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-up-3-1-0.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-up-3-1-0.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-up-3-1-0.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-up-3-1-0.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-up-3-1-0.emulator qdisc add dev end1 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
tc -n tb-up-3-1-0.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-up-3-1-0.emulator qdisc add dev end0 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
ip netns exec tb-up-3-1-0.emulator nft 'add table netdev testbed'
ip netns exec tb-up-3-1-0.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-up-3-1-0.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-up-3-1-0.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-up-3-1-0.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-up-3-1-0.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-up-3-1-0.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-up-3-1-0.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-up-3-1-0.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-up-3-1-0.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-up-3-1-0.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-up-3-1-0.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-up-3-1-0.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-up-3-1-0.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-up-3-1-0.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-up-3-1-0.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-up-3-1-0.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-up-3-1-0.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-up-3-1-0.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-up-3-1-0.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-up-3-1-0.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-up-3-1-0.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-up-3-1-0.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-up-3-1-0.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-up-3-1-0.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-up-3-1-1.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-up-3-1-1.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-up-3-1-1.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-up-3-1-1.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-up-3-1-1.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-up-3-1-1.emulator qdisc add dev end1 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
tc -n tb-up-3-1-1.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 5us
tc -n tb-up-3-1-1.emulator qdisc add dev end0 root handle 2: tbf rate 1000000000bit burst 2271 limit 151400
ip netns exec tb-up-3-1-1.emulator nft 'add table netdev testbed'
ip netns exec tb-up-3-1-1.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-up-3-1-1.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-up-3-1-1.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-up-3-1-1.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-up-3-1-1.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-up-3-1-1.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-up-3-1-1.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-up-3-1-1.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-up-3-1-1.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-up-3-1-1.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-up-3-1-1.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-up-3-1-1.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-up-3-1-1.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-up-3-1-1.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-up-3-1-1.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-up-3-1-1.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-up-3-1-1.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-up-3-1-1.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-up-3-1-1.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-up-3-1-1.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-up-3-1-1.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-up-3-1-1.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-up-3-1-1.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-up-3-1-1.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
ip netns exec tb-c0.control.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-c0.control.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-c0.control.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-c0.control.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-c0.control.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 1000us
tc -n tb-c0.control.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 1000us
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
mkdir -p /run/tb-ovs/edge-0-0
ip netns exec tb-edge-0-0 env OVS_RUNDIR=/run/tb-ovs/edge-0-0 ovsdb-tool create /run/tb-ovs/edge-0-0/conf.db /usr/share/openvswitch/vswitch.ovsschema
ip netns exec tb-edge-0-0 env OVS_RUNDIR=/run/tb-ovs/edge-0-0 ovsdb-server --remote=punix:/run/tb-ovs/edge-0-0/db.sock --detach --no-chdir --pidfile --log-file=/run/tb-ovs/edge-0-0/ovsdb-server.log -vconsole:off -vsyslog:off /run/tb-ovs/edge-0-0/conf.db
mkdir -p /run/tb-ovs/edge-0-1
ip netns exec tb-edge-0-1 env OVS_RUNDIR=/run/tb-ovs/edge-0-1 ovsdb-tool create /run/tb-ovs/edge-0-1/conf.db /usr/share/openvswitch/vswitch.ovsschema
ip netns exec tb-edge-0-1 env OVS_RUNDIR=/run/tb-ovs/edge-0-1 ovsdb-server --remote=punix:/run/tb-ovs/edge-0-1/db.sock --detach --no-chdir --pidfile --log-file=/run/tb-ovs/edge-0-1/ovsdb-server.log -vconsole:off -vsyslog:off /run/tb-ovs/edge-0-1/conf.db
mkdir -p /run/tb-ovs/agg-0-0
ip netns exec tb-agg-0-0 env OVS_RUNDIR=/run/tb-ovs/agg-0-0 ovsdb-tool create /run/tb-ovs/agg-0-0/conf.db /usr/share/openvswitch/vswitch.ovsschema
ip netns exec tb-agg-0-0 env OVS_RUNDIR=/run/tb-ovs/agg-0-0 ovsdb-server --remote=punix:/run/tb-ovs/agg-0-0/db.sock --detach --no-chdir --pidfile --log-file=/run/tb-ovs/agg-0-0/ovsdb-server.log -vconsole:off -vsyslog:off /run/tb-ovs/agg-0-0/conf.db
mkdir -p /run/tb-ovs/agg-0-1
ip netns exec tb-agg-0-1 env OVS_RUNDIR=/run/tb-ovs/agg-0-1 ovsdb-tool create /run/tb-ovs/agg-0-1/conf.db /usr/share/openvswitch/vswitch.ovsschema
ip netns exec tb-agg-0-1 env OVS_RUNDIR=/run/tb-ovs/agg-0-1 ovsdb-server --remote=punix:/run/tb-ovs/agg-0-1/db.sock --detach --no-chdir --pidfile --log-file=/run/tb-ovs/agg-0-1/ovsdb-server.log -vconsole:off -vsyslog:off /run/tb-ovs/agg-0-1/conf.db
mkdir -p /run/tb-ovs/edge-1-0
ip netns exec tb-edge-1-0 env OVS_RUNDIR=/run/tb-ovs/edge-1-0 ovsdb-tool create /run/tb-ovs/edge-1-0/conf.db /usr/share/openvswitch/vswitch.ovsschema
ip netns exec tb-edge-1-0 env OVS_RUNDIR=/run/tb-ovs/edge-1-0 ovsdb-server --remote=punix:/run/tb-ovs/edge-1-0/db.sock --detach --no-chdir --pidfile --log-file=/run/tb-ovs/edge-1-0/ovsdb-server.log -vconsole:off -vsyslog:off /run/tb-ovs/edge-1-0/conf.db
mkdir -p /run/tb-ovs/edge-1-1
ip netns exec tb-edge-1-1 env OVS_RUNDIR=/run/tb-ovs/edge-1-1 ovsdb-tool create /run/tb-ovs/edge-1-1/conf.db /usr/share/openvswitch/vswitch.ovsschema
ip netns exec tb-edge-1-1 env OVS_RUNDIR=/run/tb-ovs/edge-1-1 ovsdb-server --remote=punix:/run/tb-ovs/edge-1-1/db.sock --detach --no-chdir --pidfile --log-file=/run/tb-ovs/edge-1-1/ovsdb-server.log -vconsole:off -vsyslog:off /run/tb-ovs/edge-1-1/conf.db
mkdir -p /run/tb-ovs/agg-1-0
ip netns exec tb-agg-1-0 env OVS_RUNDIR=/run/tb-ovs/agg-1-0 ovsdb-tool create /run/tb-ovs/agg-1-0/conf.db /usr/share/openvswitch/vswitch.ovsschema
ip netns exec tb-agg-1-0 env OVS_RUNDIR=/run/tb-ovs/agg-1-0 ovsdb-server --remote=punix:/run/tb-ovs/agg-1-0/db.sock --detach --no-chdir --pidfile --log-file=/run/tb-ovs/agg-1-0/ovsdb-server.log -vconsole:off -vsyslog:off /run/tb-ovs/agg-1-0/conf.db
mkdir -p /run/tb-ovs/agg-1-1
ip netns exec tb-agg-1-1 env OVS_RUNDIR=/run/tb-ovs/agg-1-1 ovsdb-tool create /run/tb-ovs/agg-1-1/conf.db /usr/share/openvswitch/vswitch.ovsschema
ip netns exec tb-agg-1-1 env OVS_RUNDIR=/run/tb-ovs/agg-1-1 ovsdb-server --remote=punix:/run/tb-ovs/agg-1-1/db.sock --detach --no-chdir --pidfile --log-file=/run/tb-ovs/agg-1-1/ovsdb-server.log -vconsole:off -vsyslog:off /run/tb-ovs/agg-1-1/conf.db
mkdir -p /run/tb-ovs/edge-2-0
ip netns exec tb-edge-2-0 env OVS_RUNDIR=/run/tb-ovs/edge-2-0 ovsdb-tool create /run/tb-ovs/edge-2-0/conf.db /usr/share/openvswitch/vswitch.ovsschema
ip netns exec tb-edge-2-0 env OVS_RUNDIR=/run/tb-ovs/edge-2-0 ovsdb-server --remote=punix:/run/tb-ovs/edge-2-0/db.sock --detach --no-chdir --pidfile --log-file=/run/tb-ovs/edge-2-0/ovsdb-server.log -vconsole:off -vsyslog:off /run/tb-ovs/edge-2-0/conf.db
mkdir -p /run/tb-ovs/edge-2-1
ip netns exec tb-edge-2-1 env OVS_RUNDIR=/run/tb-ovs/edge-2-1 ovsdb-tool create /run/tb-ovs/edge-2-1/conf.db /usr/share/openvswitch/vswitch.ovsschema
ip netns exec tb-edge-2-1 env OVS_RUNDIR=/run/tb-ovs/edge-2-1 ovsdb-server --remote=punix:/run/tb-ovs/edge-2-1/db.sock --detach --no-chdir --pidfile --log-file=/run/tb-ovs/edge-2-1/ovsdb-server.log -vconsole:off -vsyslog:off /run/tb-ovs/edge-2-1/conf.db
mkdir -p /run/tb-ovs/agg-2-0
ip netns exec tb-agg-2-0 env OVS_RUNDIR=/run/tb-ovs/agg-2-0 ovsdb-tool create /run/tb-ovs/agg-2-0/conf.db /usr/share/openvswitch/vswitch.ovsschema
ip netns exec tb-agg-2-0 env OVS_RUNDIR=/run/tb-ovs/agg-2-0 ovsdb-server --remote=punix:/run/tb-ovs/agg-2-0/db.sock --detach --no-chdir --pidfile --log-file=/run/tb-ovs/agg-2-0/ovsdb-server.log -vconsole:off -vsyslog:off /run/tb-ovs/agg-2-0/conf.db
mkdir -p /run/tb-ovs/agg-2-1
ip netns exec tb-agg-2-1 env OVS_RUNDIR=/run/tb-ovs/agg-2-1 ovsdb-tool create /run/tb-ovs/agg-2-1/conf.db /usr/share/openvswitch/vswitch.ovsschema
ip netns exec tb-agg-2-1 env OVS_RUNDIR=/run/tb-ovs/agg-2-1 ovsdb-server --remote=punix:/run/tb-ovs/agg-2-1/db.sock --detach --no-chdir --pidfile --log-file=/run/tb-ovs/agg-2-1/ovsdb-server.log -vconsole:off -vsyslog:off /run/tb-ovs/agg-2-1/conf.db
mkdir -p /run/tb-ovs/edge-3-0
ip netns exec tb-edge-3-0 env OVS_RUNDIR=/run/tb-ovs/edge-3-0 ovsdb-tool create /run/tb-ovs/edge-3-0/conf.db /usr/share/openvswitch/vswitch.ovsschema
ip netns exec tb-edge-3-0 env OVS_RUNDIR=/run/tb-ovs/edge-3-0 ovsdb-server --remote=punix:/run/tb-ovs/edge-3-0/db.sock --detach --no-chdir --pidfile --log-file=/run/tb-ovs/edge-3-0/ovsdb-server.log -vconsole:off -vsyslog:off /run/tb-ovs/edge-3-0/conf.db
mkdir -p /run/tb-ovs/edge-3-1
ip netns exec tb-edge-3-1 env OVS_RUNDIR=/run/tb-ovs/edge-3-1 ovsdb-tool create /run/tb-ovs/edge-3-1/conf.db /usr/share/openvswitch/vswitch.ovsschema
ip netns exec tb-edge-3-1 env OVS_RUNDIR=/run/tb-ovs/edge-3-1 ovsdb-server --remote=punix:/run/tb-ovs/edge-3-1/db.sock --detach --no-chdir --pidfile --log-file=/run/tb-ovs/edge-3-1/ovsdb-server.log -vconsole:off -vsyslog:off /run/tb-ovs/edge-3-1/conf.db
mkdir -p /run/tb-ovs/agg-3-0
ip netns exec tb-agg-3-0 env OVS_RUNDIR=/run/tb-ovs/agg-3-0 ovsdb-tool create /run/tb-ovs/agg-3-0/conf.db /usr/share/openvswitch/vswitch.ovsschema
ip netns exec tb-agg-3-0 env OVS_RUNDIR=/run/tb-ovs/agg-3-0 ovsdb-server --remote=punix:/run/tb-ovs/agg-3-0/db.sock --detach --no-chdir --pidfile --log-file=/run/tb-ovs/agg-3-0/ovsdb-server.log -vconsole:off -vsyslog:off /run/tb-ovs/agg-3-0/conf.db
mkdir -p /run/tb-ovs/agg-3-1
ip netns exec tb-agg-3-1 env OVS_RUNDIR=/run/tb-ovs/agg-3-1 ovsdb-tool create /run/tb-ovs/agg-3-1/conf.db /usr/share/openvswitch/vswitch.ovsschema
ip netns exec tb-agg-3-1 env OVS_RUNDIR=/run/tb-ovs/agg-3-1 ovsdb-server --remote=punix:/run/tb-ovs/agg-3-1/db.sock --detach --no-chdir --pidfile --log-file=/run/tb-ovs/agg-3-1/ovsdb-server.log -vconsole:off -vsyslog:off /run/tb-ovs/agg-3-1/conf.db
mkdir -p /run/tb-ovs/core-0
ip netns exec tb-core-0 env OVS_RUNDIR=/run/tb-ovs/core-0 ovsdb-tool create /run/tb-ovs/core-0/conf.db /usr/share/openvswitch/vswitch.ovsschema
ip netns exec tb-core-0 env OVS_RUNDIR=/run/tb-ovs/core-0 ovsdb-server --remote=punix:/run/tb-ovs/core-0/db.sock --detach --no-chdir --pidfile --log-file=/run/tb-ovs/core-0/ovsdb-server.log -vconsole:off -vsyslog:off /run/tb-ovs/core-0/conf.db
mkdir -p /run/tb-ovs/core-1
ip netns exec tb-core-1 env OVS_RUNDIR=/run/tb-ovs/core-1 ovsdb-tool create /run/tb-ovs/core-1/conf.db /usr/share/openvswitch/vswitch.ovsschema
ip netns exec tb-core-1 env OVS_RUNDIR=/run/tb-ovs/core-1 ovsdb-server --remote=punix:/run/tb-ovs/core-1/db.sock --detach --no-chdir --pidfile --log-file=/run/tb-ovs/core-1/ovsdb-server.log -vconsole:off -vsyslog:off /run/tb-ovs/core-1/conf.db
mkdir -p /run/tb-ovs/core-2
ip netns exec tb-core-2 env OVS_RUNDIR=/run/tb-ovs/core-2 ovsdb-tool create /run/tb-ovs/core-2/conf.db /usr/share/openvswitch/vswitch.ovsschema
ip netns exec tb-core-2 env OVS_RUNDIR=/run/tb-ovs/core-2 ovsdb-server --remote=punix:/run/tb-ovs/core-2/db.sock --detach --no-chdir --pidfile --log-file=/run/tb-ovs/core-2/ovsdb-server.log -vconsole:off -vsyslog:off /run/tb-ovs/core-2/conf.db
mkdir -p /run/tb-ovs/core-3
ip netns exec tb-core-3 env OVS_RUNDIR=/run/tb-ovs/core-3 ovsdb-tool create /run/tb-ovs/core-3/conf.db /usr/share/openvswitch/vswitch.ovsschema
ip netns exec tb-core-3 env OVS_RUNDIR=/run/tb-ovs/core-3 ovsdb-server --remote=punix:/run/tb-ovs/core-3/db.sock --detach --no-chdir --pidfile --log-file=/run/tb-ovs/core-3/ovsdb-server.log -vconsole:off -vsyslog:off /run/tb-ovs/core-3/conf.db
mkdir -p /run/tb-ovs/c0
printf %s '{"app": "static", "is_ours": true, "listen": ["198.18.0.1", 6653], "names": {"1": "edge-0-0", "10": "edge-2-1", "11": "agg-2-0", "12": "agg-2-1", "13": "edge-3-0", "14": "edge-3-1", "15": "agg-3-0", "16": "agg-3-1", "17": "core-0", "18": "core-1", "19": "core-2", "2": "edge-0-1", "20": "core-3", "3": "agg-0-0", "4": "agg-0-1", "5": "edge-1-0", "6": "edge-1-1", "7": "agg-1-0", "8": "agg-1-1", "9": "edge-2-0"}, "switches": {"1": {"flood": [1, 2, 3, 4], "ways": {"02:54:42:00:00:00": 1, "02:54:42:00:00:02": 2, "02:54:42:00:00:04": 3, "02:54:42:00:00:06": 4, "02:54:42:00:00:08": 3, "02:54:42:00:00:0a": 4, "02:54:42:00:00:0c": 3, "02:54:42:00:00:0e": 4, "02:54:42:00:00:10": 3, "02:54:42:00:00:12": 4, "02:54:42:00:00:14": 3, "02:54:42:00:00:16": 4, "02:54:42:00:00:18": 3, "02:54:42:00:00:1a": 4, "02:54:42:00:00:1c": 3, "02:54:42:00:00:1e": 4}}, "10": {"flood": [1, 2, 3], "ways": {"02:54:42:00:00:00": 3, "02:54:42:00:00:02": 4, "02:54:42:00:00:04": 3, "02:54:42:00:00:06": 4, "02:54:42:00:00:08": 3, "02:54:42:00:00:0a": 4, "02:54:42:00:00:0c": 3, "02:54:42:00:00:0e": 4, "02:54:42:00:00:10": 3, "02:54:42:00:00:12": 4, "02:54:42:00:00:14": 1, "02:54:42:00:00:16": 2, "02:54:42:00:00:18": 3, "02:54:42:00:00:1a": 4, "02:54:42:00:00:1c": 3, "02:54:42:00:00:1e": 4}}, "11": {"flood": [1, 2, 3], "ways": {"02:54:42:00:00:00": 3, "02:54:42:00:00:02": 4, "02:54:42:00:00:04": 4, "02:54:42:00:00:06": 3, "02:54:42:00:00:08": 3, "02:54:42:00:00:0a": 4, "02:54:42:00:00:0c": 4, "02:54:42:00:00:0e": 3, "02:54:42:00:00:10": 1, "02:54:42:00:00:12": 1, "02:54:42:00:00:14": 2, "02:54:42:00:00:16": 2, "02:54:42:00:00:18": 3, "02:54:42:00:00:1a": 4, "02:54:42:00:00:1c": 4, "02:54:42:00:00:1e": 3}}, "12": {"flood": [3], "ways": {"02:54:42:00:00:00": 3, "02:54:42:00:00:02": 4, "02:54:42:00:00:04": 4, "02:54:42:00:00:06": 3, "02:54:42:00:00:08": 3, "02:54:42:00:00:0a": 4, "02:54:42:00:00:0c": 4, "02:54:42:00:00:0e": 3, "02:54:42:00:00:10": 1, "02:54:42:00:00:12": 1, "02:54:42:00:00:14": 2, "02:54:42:00:00:16": 2, "02:54:42:00:00:18": 3, "02:54:42:00:00:1a": 4, "02:54:42:00:00:1c": 4, "02:54:42:00:00:1e": 3}}, "13": {"flood": [1, 2, 3], "ways": {"02:54:42:00:00:00": 3, "02:54:42:00:00:02": 4, "02:54:42:00:00:04": 3, "02:54:42:00:00:06": 4, "02:54:42:00:00:08": 3, "02:54:42:00:00:0a": 4, "02:54:42:00:00:0c": 3, "02:54:42:00:00:0e": 4, "02:54:42:00:00:10": 3, "02:54:42:00:00:12": 4, "02:54:42:00:00:14": 3, "02:54:42:00:00:16": 4, "02:54:42:00:00:18": 1, "02:54:42:00:00:1a": 2, "02:54:42:00:00:1c": 3, "02:54:42:00:00:1e": 4}}, "14": {"flood": [1, 2, 3], "ways": {"02:54:42:00:00:00": 3, "02:54:42:00:00:02": 4, "02:54:42:00:00:04": 3, "02:54:42:00:00:06": 4, "02:54:42:00:00:08": 3, "02:54:42:00:00:0a": 4, "02:54:42:00:00:0c": 3, "02:54:42:00:00:0e": 4, "02:54:42:00:00:10": 3, "02:54:42:00:00:12": 4, "02:54:42:00:00:14": 3, "02:54:42:00:00:16": 4, "02:54:42:00:00:18": 3, "02:54:42:00:00:1a": 4, "02:54:42:00:00:1c": 1, "02:54:42:00:00:1e": 2}}, "15": {"flood": [1, 2, 3], "ways": {"02:54:42:00:00:00": 3, "02:54:42:00:00:02": 4, "02:54:42:00:00:04": 4, "02:54:42:00:00:06": 3, "02:54:42:00:00:08": 3, "02:54:42:00:00:0a": 4, "02:54:42:00:00:0c": 4, "02:54:42:00:00:0e": 3, "02:54:42:00:00:10": 3, "02:54:42:00:00:12": 4, "02:54:42:00:00:14": 4, "02:54:42:00:00:16": 3, "02:54:42:00:00:18": 1, "02:54:42:00:00:1a": 1, "02:54:42:00:00:1c": 2, "02:54:42:00:00:1e": 2}}, "16": {"flood": [3], "ways": {"02:54:42:00:00:00": 3, "02:54:42:00:00:02": 4, "02:54:42:00:00:04": 4, "02:54:42:00:00:06": 3, "02:54:42:00:00:08": 3, "02:54:42:00:00:0a": 4, "02:54:42:00:00:0c": 4, "02:54:42:00:00:0e": 3, "02:54:42:00:00:10": 3, "02:54:42:00:00:12": 4, "02:54:42:00:00:14": 4, "02:54:42:00:00:16": 3, "02:54:42:00:00:18": 1, "02:54:42:00:00:1a": 1, "02:54:42:00:00:1c": 2, "02:54:42:00:00:1e": 2}}, "17": {"flood": [1, 2, 3, 4], "ways": {"02:54:42:00:00:00": 1, "02:54:42:00:00:02": 1, "02:54:42:00:00:04": 1, "02:54:42:00:00:06": 1, "02:54:42:00:00:08": 2, "02:54:42:00:00:0a": 2, "02:54:42:00:00:0c": 2, "02:54:42:00:00:0e": 2, "02:54:42:00:00:10": 3, "02:54:42:00:00:12": 3, "02:54:42:00:00:14": 3, "02:54:42:00:00:16": 3, "02:54:42:00:00:18": 4, "02:54:42:00:00:1a": 4, "02:54:42:00:00:1c": 4, "02:54:42:00:00:1e": 4}}, "18": {"flood": [1], "ways": {"02:54:42:00:00:00": 1, "02:54:42:00:00:02": 1, "02:54:42:00:00:04": 1, "02:54:42:00:00:06": 1, "02:54:42:00:00:08": 2, "02:54:42:00:00:0a": 2, "02:54:42:00:00:0c": 2, "02:54:42:00:00:0e": 2, "02:54:42:00:00:10": 3, "02:54:42:00:00:12": 3, "02:54:42:00:00:14": 3, "02:54:42:00:00:16": 3, "02:54:42:00:00:18": 4, "02:54:42:00:00:1a": 4, "02:54:42:00:00:1c": 4, "02:54:42:00:00:1e": 4}}, "19": {"flood": [1, 2, 3, 4], "ways": {"02:54:42:00:00:00": 1, "02:54:42:00:00:02": 1, "02:54:42:00:00:04": 1, "02:54:42:00:00:06": 1, "02:54:42:00:00:08": 2, "02:54:42:00:00:0a": 2, "02:54:42:00:00:0c": 2, "02:54:42:00:00:0e": 2, "02:54:42:00:00:10": 3, "02:54:42:00:00:12": 3, "02:54:42:00:00:14": 3, "02:54:42:00:00:16": 3, "02:54:42:00:00:18": 4, "02:54:42:00:00:1a": 4, "02:54:42:00:00:1c": 4, "02:54:42:00:00:1e": 4}}, "2": {"flood": [1, 2, 3], "ways": {"02:54:42:00:00:00": 3, "02:54:42:00:00:02": 4, "02:54:42:00:00:04": 1, "02:54:42:00:00:06": 2, "02:54:42:00:00:08": 3, "02:54:42:00:00:0a": 4, "02:54:42:00:00:0c": 3, "02:54:42:00:00:0e": 4, "02:54:42:00:00:10": 3, "02:54:42:00:00:12": 4, "02:54:42:00:00:14": 3, "02:54:42:00:00:16": 4, "02:54:42:00:00:18": 3, "02:54:42:00:00:1a": 4, "02:54:42:00:00:1c": 3, "02:54:42:00:00:1e": 4}}, "20": {"flood": [1], "ways": {"02:54:42:00:00:00": 1, "02:54:42:00:00:02": 1, "02:54:42:00:00:04": 1, "02:54:42:00:00:06": 1, "02:54:42:00:00:08": 2, "02:54:42:00:00:0a": 2, "02:54:42:00:00:0c": 2, "02:54:42:00:00:0e": 2, "02:54:42:00:00:10": 3, "02:54:42:00:00:12": 3, "02:54:42:00:00:14": 3, "02:54:42:00:00:16": 3, "02:54:42:00:00:18": 4, "02:54:42:00:00:1a": 4, "02:54:42:00:00:1c": 4, "02:54:42:00:00:1e": 4}}, "3": {"flood": [1, 2, 3, 4], "ways": {"02:54:42:00:00:00": 1, "02:54:42:00:00:02": 1, "02:54:42:00:00:04": 2, "02:54:42:00:00:06": 2, "02:54:42:00:00:08": 3, "02:54:42:00:00:0a": 4, "02:54:42:00:00:0c": 4, "02:54:42:00:00:0e": 3, "02:54:42:00:00:10": 3, "02:54:42:00:00:12": 4, "02:54:42:00:00:14": 4, "02:54:42:00:00:16": 3, "02:54:42:00:00:18": 3, "02:54:42:00:00:1a": 4, "02:54:42:00:00:1c": 4, "02:54:42:00:00:1e": 3}}, "4": {"flood": [1, 3, 4], "ways": {"02:54:42:00:00:00": 1, "02:54:42:00:00:02": 1, "02:54:42:00:00:04": 2, "02:54:42:00:00:06": 2, "02:54:42:00:00:08": 3, "02:54:42:00:00:0a": 4, "02:54:42:00:00:0c": 4, "02:54:42:00:00:0e": 3, "02:54:42:00:00:10": 3, "02:54:42:00:00:12": 4, "02:54:42:00:00:14": 4, "02:54:42:00:00:16": 3, "02:54:42:00:00:18": 3, "02:54:42:00:00:1a": 4, "02:54:42:00:00:1c": 4, "02:54:42:00:00:1e": 3}}, "5": {"flood": [1, 2, 3], "ways": {"02:54:42:00:00:00": 3, "02:54:42:00:00:02": 4, "02:54:42:00:00:04": 3, "02:54:42:00:00:06": 4, "02:54:42:00:00:08": 1, "02:54:42:00:00:0a": 2, "02:54:42:00:00:0c": 3, "02:54:42:00:00:0e": 4, "02:54:42:00:00:10": 3, "02:54:42:00:00:12": 4, "02:54:42:00:00:14": 3, "02:54:42:00:00:16": 4, "02:54:42:00:00:18": 3, "02:54:42:00:00:1a": 4, "02:54:42:00:00:1c": 3, "02:54:42:00:00:1e": 4}}, "6": {"flood": [1, 2, 3], "ways": {"02:54:42:00:00:00": 3, "02:54:42:00:00:02": 4, "02:54:42:00:00:04": 3, "02:54:42:00:00:06": 4, "02:54:42:00:00:08": 3, "02:54:42:00:00:0a": 4, "02:54:42:00:00:0c": 1, "02:54:42:00:00:0e": 2, "02:54:42:00:00:10": 3, "02:54:42:00:00:12": 4, "02:54:42:00:00:14": 3, "02:54:42:00:00:16": 4, "02:54:42:00:00:18": 3, "02:54:42:00:00:1a": 4, "02:54:42:00:00:1c": 3, "02:54:42:00:00:1e": 4}}, "7": {"flood": [1, 2, 3], "ways": {"02:54:42:00:00:00": 3, "02:54:42:00:00:02": 4, "02:54:42:00:00:04": 4, "02:54:42:00:00:06": 3, "02:54:42:00:00:08": 1, "02:54:42:00:00:0a": 1, "02:54:42:00:00:0c": 2, "02:54:42:00:00:0e": 2, "02:54:42:00:00:10": 3, "02:54:42:00:00:12": 4, "02:54:42:00:00:14": 4, "02:54:42:00:00:16": 3, "02:54:42:00:00:18": 3, "02:54:42:00:00:1a": 4, "02:54:42:00:00:1c": 4, "02:54:42:00:00:1e": 3}}, "8": {"flood": [3], "ways": {"02:54:42:00:00:00": 3, "02:54:42:00:00:02": 4, "02:54:42:00:00:04": 4, "02:54:42:00:00:06": 3, "02:54:42:00:00:08": 1, "02:54:42:00:00:0a": 1, "02:54:42:00:00:0c": 2, "02:54:42:00:00:0e": 2, "02:54:42:00:00:10": 3, "02:54:42:00:00:12": 4, "02:54:42:00:00:14": 4, "02:54:42:00:00:16": 3, "02:54:42:00:00:18": 3, "02:54:42:00:00:1a": 4, "02:54:42:00:00:1c": 4, "02:54:42:00:00:1e": 3}}, "9": {"flood": [1, 2, 3], "ways": {"02:54:42:00:00:00": 3, "02:54:42:00:00:02": 4, "02:54:42:00:00:04": 3, "02:54:42:00:00:06": 4, "02:54:42:00:00:08": 3, "02:54:42:00:00:0a": 4, "02:54:42:00:00:0c": 3, "02:54:42:00:00:0e": 4, "02:54:42:00:00:10": 1, "02:54:42:00:00:12": 2, "02:54:42:00:00:14": 3, "02:54:42:00:00:16": 4, "02:54:42:00:00:18": 3, "02:54:42:00:00:1a": 4, "02:54:42:00:00:1c": 3, "02:54:42:00:00:1e": 4}}}, "waits": false}
' | tee /run/tb-ovs/c0/told.json > /dev/null
ip netns exec tb-c0 python3 -m testbed.agent.controller /run/tb-ovs/c0 &
awk '$1 < 10 { system("sleep " 10 - $1) }' /proc/uptime
ip netns exec tb-edge-0-0 env OVS_RUNDIR=/run/tb-ovs/edge-0-0 ovs-vswitchd --detach --no-chdir --pidfile --log-file=/run/tb-ovs/edge-0-0/ovs-vswitchd.log -vconsole:off -vsyslog:off
ip netns exec tb-edge-0-0 env OVS_RUNDIR=/run/tb-ovs/edge-0-0 ovs-vsctl --timeout=30 add-br br0 -- set bridge br0 datapath_type=system fail_mode=secure protocols=OpenFlow10,OpenFlow11,OpenFlow12,OpenFlow13,OpenFlow14,OpenFlow15 other_config:datapath-id=0000000000000001 -- add-port br0 eth0 -- set interface eth0 ofport_request=1 -- add-port br0 eth1 -- set interface eth1 ofport_request=2 -- add-port br0 eth2 -- set interface eth2 ofport_request=3 -- add-port br0 eth3 -- set interface eth3 ofport_request=4 -- set-controller br0 tcp:198.18.0.1:6653 -- set controller br0 connection_mode=out-of-band max_backoff=1000
ip netns exec tb-edge-0-1 env OVS_RUNDIR=/run/tb-ovs/edge-0-1 ovs-vswitchd --detach --no-chdir --pidfile --log-file=/run/tb-ovs/edge-0-1/ovs-vswitchd.log -vconsole:off -vsyslog:off
ip netns exec tb-edge-0-1 env OVS_RUNDIR=/run/tb-ovs/edge-0-1 ovs-vsctl --timeout=30 add-br br0 -- set bridge br0 datapath_type=system fail_mode=secure protocols=OpenFlow10,OpenFlow11,OpenFlow12,OpenFlow13,OpenFlow14,OpenFlow15 other_config:datapath-id=0000000000000002 -- add-port br0 eth0 -- set interface eth0 ofport_request=1 -- add-port br0 eth1 -- set interface eth1 ofport_request=2 -- add-port br0 eth2 -- set interface eth2 ofport_request=3 -- add-port br0 eth3 -- set interface eth3 ofport_request=4 -- set-controller br0 tcp:198.18.0.1:6653 -- set controller br0 connection_mode=out-of-band max_backoff=1000
ip netns exec tb-agg-0-0 env OVS_RUNDIR=/run/tb-ovs/agg-0-0 ovs-vswitchd --detach --no-chdir --pidfile --log-file=/run/tb-ovs/agg-0-0/ovs-vswitchd.log -vconsole:off -vsyslog:off
ip netns exec tb-agg-0-0 env OVS_RUNDIR=/run/tb-ovs/agg-0-0 ovs-vsctl --timeout=30 add-br br0 -- set bridge br0 datapath_type=system fail_mode=secure protocols=OpenFlow10,OpenFlow11,OpenFlow12,OpenFlow13,OpenFlow14,OpenFlow15 other_config:datapath-id=0000000000000003 -- add-port br0 eth0 -- set interface eth0 ofport_request=1 -- add-port br0 eth1 -- set interface eth1 ofport_request=2 -- add-port br0 eth2 -- set interface eth2 ofport_request=3 -- add-port br0 eth3 -- set interface eth3 ofport_request=4 -- set-controller br0 tcp:198.18.0.1:6653 -- set controller br0 connection_mode=out-of-band max_backoff=1000
ip netns exec tb-agg-0-1 env OVS_RUNDIR=/run/tb-ovs/agg-0-1 ovs-vswitchd --detach --no-chdir --pidfile --log-file=/run/tb-ovs/agg-0-1/ovs-vswitchd.log -vconsole:off -vsyslog:off
ip netns exec tb-agg-0-1 env OVS_RUNDIR=/run/tb-ovs/agg-0-1 ovs-vsctl --timeout=30 add-br br0 -- set bridge br0 datapath_type=system fail_mode=secure protocols=OpenFlow10,OpenFlow11,OpenFlow12,OpenFlow13,OpenFlow14,OpenFlow15 other_config:datapath-id=0000000000000004 -- add-port br0 eth0 -- set interface eth0 ofport_request=1 -- add-port br0 eth1 -- set interface eth1 ofport_request=2 -- add-port br0 eth2 -- set interface eth2 ofport_request=3 -- add-port br0 eth3 -- set interface eth3 ofport_request=4 -- set-controller br0 tcp:198.18.0.1:6653 -- set controller br0 connection_mode=out-of-band max_backoff=1000
ip netns exec tb-edge-1-0 env OVS_RUNDIR=/run/tb-ovs/edge-1-0 ovs-vswitchd --detach --no-chdir --pidfile --log-file=/run/tb-ovs/edge-1-0/ovs-vswitchd.log -vconsole:off -vsyslog:off
ip netns exec tb-edge-1-0 env OVS_RUNDIR=/run/tb-ovs/edge-1-0 ovs-vsctl --timeout=30 add-br br0 -- set bridge br0 datapath_type=system fail_mode=secure protocols=OpenFlow10,OpenFlow11,OpenFlow12,OpenFlow13,OpenFlow14,OpenFlow15 other_config:datapath-id=0000000000000005 -- add-port br0 eth0 -- set interface eth0 ofport_request=1 -- add-port br0 eth1 -- set interface eth1 ofport_request=2 -- add-port br0 eth2 -- set interface eth2 ofport_request=3 -- add-port br0 eth3 -- set interface eth3 ofport_request=4 -- set-controller br0 tcp:198.18.0.1:6653 -- set controller br0 connection_mode=out-of-band max_backoff=1000
ip netns exec tb-edge-1-1 env OVS_RUNDIR=/run/tb-ovs/edge-1-1 ovs-vswitchd --detach --no-chdir --pidfile --log-file=/run/tb-ovs/edge-1-1/ovs-vswitchd.log -vconsole:off -vsyslog:off
ip netns exec tb-edge-1-1 env OVS_RUNDIR=/run/tb-ovs/edge-1-1 ovs-vsctl --timeout=30 add-br br0 -- set bridge br0 datapath_type=system fail_mode=secure protocols=OpenFlow10,OpenFlow11,OpenFlow12,OpenFlow13,OpenFlow14,OpenFlow15 other_config:datapath-id=0000000000000006 -- add-port br0 eth0 -- set interface eth0 ofport_request=1 -- add-port br0 eth1 -- set interface eth1 ofport_request=2 -- add-port br0 eth2 -- set interface eth2 ofport_request=3 -- add-port br0 eth3 -- set interface eth3 ofport_request=4 -- set-controller br0 tcp:198.18.0.1:6653 -- set controller br0 connection_mode=out-of-band max_backoff=1000
ip netns exec tb-agg-1-0 env OVS_RUNDIR=/run/tb-ovs/agg-1-0 ovs-vswitchd --detach --no-chdir --pidfile --log-file=/run/tb-ovs/agg-1-0/ovs-vswitchd.log -vconsole:off -vsyslog:off
ip netns exec tb-agg-1-0 env OVS_RUNDIR=/run/tb-ovs/agg-1-0 ovs-vsctl --timeout=30 add-br br0 -- set bridge br0 datapath_type=system fail_mode=secure protocols=OpenFlow10,OpenFlow11,OpenFlow12,OpenFlow13,OpenFlow14,OpenFlow15 other_config:datapath-id=0000000000000007 -- add-port br0 eth0 -- set interface eth0 ofport_request=1 -- add-port br0 eth1 -- set interface eth1 ofport_request=2 -- add-port br0 eth2 -- set interface eth2 ofport_request=3 -- add-port br0 eth3 -- set interface eth3 ofport_request=4 -- set-controller br0 tcp:198.18.0.1:6653 -- set controller br0 connection_mode=out-of-band max_backoff=1000
ip netns exec tb-agg-1-1 env OVS_RUNDIR=/run/tb-ovs/agg-1-1 ovs-vswitchd --detach --no-chdir --pidfile --log-file=/run/tb-ovs/agg-1-1/ovs-vswitchd.log -vconsole:off -vsyslog:off
ip netns exec tb-agg-1-1 env OVS_RUNDIR=/run/tb-ovs/agg-1-1 ovs-vsctl --timeout=30 add-br br0 -- set bridge br0 datapath_type=system fail_mode=secure protocols=OpenFlow10,OpenFlow11,OpenFlow12,OpenFlow13,OpenFlow14,OpenFlow15 other_config:datapath-id=0000000000000008 -- add-port br0 eth0 -- set interface eth0 ofport_request=1 -- add-port br0 eth1 -- set interface eth1 ofport_request=2 -- add-port br0 eth2 -- set interface eth2 ofport_request=3 -- add-port br0 eth3 -- set interface eth3 ofport_request=4 -- set-controller br0 tcp:198.18.0.1:6653 -- set controller br0 connection_mode=out-of-band max_backoff=1000
ip netns exec tb-edge-2-0 env OVS_RUNDIR=/run/tb-ovs/edge-2-0 ovs-vswitchd --detach --no-chdir --pidfile --log-file=/run/tb-ovs/edge-2-0/ovs-vswitchd.log -vconsole:off -vsyslog:off
ip netns exec tb-edge-2-0 env OVS_RUNDIR=/run/tb-ovs/edge-2-0 ovs-vsctl --timeout=30 add-br br0 -- set bridge br0 datapath_type=system fail_mode=secure protocols=OpenFlow10,OpenFlow11,OpenFlow12,OpenFlow13,OpenFlow14,OpenFlow15 other_config:datapath-id=0000000000000009 -- add-port br0 eth0 -- set interface eth0 ofport_request=1 -- add-port br0 eth1 -- set interface eth1 ofport_request=2 -- add-port br0 eth2 -- set interface eth2 ofport_request=3 -- add-port br0 eth3 -- set interface eth3 ofport_request=4 -- set-controller br0 tcp:198.18.0.1:6653 -- set controller br0 connection_mode=out-of-band max_backoff=1000
ip netns exec tb-edge-2-1 env OVS_RUNDIR=/run/tb-ovs/edge-2-1 ovs-vswitchd --detach --no-chdir --pidfile --log-file=/run/tb-ovs/edge-2-1/ovs-vswitchd.log -vconsole:off -vsyslog:off
ip netns exec tb-edge-2-1 env OVS_RUNDIR=/run/tb-ovs/edge-2-1 ovs-vsctl --timeout=30 add-br br0 -- set bridge br0 datapath_type=system fail_mode=secure protocols=OpenFlow10,OpenFlow11,OpenFlow12,OpenFlow13,OpenFlow14,OpenFlow15 other_config:datapath-id=000000000000000a -- add-port br0 eth0 -- set interface eth0 ofport_request=1 -- add-port br0 eth1 -- set interface eth1 ofport_request=2 -- add-port br0 eth2 -- set interface eth2 ofport_request=3 -- add-port br0 eth3 -- set interface eth3 ofport_request=4 -- set-controller br0 tcp:198.18.0.1:6653 -- set controller br0 connection_mode=out-of-band max_backoff=1000
ip netns exec tb-agg-2-0 env OVS_RUNDIR=/run/tb-ovs/agg-2-0 ovs-vswitchd --detach --no-chdir --pidfile --log-file=/run/tb-ovs/agg-2-0/ovs-vswitchd.log -vconsole:off -vsyslog:off
ip netns exec tb-agg-2-0 env OVS_RUNDIR=/run/tb-ovs/agg-2-0 ovs-vsctl --timeout=30 add-br br0 -- set bridge br0 datapath_type=system fail_mode=secure protocols=OpenFlow10,OpenFlow11,OpenFlow12,OpenFlow13,OpenFlow14,OpenFlow15 other_config:datapath-id=000000000000000b -- add-port br0 eth0 -- set interface eth0 ofport_request=1 -- add-port br0 eth1 -- set interface eth1 ofport_request=2 -- add-port br0 eth2 -- set interface eth2 ofport_request=3 -- add-port br0 eth3 -- set interface eth3 ofport_request=4 -- set-controller br0 tcp:198.18.0.1:6653 -- set controller br0 connection_mode=out-of-band max_backoff=1000
ip netns exec tb-agg-2-1 env OVS_RUNDIR=/run/tb-ovs/agg-2-1 ovs-vswitchd --detach --no-chdir --pidfile --log-file=/run/tb-ovs/agg-2-1/ovs-vswitchd.log -vconsole:off -vsyslog:off
ip netns exec tb-agg-2-1 env OVS_RUNDIR=/run/tb-ovs/agg-2-1 ovs-vsctl --timeout=30 add-br br0 -- set bridge br0 datapath_type=system fail_mode=secure protocols=OpenFlow10,OpenFlow11,OpenFlow12,OpenFlow13,OpenFlow14,OpenFlow15 other_config:datapath-id=000000000000000c -- add-port br0 eth0 -- set interface eth0 ofport_request=1 -- add-port br0 eth1 -- set interface eth1 ofport_request=2 -- add-port br0 eth2 -- set interface eth2 ofport_request=3 -- add-port br0 eth3 -- set interface eth3 ofport_request=4 -- set-controller br0 tcp:198.18.0.1:6653 -- set controller br0 connection_mode=out-of-band max_backoff=1000
ip netns exec tb-edge-3-0 env OVS_RUNDIR=/run/tb-ovs/edge-3-0 ovs-vswitchd --detach --no-chdir --pidfile --log-file=/run/tb-ovs/edge-3-0/ovs-vswitchd.log -vconsole:off -vsyslog:off
ip netns exec tb-edge-3-0 env OVS_RUNDIR=/run/tb-ovs/edge-3-0 ovs-vsctl --timeout=30 add-br br0 -- set bridge br0 datapath_type=system fail_mode=secure protocols=OpenFlow10,OpenFlow11,OpenFlow12,OpenFlow13,OpenFlow14,OpenFlow15 other_config:datapath-id=000000000000000d -- add-port br0 eth0 -- set interface eth0 ofport_request=1 -- add-port br0 eth1 -- set interface eth1 ofport_request=2 -- add-port br0 eth2 -- set interface eth2 ofport_request=3 -- add-port br0 eth3 -- set interface eth3 ofport_request=4 -- set-controller br0 tcp:198.18.0.1:6653 -- set controller br0 connection_mode=out-of-band max_backoff=1000
ip netns exec tb-edge-3-1 env OVS_RUNDIR=/run/tb-ovs/edge-3-1 ovs-vswitchd --detach --no-chdir --pidfile --log-file=/run/tb-ovs/edge-3-1/ovs-vswitchd.log -vconsole:off -vsyslog:off
ip netns exec tb-edge-3-1 env OVS_RUNDIR=/run/tb-ovs/edge-3-1 ovs-vsctl --timeout=30 add-br br0 -- set bridge br0 datapath_type=system fail_mode=secure protocols=OpenFlow10,OpenFlow11,OpenFlow12,OpenFlow13,OpenFlow14,OpenFlow15 other_config:datapath-id=000000000000000e -- add-port br0 eth0 -- set interface eth0 ofport_request=1 -- add-port br0 eth1 -- set interface eth1 ofport_request=2 -- add-port br0 eth2 -- set interface eth2 ofport_request=3 -- add-port br0 eth3 -- set interface eth3 ofport_request=4 -- set-controller br0 tcp:198.18.0.1:6653 -- set controller br0 connection_mode=out-of-band max_backoff=1000
ip netns exec tb-agg-3-0 env OVS_RUNDIR=/run/tb-ovs/agg-3-0 ovs-vswitchd --detach --no-chdir --pidfile --log-file=/run/tb-ovs/agg-3-0/ovs-vswitchd.log -vconsole:off -vsyslog:off
ip netns exec tb-agg-3-0 env OVS_RUNDIR=/run/tb-ovs/agg-3-0 ovs-vsctl --timeout=30 add-br br0 -- set bridge br0 datapath_type=system fail_mode=secure protocols=OpenFlow10,OpenFlow11,OpenFlow12,OpenFlow13,OpenFlow14,OpenFlow15 other_config:datapath-id=000000000000000f -- add-port br0 eth0 -- set interface eth0 ofport_request=1 -- add-port br0 eth1 -- set interface eth1 ofport_request=2 -- add-port br0 eth2 -- set interface eth2 ofport_request=3 -- add-port br0 eth3 -- set interface eth3 ofport_request=4 -- set-controller br0 tcp:198.18.0.1:6653 -- set controller br0 connection_mode=out-of-band max_backoff=1000
ip netns exec tb-agg-3-1 env OVS_RUNDIR=/run/tb-ovs/agg-3-1 ovs-vswitchd --detach --no-chdir --pidfile --log-file=/run/tb-ovs/agg-3-1/ovs-vswitchd.log -vconsole:off -vsyslog:off
ip netns exec tb-agg-3-1 env OVS_RUNDIR=/run/tb-ovs/agg-3-1 ovs-vsctl --timeout=30 add-br br0 -- set bridge br0 datapath_type=system fail_mode=secure protocols=OpenFlow10,OpenFlow11,OpenFlow12,OpenFlow13,OpenFlow14,OpenFlow15 other_config:datapath-id=0000000000000010 -- add-port br0 eth0 -- set interface eth0 ofport_request=1 -- add-port br0 eth1 -- set interface eth1 ofport_request=2 -- add-port br0 eth2 -- set interface eth2 ofport_request=3 -- add-port br0 eth3 -- set interface eth3 ofport_request=4 -- set-controller br0 tcp:198.18.0.1:6653 -- set controller br0 connection_mode=out-of-band max_backoff=1000
ip netns exec tb-core-0 env OVS_RUNDIR=/run/tb-ovs/core-0 ovs-vswitchd --detach --no-chdir --pidfile --log-file=/run/tb-ovs/core-0/ovs-vswitchd.log -vconsole:off -vsyslog:off
ip netns exec tb-core-0 env OVS_RUNDIR=/run/tb-ovs/core-0 ovs-vsctl --timeout=30 add-br br0 -- set bridge br0 datapath_type=system fail_mode=secure protocols=OpenFlow10,OpenFlow11,OpenFlow12,OpenFlow13,OpenFlow14,OpenFlow15 other_config:datapath-id=0000000000000011 -- add-port br0 eth0 -- set interface eth0 ofport_request=1 -- add-port br0 eth1 -- set interface eth1 ofport_request=2 -- add-port br0 eth2 -- set interface eth2 ofport_request=3 -- add-port br0 eth3 -- set interface eth3 ofport_request=4 -- set-controller br0 tcp:198.18.0.1:6653 -- set controller br0 connection_mode=out-of-band max_backoff=1000
ip netns exec tb-core-1 env OVS_RUNDIR=/run/tb-ovs/core-1 ovs-vswitchd --detach --no-chdir --pidfile --log-file=/run/tb-ovs/core-1/ovs-vswitchd.log -vconsole:off -vsyslog:off
ip netns exec tb-core-1 env OVS_RUNDIR=/run/tb-ovs/core-1 ovs-vsctl --timeout=30 add-br br0 -- set bridge br0 datapath_type=system fail_mode=secure protocols=OpenFlow10,OpenFlow11,OpenFlow12,OpenFlow13,OpenFlow14,OpenFlow15 other_config:datapath-id=0000000000000012 -- add-port br0 eth0 -- set interface eth0 ofport_request=1 -- add-port br0 eth1 -- set interface eth1 ofport_request=2 -- add-port br0 eth2 -- set interface eth2 ofport_request=3 -- add-port br0 eth3 -- set interface eth3 ofport_request=4 -- set-controller br0 tcp:198.18.0.1:6653 -- set controller br0 connection_mode=out-of-band max_backoff=1000
ip netns exec tb-core-2 env OVS_RUNDIR=/run/tb-ovs/core-2 ovs-vswitchd --detach --no-chdir --pidfile --log-file=/run/tb-ovs/core-2/ovs-vswitchd.log -vconsole:off -vsyslog:off
ip netns exec tb-core-2 env OVS_RUNDIR=/run/tb-ovs/core-2 ovs-vsctl --timeout=30 add-br br0 -- set bridge br0 datapath_type=system fail_mode=secure protocols=OpenFlow10,OpenFlow11,OpenFlow12,OpenFlow13,OpenFlow14,OpenFlow15 other_config:datapath-id=0000000000000013 -- add-port br0 eth0 -- set interface eth0 ofport_request=1 -- add-port br0 eth1 -- set interface eth1 ofport_request=2 -- add-port br0 eth2 -- set interface eth2 ofport_request=3 -- add-port br0 eth3 -- set interface eth3 ofport_request=4 -- set-controller br0 tcp:198.18.0.1:6653 -- set controller br0 connection_mode=out-of-band max_backoff=1000
ip netns exec tb-core-3 env OVS_RUNDIR=/run/tb-ovs/core-3 ovs-vswitchd --detach --no-chdir --pidfile --log-file=/run/tb-ovs/core-3/ovs-vswitchd.log -vconsole:off -vsyslog:off
ip netns exec tb-core-3 env OVS_RUNDIR=/run/tb-ovs/core-3 ovs-vsctl --timeout=30 add-br br0 -- set bridge br0 datapath_type=system fail_mode=secure protocols=OpenFlow10,OpenFlow11,OpenFlow12,OpenFlow13,OpenFlow14,OpenFlow15 other_config:datapath-id=0000000000000014 -- add-port br0 eth0 -- set interface eth0 ofport_request=1 -- add-port br0 eth1 -- set interface eth1 ofport_request=2 -- add-port br0 eth2 -- set interface eth2 ofport_request=3 -- add-port br0 eth3 -- set interface eth3 ofport_request=4 -- set-controller br0 tcp:198.18.0.1:6653 -- set controller br0 connection_mode=out-of-band max_backoff=1000
ip netns exec tb-edge-0-0 env OVS_RUNDIR=/run/tb-ovs/edge-0-0 ovs-vsctl --timeout=30 wait-until controller br0 is_connected=true
ip netns exec tb-edge-0-1 env OVS_RUNDIR=/run/tb-ovs/edge-0-1 ovs-vsctl --timeout=30 wait-until controller br0 is_connected=true
ip netns exec tb-agg-0-0 env OVS_RUNDIR=/run/tb-ovs/agg-0-0 ovs-vsctl --timeout=30 wait-until controller br0 is_connected=true
ip netns exec tb-agg-0-1 env OVS_RUNDIR=/run/tb-ovs/agg-0-1 ovs-vsctl --timeout=30 wait-until controller br0 is_connected=true
ip netns exec tb-edge-1-0 env OVS_RUNDIR=/run/tb-ovs/edge-1-0 ovs-vsctl --timeout=30 wait-until controller br0 is_connected=true
ip netns exec tb-edge-1-1 env OVS_RUNDIR=/run/tb-ovs/edge-1-1 ovs-vsctl --timeout=30 wait-until controller br0 is_connected=true
ip netns exec tb-agg-1-0 env OVS_RUNDIR=/run/tb-ovs/agg-1-0 ovs-vsctl --timeout=30 wait-until controller br0 is_connected=true
ip netns exec tb-agg-1-1 env OVS_RUNDIR=/run/tb-ovs/agg-1-1 ovs-vsctl --timeout=30 wait-until controller br0 is_connected=true
ip netns exec tb-edge-2-0 env OVS_RUNDIR=/run/tb-ovs/edge-2-0 ovs-vsctl --timeout=30 wait-until controller br0 is_connected=true
ip netns exec tb-edge-2-1 env OVS_RUNDIR=/run/tb-ovs/edge-2-1 ovs-vsctl --timeout=30 wait-until controller br0 is_connected=true
ip netns exec tb-agg-2-0 env OVS_RUNDIR=/run/tb-ovs/agg-2-0 ovs-vsctl --timeout=30 wait-until controller br0 is_connected=true
ip netns exec tb-agg-2-1 env OVS_RUNDIR=/run/tb-ovs/agg-2-1 ovs-vsctl --timeout=30 wait-until controller br0 is_connected=true
ip netns exec tb-edge-3-0 env OVS_RUNDIR=/run/tb-ovs/edge-3-0 ovs-vsctl --timeout=30 wait-until controller br0 is_connected=true
ip netns exec tb-edge-3-1 env OVS_RUNDIR=/run/tb-ovs/edge-3-1 ovs-vsctl --timeout=30 wait-until controller br0 is_connected=true
ip netns exec tb-agg-3-0 env OVS_RUNDIR=/run/tb-ovs/agg-3-0 ovs-vsctl --timeout=30 wait-until controller br0 is_connected=true
ip netns exec tb-agg-3-1 env OVS_RUNDIR=/run/tb-ovs/agg-3-1 ovs-vsctl --timeout=30 wait-until controller br0 is_connected=true
ip netns exec tb-core-0 env OVS_RUNDIR=/run/tb-ovs/core-0 ovs-vsctl --timeout=30 wait-until controller br0 is_connected=true
ip netns exec tb-core-1 env OVS_RUNDIR=/run/tb-ovs/core-1 ovs-vsctl --timeout=30 wait-until controller br0 is_connected=true
ip netns exec tb-core-2 env OVS_RUNDIR=/run/tb-ovs/core-2 ovs-vsctl --timeout=30 wait-until controller br0 is_connected=true
ip netns exec tb-core-3 env OVS_RUNDIR=/run/tb-ovs/core-3 ovs-vsctl --timeout=30 wait-until controller br0 is_connected=true

# To take it down:
#   ip netns exec tb-core-3 env OVS_RUNDIR=/run/tb-ovs/core-3 ovs-appctl -t ovs-vswitchd exit --cleanup
#   ip netns exec tb-core-2 env OVS_RUNDIR=/run/tb-ovs/core-2 ovs-appctl -t ovs-vswitchd exit --cleanup
#   ip netns exec tb-core-1 env OVS_RUNDIR=/run/tb-ovs/core-1 ovs-appctl -t ovs-vswitchd exit --cleanup
#   ip netns exec tb-core-0 env OVS_RUNDIR=/run/tb-ovs/core-0 ovs-appctl -t ovs-vswitchd exit --cleanup
#   ip netns exec tb-agg-3-1 env OVS_RUNDIR=/run/tb-ovs/agg-3-1 ovs-appctl -t ovs-vswitchd exit --cleanup
#   ip netns exec tb-agg-3-0 env OVS_RUNDIR=/run/tb-ovs/agg-3-0 ovs-appctl -t ovs-vswitchd exit --cleanup
#   ip netns exec tb-edge-3-1 env OVS_RUNDIR=/run/tb-ovs/edge-3-1 ovs-appctl -t ovs-vswitchd exit --cleanup
#   ip netns exec tb-edge-3-0 env OVS_RUNDIR=/run/tb-ovs/edge-3-0 ovs-appctl -t ovs-vswitchd exit --cleanup
#   ip netns exec tb-agg-2-1 env OVS_RUNDIR=/run/tb-ovs/agg-2-1 ovs-appctl -t ovs-vswitchd exit --cleanup
#   ip netns exec tb-agg-2-0 env OVS_RUNDIR=/run/tb-ovs/agg-2-0 ovs-appctl -t ovs-vswitchd exit --cleanup
#   ip netns exec tb-edge-2-1 env OVS_RUNDIR=/run/tb-ovs/edge-2-1 ovs-appctl -t ovs-vswitchd exit --cleanup
#   ip netns exec tb-edge-2-0 env OVS_RUNDIR=/run/tb-ovs/edge-2-0 ovs-appctl -t ovs-vswitchd exit --cleanup
#   ip netns exec tb-agg-1-1 env OVS_RUNDIR=/run/tb-ovs/agg-1-1 ovs-appctl -t ovs-vswitchd exit --cleanup
#   ip netns exec tb-agg-1-0 env OVS_RUNDIR=/run/tb-ovs/agg-1-0 ovs-appctl -t ovs-vswitchd exit --cleanup
#   ip netns exec tb-edge-1-1 env OVS_RUNDIR=/run/tb-ovs/edge-1-1 ovs-appctl -t ovs-vswitchd exit --cleanup
#   ip netns exec tb-edge-1-0 env OVS_RUNDIR=/run/tb-ovs/edge-1-0 ovs-appctl -t ovs-vswitchd exit --cleanup
#   ip netns exec tb-agg-0-1 env OVS_RUNDIR=/run/tb-ovs/agg-0-1 ovs-appctl -t ovs-vswitchd exit --cleanup
#   ip netns exec tb-agg-0-0 env OVS_RUNDIR=/run/tb-ovs/agg-0-0 ovs-appctl -t ovs-vswitchd exit --cleanup
#   ip netns exec tb-edge-0-1 env OVS_RUNDIR=/run/tb-ovs/edge-0-1 ovs-appctl -t ovs-vswitchd exit --cleanup
#   ip netns exec tb-edge-0-0 env OVS_RUNDIR=/run/tb-ovs/edge-0-0 ovs-appctl -t ovs-vswitchd exit --cleanup
#   ip netns exec tb-c0 sh -c 'kill -TERM "$(cat /run/tb-ovs/c0/pid)"'
#   rm -r /run/tb-ovs/c0
#   ip netns exec tb-core-3 env OVS_RUNDIR=/run/tb-ovs/core-3 ovs-appctl -t ovsdb-server exit
#   rm -r /run/tb-ovs/core-3
#   ip netns exec tb-core-2 env OVS_RUNDIR=/run/tb-ovs/core-2 ovs-appctl -t ovsdb-server exit
#   rm -r /run/tb-ovs/core-2
#   ip netns exec tb-core-1 env OVS_RUNDIR=/run/tb-ovs/core-1 ovs-appctl -t ovsdb-server exit
#   rm -r /run/tb-ovs/core-1
#   ip netns exec tb-core-0 env OVS_RUNDIR=/run/tb-ovs/core-0 ovs-appctl -t ovsdb-server exit
#   rm -r /run/tb-ovs/core-0
#   ip netns exec tb-agg-3-1 env OVS_RUNDIR=/run/tb-ovs/agg-3-1 ovs-appctl -t ovsdb-server exit
#   rm -r /run/tb-ovs/agg-3-1
#   ip netns exec tb-agg-3-0 env OVS_RUNDIR=/run/tb-ovs/agg-3-0 ovs-appctl -t ovsdb-server exit
#   rm -r /run/tb-ovs/agg-3-0
#   ip netns exec tb-edge-3-1 env OVS_RUNDIR=/run/tb-ovs/edge-3-1 ovs-appctl -t ovsdb-server exit
#   rm -r /run/tb-ovs/edge-3-1
#   ip netns exec tb-edge-3-0 env OVS_RUNDIR=/run/tb-ovs/edge-3-0 ovs-appctl -t ovsdb-server exit
#   rm -r /run/tb-ovs/edge-3-0
#   ip netns exec tb-agg-2-1 env OVS_RUNDIR=/run/tb-ovs/agg-2-1 ovs-appctl -t ovsdb-server exit
#   rm -r /run/tb-ovs/agg-2-1
#   ip netns exec tb-agg-2-0 env OVS_RUNDIR=/run/tb-ovs/agg-2-0 ovs-appctl -t ovsdb-server exit
#   rm -r /run/tb-ovs/agg-2-0
#   ip netns exec tb-edge-2-1 env OVS_RUNDIR=/run/tb-ovs/edge-2-1 ovs-appctl -t ovsdb-server exit
#   rm -r /run/tb-ovs/edge-2-1
#   ip netns exec tb-edge-2-0 env OVS_RUNDIR=/run/tb-ovs/edge-2-0 ovs-appctl -t ovsdb-server exit
#   rm -r /run/tb-ovs/edge-2-0
#   ip netns exec tb-agg-1-1 env OVS_RUNDIR=/run/tb-ovs/agg-1-1 ovs-appctl -t ovsdb-server exit
#   rm -r /run/tb-ovs/agg-1-1
#   ip netns exec tb-agg-1-0 env OVS_RUNDIR=/run/tb-ovs/agg-1-0 ovs-appctl -t ovsdb-server exit
#   rm -r /run/tb-ovs/agg-1-0
#   ip netns exec tb-edge-1-1 env OVS_RUNDIR=/run/tb-ovs/edge-1-1 ovs-appctl -t ovsdb-server exit
#   rm -r /run/tb-ovs/edge-1-1
#   ip netns exec tb-edge-1-0 env OVS_RUNDIR=/run/tb-ovs/edge-1-0 ovs-appctl -t ovsdb-server exit
#   rm -r /run/tb-ovs/edge-1-0
#   ip netns exec tb-agg-0-1 env OVS_RUNDIR=/run/tb-ovs/agg-0-1 ovs-appctl -t ovsdb-server exit
#   rm -r /run/tb-ovs/agg-0-1
#   ip netns exec tb-agg-0-0 env OVS_RUNDIR=/run/tb-ovs/agg-0-0 ovs-appctl -t ovsdb-server exit
#   rm -r /run/tb-ovs/agg-0-0
#   ip netns exec tb-edge-0-1 env OVS_RUNDIR=/run/tb-ovs/edge-0-1 ovs-appctl -t ovsdb-server exit
#   rm -r /run/tb-ovs/edge-0-1
#   ip netns exec tb-edge-0-0 env OVS_RUNDIR=/run/tb-ovs/edge-0-0 ovs-appctl -t ovsdb-server exit
#   rm -r /run/tb-ovs/edge-0-0
#   ip netns exec tb-c0.control.emulator nft 'delete table netdev testbed'
#   tc -n tb-c0.control.emulator qdisc del dev wire1 root
#   tc -n tb-c0.control.emulator qdisc del dev wire0 root
#   ip netns exec tb-up-3-1-1.emulator nft 'delete table netdev testbed'
#   tc -n tb-up-3-1-1.emulator qdisc del dev end0 root
#   tc -n tb-up-3-1-1.emulator qdisc del dev wire1 root
#   tc -n tb-up-3-1-1.emulator qdisc del dev end1 root
#   tc -n tb-up-3-1-1.emulator qdisc del dev wire0 root
#   ip netns exec tb-up-3-1-0.emulator nft 'delete table netdev testbed'
#   tc -n tb-up-3-1-0.emulator qdisc del dev end0 root
#   tc -n tb-up-3-1-0.emulator qdisc del dev wire1 root
#   tc -n tb-up-3-1-0.emulator qdisc del dev end1 root
#   tc -n tb-up-3-1-0.emulator qdisc del dev wire0 root
#   ip netns exec tb-up-3-0-1.emulator nft 'delete table netdev testbed'
#   tc -n tb-up-3-0-1.emulator qdisc del dev end0 root
#   tc -n tb-up-3-0-1.emulator qdisc del dev wire1 root
#   tc -n tb-up-3-0-1.emulator qdisc del dev end1 root
#   tc -n tb-up-3-0-1.emulator qdisc del dev wire0 root
#   ip netns exec tb-up-3-0-0.emulator nft 'delete table netdev testbed'
#   tc -n tb-up-3-0-0.emulator qdisc del dev end0 root
#   tc -n tb-up-3-0-0.emulator qdisc del dev wire1 root
#   tc -n tb-up-3-0-0.emulator qdisc del dev end1 root
#   tc -n tb-up-3-0-0.emulator qdisc del dev wire0 root
#   ip netns exec tb-up-2-1-1.emulator nft 'delete table netdev testbed'
#   tc -n tb-up-2-1-1.emulator qdisc del dev end0 root
#   tc -n tb-up-2-1-1.emulator qdisc del dev wire1 root
#   tc -n tb-up-2-1-1.emulator qdisc del dev end1 root
#   tc -n tb-up-2-1-1.emulator qdisc del dev wire0 root
#   ip netns exec tb-up-2-1-0.emulator nft 'delete table netdev testbed'
#   tc -n tb-up-2-1-0.emulator qdisc del dev end0 root
#   tc -n tb-up-2-1-0.emulator qdisc del dev wire1 root
#   tc -n tb-up-2-1-0.emulator qdisc del dev end1 root
#   tc -n tb-up-2-1-0.emulator qdisc del dev wire0 root
#   ip netns exec tb-up-2-0-1.emulator nft 'delete table netdev testbed'
#   tc -n tb-up-2-0-1.emulator qdisc del dev end0 root
#   tc -n tb-up-2-0-1.emulator qdisc del dev wire1 root
#   tc -n tb-up-2-0-1.emulator qdisc del dev end1 root
#   tc -n tb-up-2-0-1.emulator qdisc del dev wire0 root
#   ip netns exec tb-up-2-0-0.emulator nft 'delete table netdev testbed'
#   tc -n tb-up-2-0-0.emulator qdisc del dev end0 root
#   tc -n tb-up-2-0-0.emulator qdisc del dev wire1 root
#   tc -n tb-up-2-0-0.emulator qdisc del dev end1 root
#   tc -n tb-up-2-0-0.emulator qdisc del dev wire0 root
#   ip netns exec tb-up-1-1-1.emulator nft 'delete table netdev testbed'
#   tc -n tb-up-1-1-1.emulator qdisc del dev end0 root
#   tc -n tb-up-1-1-1.emulator qdisc del dev wire1 root
#   tc -n tb-up-1-1-1.emulator qdisc del dev end1 root
#   tc -n tb-up-1-1-1.emulator qdisc del dev wire0 root
#   ip netns exec tb-up-1-1-0.emulator nft 'delete table netdev testbed'
#   tc -n tb-up-1-1-0.emulator qdisc del dev end0 root
#   tc -n tb-up-1-1-0.emulator qdisc del dev wire1 root
#   tc -n tb-up-1-1-0.emulator qdisc del dev end1 root
#   tc -n tb-up-1-1-0.emulator qdisc del dev wire0 root
#   ip netns exec tb-up-1-0-1.emulator nft 'delete table netdev testbed'
#   tc -n tb-up-1-0-1.emulator qdisc del dev end0 root
#   tc -n tb-up-1-0-1.emulator qdisc del dev wire1 root
#   tc -n tb-up-1-0-1.emulator qdisc del dev end1 root
#   tc -n tb-up-1-0-1.emulator qdisc del dev wire0 root
#   ip netns exec tb-up-1-0-0.emulator nft 'delete table netdev testbed'
#   tc -n tb-up-1-0-0.emulator qdisc del dev end0 root
#   tc -n tb-up-1-0-0.emulator qdisc del dev wire1 root
#   tc -n tb-up-1-0-0.emulator qdisc del dev end1 root
#   tc -n tb-up-1-0-0.emulator qdisc del dev wire0 root
#   ip netns exec tb-up-0-1-1.emulator nft 'delete table netdev testbed'
#   tc -n tb-up-0-1-1.emulator qdisc del dev end0 root
#   tc -n tb-up-0-1-1.emulator qdisc del dev wire1 root
#   tc -n tb-up-0-1-1.emulator qdisc del dev end1 root
#   tc -n tb-up-0-1-1.emulator qdisc del dev wire0 root
#   ip netns exec tb-up-0-1-0.emulator nft 'delete table netdev testbed'
#   tc -n tb-up-0-1-0.emulator qdisc del dev end0 root
#   tc -n tb-up-0-1-0.emulator qdisc del dev wire1 root
#   tc -n tb-up-0-1-0.emulator qdisc del dev end1 root
#   tc -n tb-up-0-1-0.emulator qdisc del dev wire0 root
#   ip netns exec tb-up-0-0-1.emulator nft 'delete table netdev testbed'
#   tc -n tb-up-0-0-1.emulator qdisc del dev end0 root
#   tc -n tb-up-0-0-1.emulator qdisc del dev wire1 root
#   tc -n tb-up-0-0-1.emulator qdisc del dev end1 root
#   tc -n tb-up-0-0-1.emulator qdisc del dev wire0 root
#   ip netns exec tb-up-0-0-0.emulator nft 'delete table netdev testbed'
#   tc -n tb-up-0-0-0.emulator qdisc del dev end0 root
#   tc -n tb-up-0-0-0.emulator qdisc del dev wire1 root
#   tc -n tb-up-0-0-0.emulator qdisc del dev end1 root
#   tc -n tb-up-0-0-0.emulator qdisc del dev wire0 root
#   ip netns exec tb-pod-3-1-1.emulator nft 'delete table netdev testbed'
#   tc -n tb-pod-3-1-1.emulator qdisc del dev end0 root
#   tc -n tb-pod-3-1-1.emulator qdisc del dev wire1 root
#   tc -n tb-pod-3-1-1.emulator qdisc del dev end1 root
#   tc -n tb-pod-3-1-1.emulator qdisc del dev wire0 root
#   ip netns exec tb-pod-3-1-0.emulator nft 'delete table netdev testbed'
#   tc -n tb-pod-3-1-0.emulator qdisc del dev end0 root
#   tc -n tb-pod-3-1-0.emulator qdisc del dev wire1 root
#   tc -n tb-pod-3-1-0.emulator qdisc del dev end1 root
#   tc -n tb-pod-3-1-0.emulator qdisc del dev wire0 root
#   ip netns exec tb-pod-3-0-1.emulator nft 'delete table netdev testbed'
#   tc -n tb-pod-3-0-1.emulator qdisc del dev end0 root
#   tc -n tb-pod-3-0-1.emulator qdisc del dev wire1 root
#   tc -n tb-pod-3-0-1.emulator qdisc del dev end1 root
#   tc -n tb-pod-3-0-1.emulator qdisc del dev wire0 root
#   ip netns exec tb-pod-3-0-0.emulator nft 'delete table netdev testbed'
#   tc -n tb-pod-3-0-0.emulator qdisc del dev end0 root
#   tc -n tb-pod-3-0-0.emulator qdisc del dev wire1 root
#   tc -n tb-pod-3-0-0.emulator qdisc del dev end1 root
#   tc -n tb-pod-3-0-0.emulator qdisc del dev wire0 root
#   ip netns exec tb-pod-2-1-1.emulator nft 'delete table netdev testbed'
#   tc -n tb-pod-2-1-1.emulator qdisc del dev end0 root
#   tc -n tb-pod-2-1-1.emulator qdisc del dev wire1 root
#   tc -n tb-pod-2-1-1.emulator qdisc del dev end1 root
#   tc -n tb-pod-2-1-1.emulator qdisc del dev wire0 root
#   ip netns exec tb-pod-2-1-0.emulator nft 'delete table netdev testbed'
#   tc -n tb-pod-2-1-0.emulator qdisc del dev end0 root
#   tc -n tb-pod-2-1-0.emulator qdisc del dev wire1 root
#   tc -n tb-pod-2-1-0.emulator qdisc del dev end1 root
#   tc -n tb-pod-2-1-0.emulator qdisc del dev wire0 root
#   ip netns exec tb-pod-2-0-1.emulator nft 'delete table netdev testbed'
#   tc -n tb-pod-2-0-1.emulator qdisc del dev end0 root
#   tc -n tb-pod-2-0-1.emulator qdisc del dev wire1 root
#   tc -n tb-pod-2-0-1.emulator qdisc del dev end1 root
#   tc -n tb-pod-2-0-1.emulator qdisc del dev wire0 root
#   ip netns exec tb-pod-2-0-0.emulator nft 'delete table netdev testbed'
#   tc -n tb-pod-2-0-0.emulator qdisc del dev end0 root
#   tc -n tb-pod-2-0-0.emulator qdisc del dev wire1 root
#   tc -n tb-pod-2-0-0.emulator qdisc del dev end1 root
#   tc -n tb-pod-2-0-0.emulator qdisc del dev wire0 root
#   ip netns exec tb-pod-1-1-1.emulator nft 'delete table netdev testbed'
#   tc -n tb-pod-1-1-1.emulator qdisc del dev end0 root
#   tc -n tb-pod-1-1-1.emulator qdisc del dev wire1 root
#   tc -n tb-pod-1-1-1.emulator qdisc del dev end1 root
#   tc -n tb-pod-1-1-1.emulator qdisc del dev wire0 root
#   ip netns exec tb-pod-1-1-0.emulator nft 'delete table netdev testbed'
#   tc -n tb-pod-1-1-0.emulator qdisc del dev end0 root
#   tc -n tb-pod-1-1-0.emulator qdisc del dev wire1 root
#   tc -n tb-pod-1-1-0.emulator qdisc del dev end1 root
#   tc -n tb-pod-1-1-0.emulator qdisc del dev wire0 root
#   ip netns exec tb-pod-1-0-1.emulator nft 'delete table netdev testbed'
#   tc -n tb-pod-1-0-1.emulator qdisc del dev end0 root
#   tc -n tb-pod-1-0-1.emulator qdisc del dev wire1 root
#   tc -n tb-pod-1-0-1.emulator qdisc del dev end1 root
#   tc -n tb-pod-1-0-1.emulator qdisc del dev wire0 root
#   ip netns exec tb-pod-1-0-0.emulator nft 'delete table netdev testbed'
#   tc -n tb-pod-1-0-0.emulator qdisc del dev end0 root
#   tc -n tb-pod-1-0-0.emulator qdisc del dev wire1 root
#   tc -n tb-pod-1-0-0.emulator qdisc del dev end1 root
#   tc -n tb-pod-1-0-0.emulator qdisc del dev wire0 root
#   ip netns exec tb-pod-0-1-1.emulator nft 'delete table netdev testbed'
#   tc -n tb-pod-0-1-1.emulator qdisc del dev end0 root
#   tc -n tb-pod-0-1-1.emulator qdisc del dev wire1 root
#   tc -n tb-pod-0-1-1.emulator qdisc del dev end1 root
#   tc -n tb-pod-0-1-1.emulator qdisc del dev wire0 root
#   ip netns exec tb-pod-0-1-0.emulator nft 'delete table netdev testbed'
#   tc -n tb-pod-0-1-0.emulator qdisc del dev end0 root
#   tc -n tb-pod-0-1-0.emulator qdisc del dev wire1 root
#   tc -n tb-pod-0-1-0.emulator qdisc del dev end1 root
#   tc -n tb-pod-0-1-0.emulator qdisc del dev wire0 root
#   ip netns exec tb-pod-0-0-1.emulator nft 'delete table netdev testbed'
#   tc -n tb-pod-0-0-1.emulator qdisc del dev end0 root
#   tc -n tb-pod-0-0-1.emulator qdisc del dev wire1 root
#   tc -n tb-pod-0-0-1.emulator qdisc del dev end1 root
#   tc -n tb-pod-0-0-1.emulator qdisc del dev wire0 root
#   ip netns exec tb-pod-0-0-0.emulator nft 'delete table netdev testbed'
#   tc -n tb-pod-0-0-0.emulator qdisc del dev end0 root
#   tc -n tb-pod-0-0-0.emulator qdisc del dev wire1 root
#   tc -n tb-pod-0-0-0.emulator qdisc del dev end1 root
#   tc -n tb-pod-0-0-0.emulator qdisc del dev wire0 root
#   ip netns exec tb-port-3-3.emulator nft 'delete table netdev testbed'
#   tc -n tb-port-3-3.emulator qdisc del dev end0 root
#   tc -n tb-port-3-3.emulator qdisc del dev wire1 root
#   tc -n tb-port-3-3.emulator qdisc del dev end1 root
#   tc -n tb-port-3-3.emulator qdisc del dev wire0 root
#   ip netns exec tb-port-3-2.emulator nft 'delete table netdev testbed'
#   tc -n tb-port-3-2.emulator qdisc del dev end0 root
#   tc -n tb-port-3-2.emulator qdisc del dev wire1 root
#   tc -n tb-port-3-2.emulator qdisc del dev end1 root
#   tc -n tb-port-3-2.emulator qdisc del dev wire0 root
#   ip netns exec tb-port-3-1.emulator nft 'delete table netdev testbed'
#   tc -n tb-port-3-1.emulator qdisc del dev end0 root
#   tc -n tb-port-3-1.emulator qdisc del dev wire1 root
#   tc -n tb-port-3-1.emulator qdisc del dev end1 root
#   tc -n tb-port-3-1.emulator qdisc del dev wire0 root
#   ip netns exec tb-port-3-0.emulator nft 'delete table netdev testbed'
#   tc -n tb-port-3-0.emulator qdisc del dev end0 root
#   tc -n tb-port-3-0.emulator qdisc del dev wire1 root
#   tc -n tb-port-3-0.emulator qdisc del dev end1 root
#   tc -n tb-port-3-0.emulator qdisc del dev wire0 root
#   ip netns exec tb-port-2-3.emulator nft 'delete table netdev testbed'
#   tc -n tb-port-2-3.emulator qdisc del dev end0 root
#   tc -n tb-port-2-3.emulator qdisc del dev wire1 root
#   tc -n tb-port-2-3.emulator qdisc del dev end1 root
#   tc -n tb-port-2-3.emulator qdisc del dev wire0 root
#   ip netns exec tb-port-2-2.emulator nft 'delete table netdev testbed'
#   tc -n tb-port-2-2.emulator qdisc del dev end0 root
#   tc -n tb-port-2-2.emulator qdisc del dev wire1 root
#   tc -n tb-port-2-2.emulator qdisc del dev end1 root
#   tc -n tb-port-2-2.emulator qdisc del dev wire0 root
#   ip netns exec tb-port-2-1.emulator nft 'delete table netdev testbed'
#   tc -n tb-port-2-1.emulator qdisc del dev end0 root
#   tc -n tb-port-2-1.emulator qdisc del dev wire1 root
#   tc -n tb-port-2-1.emulator qdisc del dev end1 root
#   tc -n tb-port-2-1.emulator qdisc del dev wire0 root
#   ip netns exec tb-port-2-0.emulator nft 'delete table netdev testbed'
#   tc -n tb-port-2-0.emulator qdisc del dev end0 root
#   tc -n tb-port-2-0.emulator qdisc del dev wire1 root
#   tc -n tb-port-2-0.emulator qdisc del dev end1 root
#   tc -n tb-port-2-0.emulator qdisc del dev wire0 root
#   ip netns exec tb-port-1-3.emulator nft 'delete table netdev testbed'
#   tc -n tb-port-1-3.emulator qdisc del dev end0 root
#   tc -n tb-port-1-3.emulator qdisc del dev wire1 root
#   tc -n tb-port-1-3.emulator qdisc del dev end1 root
#   tc -n tb-port-1-3.emulator qdisc del dev wire0 root
#   ip netns exec tb-port-1-2.emulator nft 'delete table netdev testbed'
#   tc -n tb-port-1-2.emulator qdisc del dev end0 root
#   tc -n tb-port-1-2.emulator qdisc del dev wire1 root
#   tc -n tb-port-1-2.emulator qdisc del dev end1 root
#   tc -n tb-port-1-2.emulator qdisc del dev wire0 root
#   ip netns exec tb-port-1-1.emulator nft 'delete table netdev testbed'
#   tc -n tb-port-1-1.emulator qdisc del dev end0 root
#   tc -n tb-port-1-1.emulator qdisc del dev wire1 root
#   tc -n tb-port-1-1.emulator qdisc del dev end1 root
#   tc -n tb-port-1-1.emulator qdisc del dev wire0 root
#   ip netns exec tb-port-1-0.emulator nft 'delete table netdev testbed'
#   tc -n tb-port-1-0.emulator qdisc del dev end0 root
#   tc -n tb-port-1-0.emulator qdisc del dev wire1 root
#   tc -n tb-port-1-0.emulator qdisc del dev end1 root
#   tc -n tb-port-1-0.emulator qdisc del dev wire0 root
#   ip netns exec tb-port-0-3.emulator nft 'delete table netdev testbed'
#   tc -n tb-port-0-3.emulator qdisc del dev end0 root
#   tc -n tb-port-0-3.emulator qdisc del dev wire1 root
#   tc -n tb-port-0-3.emulator qdisc del dev end1 root
#   tc -n tb-port-0-3.emulator qdisc del dev wire0 root
#   ip netns exec tb-port-0-2.emulator nft 'delete table netdev testbed'
#   tc -n tb-port-0-2.emulator qdisc del dev end0 root
#   tc -n tb-port-0-2.emulator qdisc del dev wire1 root
#   tc -n tb-port-0-2.emulator qdisc del dev end1 root
#   tc -n tb-port-0-2.emulator qdisc del dev wire0 root
#   ip netns exec tb-port-0-1.emulator nft 'delete table netdev testbed'
#   tc -n tb-port-0-1.emulator qdisc del dev end0 root
#   tc -n tb-port-0-1.emulator qdisc del dev wire1 root
#   tc -n tb-port-0-1.emulator qdisc del dev end1 root
#   tc -n tb-port-0-1.emulator qdisc del dev wire0 root
#   ip netns exec tb-port-0-0.emulator nft 'delete table netdev testbed'
#   tc -n tb-port-0-0.emulator qdisc del dev end0 root
#   tc -n tb-port-0-0.emulator qdisc del dev wire1 root
#   tc -n tb-port-0-0.emulator qdisc del dev end1 root
#   tc -n tb-port-0-0.emulator qdisc del dev wire0 root
#   ip netns del tb-c0.control
#   ip netns del tb-c0.control.emulator
#   ip netns del tb-up-3-1-1.emulator
#   ip netns del tb-up-3-1-0.emulator
#   ip netns del tb-up-3-0-1.emulator
#   ip netns del tb-up-3-0-0.emulator
#   ip netns del tb-up-2-1-1.emulator
#   ip netns del tb-up-2-1-0.emulator
#   ip netns del tb-up-2-0-1.emulator
#   ip netns del tb-up-2-0-0.emulator
#   ip netns del tb-up-1-1-1.emulator
#   ip netns del tb-up-1-1-0.emulator
#   ip netns del tb-up-1-0-1.emulator
#   ip netns del tb-up-1-0-0.emulator
#   ip netns del tb-up-0-1-1.emulator
#   ip netns del tb-up-0-1-0.emulator
#   ip netns del tb-up-0-0-1.emulator
#   ip netns del tb-up-0-0-0.emulator
#   ip netns del tb-pod-3-1-1.emulator
#   ip netns del tb-pod-3-1-0.emulator
#   ip netns del tb-pod-3-0-1.emulator
#   ip netns del tb-pod-3-0-0.emulator
#   ip netns del tb-pod-2-1-1.emulator
#   ip netns del tb-pod-2-1-0.emulator
#   ip netns del tb-pod-2-0-1.emulator
#   ip netns del tb-pod-2-0-0.emulator
#   ip netns del tb-pod-1-1-1.emulator
#   ip netns del tb-pod-1-1-0.emulator
#   ip netns del tb-pod-1-0-1.emulator
#   ip netns del tb-pod-1-0-0.emulator
#   ip netns del tb-pod-0-1-1.emulator
#   ip netns del tb-pod-0-1-0.emulator
#   ip netns del tb-pod-0-0-1.emulator
#   ip netns del tb-pod-0-0-0.emulator
#   ip netns del tb-port-3-3.emulator
#   ip netns del tb-port-3-2.emulator
#   ip netns del tb-port-3-1.emulator
#   ip netns del tb-port-3-0.emulator
#   ip netns del tb-port-2-3.emulator
#   ip netns del tb-port-2-2.emulator
#   ip netns del tb-port-2-1.emulator
#   ip netns del tb-port-2-0.emulator
#   ip netns del tb-port-1-3.emulator
#   ip netns del tb-port-1-2.emulator
#   ip netns del tb-port-1-1.emulator
#   ip netns del tb-port-1-0.emulator
#   ip netns del tb-port-0-3.emulator
#   ip netns del tb-port-0-2.emulator
#   ip netns del tb-port-0-1.emulator
#   ip netns del tb-port-0-0.emulator
#   ip netns del tb-c0
#   ip netns del tb-core-3
#   ip netns del tb-core-2
#   ip netns del tb-core-1
#   ip netns del tb-core-0
#   ip netns del tb-agg-3-1
#   ip netns del tb-agg-3-0
#   ip netns del tb-edge-3-1
#   ip netns del tb-edge-3-0
#   ip netns del tb-agg-2-1
#   ip netns del tb-agg-2-0
#   ip netns del tb-edge-2-1
#   ip netns del tb-edge-2-0
#   ip netns del tb-agg-1-1
#   ip netns del tb-agg-1-0
#   ip netns del tb-edge-1-1
#   ip netns del tb-edge-1-0
#   ip netns del tb-agg-0-1
#   ip netns del tb-agg-0-0
#   ip netns del tb-edge-0-1
#   ip netns del tb-edge-0-0
#   ip netns del tb-host-3-3
#   ip netns del tb-host-3-2
#   ip netns del tb-host-3-1
#   ip netns del tb-host-3-0
#   ip netns del tb-host-2-3
#   ip netns del tb-host-2-2
#   ip netns del tb-host-2-1
#   ip netns del tb-host-2-0
#   ip netns del tb-host-1-3
#   ip netns del tb-host-1-2
#   ip netns del tb-host-1-1
#   ip netns del tb-host-1-0
#   ip netns del tb-host-0-3
#   ip netns del tb-host-0-2
#   ip netns del tb-host-0-1
#   ip netns del tb-host-0-0
