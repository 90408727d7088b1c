ip link set br0 type bridge priority 4096 stp_state 0
