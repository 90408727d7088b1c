ip address flush dev eth0
ip address add 192.168.2.10/24 dev eth0
ip route add 192.168.1.1 dev eth0
ip route add default via 192.168.1.1
