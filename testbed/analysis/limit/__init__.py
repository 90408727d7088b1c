"""What limited the throughput of flows, trials and cells."""
