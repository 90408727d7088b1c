ip address flush dev eth0
ip address flush dev eth1
ip address add 192.168.1.1/24 dev eth0
ip address add 192.168.2.1/24 dev eth1
echo 1 > /proc/sys/net/ipv4/conf/eth0/proxy_arp
