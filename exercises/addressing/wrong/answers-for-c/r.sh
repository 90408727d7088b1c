ip address flush dev eth0
ip address flush dev eth1
ip address add 192.168.1.1/24 dev eth0
ip address add 192.168.2.1/24 dev eth1
nft add table ip n
nft add chain ip n pre '{ type nat hook prerouting priority -100; }'
nft add rule ip n pre ip daddr 192.168.2.10 icmp type echo-request redirect
