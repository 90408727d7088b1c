ip link set br0 type bridge vlan_filtering 1
for port in eth0 eth1 eth2; do bridge vlan del dev $port vid 1; done
bridge vlan add dev eth0 vid 10 pvid untagged
bridge vlan add dev eth1 vid 20 pvid untagged
bridge vlan add dev eth2 vid 10
bridge vlan add dev eth2 vid 20
tc qdisc add dev eth0 clsact
tc filter add dev eth0 ingress matchall action mirred egress mirror dev eth1
