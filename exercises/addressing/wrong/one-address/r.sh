ip address flush dev eth0
ip address flush dev eth1
ip address add 192.168.1.1/24 dev eth0
ip route add 192.168.2.0/24 dev eth1
