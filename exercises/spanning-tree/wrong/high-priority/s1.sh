ip link set br0 type bridge priority 61440 forward_delay 400 max_age 600 hello_time 100
