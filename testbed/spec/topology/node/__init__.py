"""What a topology file says of nodes, by their types."""
