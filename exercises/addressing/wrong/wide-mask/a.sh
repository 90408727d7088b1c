ip address flush dev eth0
ip address add 192.168.1.10/16 dev eth0
ip route add default via 192.168.1.1
