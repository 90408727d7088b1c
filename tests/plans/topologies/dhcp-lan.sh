#!/bin/sh -e
ip netns add tb-laptop
ip netns add tb-phone
ip netns add tb-printer
ip netns add tb-lan
ip netns add tb-gateway
ip netns add tb-isp
ip netns add tb-ns
ip netns add tb-web
ip netns add tb-access.emulator
ip link add name eth0 address 02:54:42:00:00:00 mtu 1500 netns tb-laptop type veth peer name eth0 address 02:54:42:00:00:01 mtu 1500 netns tb-lan
ip link add name eth0 address 02:54:42:00:00:02 mtu 1500 netns tb-phone type veth peer name eth1 address 02:54:42:00:00:03 mtu 1500 netns tb-lan
ip link add name eth0 address 02:54:42:00:00:04 mtu 1500 netns tb-printer type veth peer name eth2 address 02:54:42:00:00:05 mtu 1500 netns tb-lan
ip link add name eth3 address 02:54:42:00:00:06 mtu 1500 netns tb-lan type veth peer name eth0 address 02:54:42:00:00:07 mtu 1500 netns tb-gateway
ip link add name eth1 address 02:54:42:00:00:08 mtu 1500 netns tb-gateway type veth peer name end0 mtu 1500 netns tb-access.emulator
ip link add name wire0 mtu 1500 netns tb-access.emulator type veth peer name wire1 mtu 1500 netns tb-access.emulator
ip link add name eth0 address 02:54:42:00:00:09 mtu 1500 netns tb-isp type veth peer name end1 mtu 1500 netns tb-access.emulator
ip link add name eth1 address 02:54:42:00:00:0a mtu 1500 netns tb-isp type veth peer name eth0 address 02:54:42:00:00:0b mtu 1500 netns tb-ns
ip link add name eth2 address 02:54:42:00:00:0c mtu 1500 netns tb-isp type veth peer name eth0 address 02:54:42:00:00:0d mtu 1500 netns tb-web
ip netns exec tb-laptop sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-laptop sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-laptop sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-laptop sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-laptop link set lo up
ip -n tb-laptop link set eth0 up
ip -n tb-laptop neighbour replace 10.0.0.101 lladdr 02:54:42:00:00:02 dev eth0 nud permanent
ip -n tb-laptop neighbour replace 10.0.0.9 lladdr 02:54:42:00:00:04 dev eth0 nud permanent
ip -n tb-laptop neighbour replace 10.0.0.1 lladdr 02:54:42:00:00:07 dev eth0 nud permanent
ip netns exec tb-phone sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-phone sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-phone sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-phone sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-phone link set lo up
ip -n tb-phone link set eth0 up
ip -n tb-phone neighbour replace 10.0.0.100 lladdr 02:54:42:00:00:00 dev eth0 nud permanent
ip -n tb-phone neighbour replace 10.0.0.9 lladdr 02:54:42:00:00:04 dev eth0 nud permanent
ip -n tb-phone neighbour replace 10.0.0.1 lladdr 02:54:42:00:00:07 dev eth0 nud permanent
ip netns exec tb-printer sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-printer sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-printer sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-printer sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-printer address add 10.0.0.9/24 dev eth0
ip -n tb-printer link set lo up
ip -n tb-printer link set eth0 up
ip -n tb-printer neighbour replace 10.0.0.100 lladdr 02:54:42:00:00:00 dev eth0 nud permanent
ip -n tb-printer neighbour replace 10.0.0.101 lladdr 02:54:42:00:00:02 dev eth0 nud permanent
ip -n tb-printer neighbour replace 10.0.0.1 lladdr 02:54:42:00:00:07 dev eth0 nud permanent
ip -n tb-printer route replace default via 10.0.0.1 dev eth0
ip netns exec tb-lan sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-lan link add br0 type bridge stp_state 0 mcast_snooping 0
ip -n tb-lan link set eth0 master br0
ip -n tb-lan link set eth1 master br0
ip -n tb-lan link set eth2 master br0
ip -n tb-lan link set eth3 master br0
ip -n tb-lan link set br0 up
ip -n tb-lan link set lo up
ip -n tb-lan link set eth0 up
ip -n tb-lan link set eth1 up
ip -n tb-lan link set eth2 up
ip -n tb-lan link set eth3 up
ip netns exec tb-gateway sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-gateway sh -c 'echo 1 > /proc/sys/net/ipv4/ip_forward'
ip netns exec tb-gateway sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/forwarding'
ip netns exec tb-gateway sh -c 'echo 0 > /proc/sys/net/ipv4/conf/all/rp_filter'
ip netns exec tb-gateway sh -c 'echo 0 > /proc/sys/net/ipv4/conf/all/send_redirects'
ip netns exec tb-gateway sh -c 'echo 0 > /proc/sys/net/ipv4/conf/default/send_redirects'
ip netns exec tb-gateway sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth0/send_redirects'
ip netns exec tb-gateway sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth1/send_redirects'
ip -n tb-gateway address add 10.0.0.1/24 dev eth0
ip -n tb-gateway address add 10.0.1.1/24 dev eth1
ip -n tb-gateway link set lo up
ip -n tb-gateway link set eth0 up
ip -n tb-gateway link set eth1 up
ip -n tb-gateway neighbour replace 10.0.0.100 lladdr 02:54:42:00:00:00 dev eth0 nud permanent
ip -n tb-gateway neighbour replace 10.0.0.101 lladdr 02:54:42:00:00:02 dev eth0 nud permanent
ip -n tb-gateway neighbour replace 10.0.0.9 lladdr 02:54:42:00:00:04 dev eth0 nud permanent
ip -n tb-gateway neighbour replace 10.0.1.2 lladdr 02:54:42:00:00:09 dev eth1 nud permanent
ip -n tb-gateway route replace default via 10.0.1.2 dev eth1
ip netns exec tb-isp sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-isp sh -c 'echo 1 > /proc/sys/net/ipv4/ip_forward'
ip netns exec tb-isp sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/forwarding'
ip netns exec tb-isp sh -c 'echo 0 > /proc/sys/net/ipv4/conf/all/rp_filter'
ip netns exec tb-isp sh -c 'echo 0 > /proc/sys/net/ipv4/conf/all/send_redirects'
ip netns exec tb-isp sh -c 'echo 0 > /proc/sys/net/ipv4/conf/default/send_redirects'
ip netns exec tb-isp sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth0/send_redirects'
ip netns exec tb-isp sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth1/send_redirects'
ip netns exec tb-isp sh -c 'echo 0 > /proc/sys/net/ipv4/conf/eth2/send_redirects'
ip -n tb-isp address add 10.0.1.2/24 dev eth0
ip -n tb-isp address add 10.0.2.1/24 dev eth1
ip -n tb-isp address add 10.0.3.1/24 dev eth2
ip -n tb-isp link set lo up
ip -n tb-isp link set eth0 up
ip -n tb-isp link set eth1 up
ip -n tb-isp link set eth2 up
ip -n tb-isp neighbour replace 10.0.1.1 lladdr 02:54:42:00:00:08 dev eth0 nud permanent
ip -n tb-isp neighbour replace 10.0.2.2 lladdr 02:54:42:00:00:0b dev eth1 nud permanent
ip -n tb-isp neighbour replace 10.0.3.2 lladdr 02:54:42:00:00:0d dev eth2 nud permanent
ip -n tb-isp route replace default via 10.0.1.1 dev eth0
ip netns exec tb-ns sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-ns sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-ns sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-ns sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-ns address add 10.0.2.2/24 dev eth0
ip -n tb-ns link set lo up
ip -n tb-ns link set eth0 up
ip -n tb-ns neighbour replace 10.0.2.1 lladdr 02:54:42:00:00:0a dev eth0 nud permanent
ip -n tb-ns route replace default via 10.0.2.1 dev eth0
ip netns exec tb-web sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip netns exec tb-web sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'
ip netns exec tb-web sh -c 'echo '"'"'4096 131072 1073741824'"'"' > /proc/sys/net/ipv4/tcp_rmem'
ip netns exec tb-web sh -c 'echo '"'"'4096 16384 1073741824'"'"' > /proc/sys/net/ipv4/tcp_wmem'
ip -n tb-web address add 10.0.3.2/24 dev eth0
ip -n tb-web link set lo up
ip -n tb-web link set eth0 up
ip -n tb-web neighbour replace 10.0.3.1 lladdr 02:54:42:00:00:0c dev eth0 nud permanent
ip -n tb-web route replace default via 10.0.3.1 dev eth0
ip netns exec tb-lan ethtool -K eth0 tso off gso off tx-udp-segmentation off
ip netns exec tb-laptop ethtool -K eth0 gro on
ip netns exec tb-laptop sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-laptop sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-lan ethtool -K eth1 tso off gso off tx-udp-segmentation off
ip netns exec tb-phone ethtool -K eth0 gro on
ip netns exec tb-phone sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-phone sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-lan ethtool -K eth2 tso off gso off tx-udp-segmentation off
ip netns exec tb-printer ethtool -K eth0 gro on
ip netns exec tb-printer sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-printer sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-isp ethtool -K eth1 tso off gso off tx-udp-segmentation off
ip netns exec tb-ns ethtool -K eth0 gro on
ip netns exec tb-ns sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-ns sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-isp ethtool -K eth2 tso off gso off tx-udp-segmentation off
ip netns exec tb-web ethtool -K eth0 gro on
ip netns exec tb-web sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'
ip netns exec tb-web sh -c 'echo 1 > /sys/class/net/eth0/napi_defer_hard_irqs'
ip netns exec tb-access.emulator sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
ip -n tb-access.emulator link set end0 up
ip -n tb-access.emulator link set end1 up
ip -n tb-access.emulator link set wire0 up
ip -n tb-access.emulator link set wire1 up
ip netns exec tb-access.emulator ethtool -K end0 tso off gso off tx-udp-segmentation off
ip netns exec tb-access.emulator ethtool -K wire0 tso off gso off tx-udp-segmentation off
ip netns exec tb-access.emulator ethtool -K wire1 tso off gso off tx-udp-segmentation off
ip netns exec tb-access.emulator ethtool -K end1 tso off gso off tx-udp-segmentation off
tc -n tb-access.emulator qdisc add dev wire0 root handle 1: netem limit 2147483647 delay 5000us
tc -n tb-access.emulator qdisc add dev end1 root handle 2: tbf rate 10000000bit burst 2271 limit 151400
tc -n tb-access.emulator qdisc add dev wire1 root handle 1: netem limit 2147483647 delay 5000us
tc -n tb-access.emulator qdisc add dev end0 root handle 2: tbf rate 10000000bit burst 2271 limit 151400
ip netns exec tb-access.emulator nft 'add table netdev testbed'
ip netns exec tb-access.emulator nft 'add counter netdev testbed data-forward'
ip netns exec tb-access.emulator nft 'add counter netdev testbed dropped-forward'
ip netns exec tb-access.emulator nft 'add counter netdev testbed oversize-forward'
ip netns exec tb-access.emulator nft 'add counter netdev testbed data-backward'
ip netns exec tb-access.emulator nft 'add counter netdev testbed dropped-backward'
ip netns exec tb-access.emulator nft 'add counter netdev testbed oversize-backward'
ip netns exec tb-access.emulator nft 'add chain netdev testbed from-end0 { type filter hook ingress device "end0" priority 0 ; }'
ip netns exec tb-access.emulator nft 'add rule netdev testbed from-end0 fwd to "wire0"'
ip netns exec tb-access.emulator nft 'add chain netdev testbed from-end1 { type filter hook ingress device "end1" priority 0 ; }'
ip netns exec tb-access.emulator nft 'add rule netdev testbed from-end1 fwd to "wire1"'
ip netns exec tb-access.emulator nft 'add chain netdev testbed data-forward'
ip netns exec tb-access.emulator nft 'add rule netdev testbed data-forward counter name "data-forward"'
ip netns exec tb-access.emulator nft 'add rule netdev testbed data-forward meta length > 1500 counter name "oversize-forward"'
ip netns exec tb-access.emulator nft 'add chain netdev testbed from-wire1 { type filter hook ingress device "wire1" priority 0 ; }'
ip netns exec tb-access.emulator nft 'add rule netdev testbed from-wire1 meta l4proto tcp meta length > 100 jump data-forward'
ip netns exec tb-access.emulator nft 'add rule netdev testbed from-wire1 meta l4proto udp jump data-forward'
ip netns exec tb-access.emulator nft 'add rule netdev testbed from-wire1 fwd to "end1"'
ip netns exec tb-access.emulator nft 'add chain netdev testbed data-backward'
ip netns exec tb-access.emulator nft 'add rule netdev testbed data-backward counter name "data-backward"'
ip netns exec tb-access.emulator nft 'add rule netdev testbed data-backward meta length > 1500 counter name "oversize-backward"'
ip netns exec tb-access.emulator nft 'add chain netdev testbed from-wire0 { type filter hook ingress device "wire0" priority 0 ; }'
ip netns exec tb-access.emulator nft 'add rule netdev testbed from-wire0 meta l4proto tcp meta length > 100 jump data-backward'
ip netns exec tb-access.emulator nft 'add rule netdev testbed from-wire0 meta l4proto udp jump data-backward'
ip netns exec tb-access.emulator nft 'add rule netdev testbed from-wire0 fwd to "end0"'
mkdir -p /run/tb-service/laptop
mkdir -p /run/tb-service/phone
mkdir -p /run/tb-service/printer
mkdir -p /run/tb-service/gateway
mkdir -p /run/tb-service/isp
mkdir -p /run/tb-service/ns
mkdir -p /run/tb-service/web
printf %s 'search office.lab
nameserver 10.0.0.1
nameserver 10.0.2.2
' | tee /run/tb-service/printer/resolv.conf > /dev/null
printf %s 'search office.lab
nameserver 10.0.0.1
nameserver 10.0.2.2
' | tee /run/tb-service/gateway/resolv.conf > /dev/null
printf %s 'search office.lab
nameserver 10.0.1.1
nameserver 10.0.2.2
' | tee /run/tb-service/isp/resolv.conf > /dev/null
printf %s 'search office.lab
nameserver 10.0.2.2
nameserver 10.0.0.1
' | tee /run/tb-service/ns/resolv.conf > /dev/null
printf %s 'search office.lab
nameserver 10.0.0.1
nameserver 10.0.2.2
' | tee /run/tb-service/web/resolv.conf > /dev/null
awk '$1 < 2 { system("sleep " 2 - $1) }' /proc/uptime
printf %s '10.0.0.100 laptop.office.lab
10.0.0.101 phone.office.lab
10.0.0.9 printer.office.lab
10.0.0.1 gateway.office.lab
10.0.1.1 gateway.office.lab
10.0.1.2 isp.office.lab
10.0.2.1 isp.office.lab
10.0.3.1 isp.office.lab
10.0.2.2 ns.office.lab
10.0.3.2 web.office.lab
' | tee /run/tb-service/gateway/hosts > /dev/null
printf %s 'user=root
pid-file=/run/tb-service/gateway/dnsmasq.pid
log-facility=/run/tb-service/gateway/dnsmasq.log
no-resolv
no-hosts
log-queries
addn-hosts=/run/tb-service/gateway/hosts
domain=office.lab
local=/office.lab/
server=10.0.2.2
log-dhcp
dhcp-authoritative
dhcp-broadcast
dhcp-leasefile=/run/tb-service/gateway/leases
dhcp-range=10.0.0.100,10.0.0.199,255.255.255.0,3600
dhcp-host=02:54:42:00:00:00,set:laptop,10.0.0.100,laptop
dhcp-host=02:54:42:00:00:02,set:phone,10.0.0.101,phone
dhcp-option=option:router,10.0.0.1
dhcp-option=option:dns-server,10.0.0.1,10.0.2.2
' | tee /run/tb-service/gateway/dnsmasq.conf > /dev/null
ip netns exec tb-gateway dnsmasq --conf-file=/run/tb-service/gateway/dnsmasq.conf
printf %s '10.0.0.100 laptop.net.lab
10.0.0.101 phone.net.lab
10.0.0.9 printer.net.lab
10.0.0.1 gateway.net.lab
10.0.1.1 gateway.net.lab
10.0.1.2 isp.net.lab
10.0.2.1 isp.net.lab
10.0.3.1 isp.net.lab
10.0.2.2 ns.net.lab
10.0.3.2 web.net.lab
10.0.3.2 www.example.org
' | tee /run/tb-service/ns/hosts > /dev/null
printf %s 'user=root
pid-file=/run/tb-service/ns/dnsmasq.pid
log-facility=/run/tb-service/ns/dnsmasq.log
no-resolv
no-hosts
log-queries
addn-hosts=/run/tb-service/ns/hosts
domain=net.lab
local=/net.lab/
local=/www.example.org/
' | tee /run/tb-service/ns/dnsmasq.conf > /dev/null
ip netns exec tb-ns dnsmasq --conf-file=/run/tb-service/ns/dnsmasq.conf
printf %s '#!/bin/sh
# What udhcpc does with a lease: the address, the routes, and who is asked for names. $resolver is a file.
case $1 in
    deconfig)
        ip -4 address flush dev "$interface"
        ip link set "$interface" up
        ;;
    bound | renew)
        ip -4 address replace "$ip/$mask" dev "$interface"
        if [ -n "$staticroutes" ]; then
            set -- $staticroutes
            while [ $# -gt 1 ]; do
                ip -4 route replace "$1" via "$2" dev "$interface"
                shift 2
            done
        elif [ -n "$router" ]; then
            ip -4 route replace default via "${router%% *}" dev "$interface"
        fi
        if [ -n "$resolver" ]; then
            {
                [ -z "$domain" ] || echo "search $domain"
                for each in $dns; do echo "nameserver $each"; done
            } >"$resolver"
        fi
        ;;
esac
' | tee /run/tb-service/lease.sh > /dev/null
sh -c 'chmod 755 /run/tb-service/lease.sh'
ip netns exec tb-laptop sh -c 'export resolver="$5/resolv.conf"
busybox udhcpc -i "$1" -O staticroutes -n -t "$2" -T "$3" -s "$4" -p "$5/udhcpc.pid" || exit
ip -4 address show dev "$1" | grep -qF " $6 " && exit
echo "$1 got another address than $6:" $(ip -4 -brief address show dev "$1") >&2
exit 1' lease eth0 60 1 /run/tb-service/lease.sh /run/tb-service/laptop 10.0.0.100/24
ip netns exec tb-phone sh -c 'export resolver="$5/resolv.conf"
busybox udhcpc -i "$1" -O staticroutes -n -t "$2" -T "$3" -s "$4" -p "$5/udhcpc.pid" || exit
ip -4 address show dev "$1" | grep -qF " $6 " && exit
echo "$1 got another address than $6:" $(ip -4 -brief address show dev "$1") >&2
exit 1' lease eth0 60 1 /run/tb-service/lease.sh /run/tb-service/phone 10.0.0.101/24

# To take it down:
#   ip netns exec tb-phone sh -c 'kill -TERM "$(cat /run/tb-service/phone/udhcpc.pid)"'
#   ip netns exec tb-laptop sh -c 'kill -TERM "$(cat /run/tb-service/laptop/udhcpc.pid)"'
#   rm /run/tb-service/lease.sh
#   ip netns exec tb-ns sh -c 'kill -TERM "$(cat /run/tb-service/ns/dnsmasq.pid)"'
#   ip netns exec tb-gateway sh -c 'kill -TERM "$(cat /run/tb-service/gateway/dnsmasq.pid)"'
#   rm -r /run/tb-service/web
#   rm -r /run/tb-service/ns
#   rm -r /run/tb-service/isp
#   rm -r /run/tb-service/gateway
#   rm -r /run/tb-service/printer
#   rm -r /run/tb-service/phone
#   rm -r /run/tb-service/laptop
#   ip netns exec tb-access.emulator nft 'delete table netdev testbed'
#   tc -n tb-access.emulator qdisc del dev end0 root
#   tc -n tb-access.emulator qdisc del dev wire1 root
#   tc -n tb-access.emulator qdisc del dev end1 root
#   tc -n tb-access.emulator qdisc del dev wire0 root
#   ip -n tb-lan link del br0
#   ip netns del tb-access.emulator
#   ip netns del tb-web
#   ip netns del tb-ns
#   ip netns del tb-isp
#   ip netns del tb-gateway
#   ip netns del tb-lan
#   ip netns del tb-printer
#   ip netns del tb-phone
#   ip netns del tb-laptop
