"""What pages need that a browser shows: a server for this computer alone, harmless JSON, where nodes are drawn."""
