# b: which addresses does eth0 have now? ip address show
