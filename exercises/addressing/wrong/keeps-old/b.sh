ip address add 192.168.1.20/24 dev eth0
ip route replace default via 192.168.1.1
