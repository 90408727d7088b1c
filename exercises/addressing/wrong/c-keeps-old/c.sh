ip address add 192.168.2.10/24 dev eth0
ip address add 192.168.2.77/24 dev eth0
ip address add 172.16.0.1/12 dev eth0
ip route replace default via 192.168.2.1
