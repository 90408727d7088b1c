"""The live page of running networks: what moves through them, their flow tables, terminals in their nodes."""
