"""What runs over a network: for each tool the steps that run it, and what its output says."""
