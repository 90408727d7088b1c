"""Each type of node as commands."""
