ip link set br0 type bridge forward_delay 400 max_age 600 hello_time 100
