# r: eth0 is towards a and b, eth1 towards c
