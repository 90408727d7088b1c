"""The kinds of rules of `expect`: how each is written, what it has done in the network, and how it judges that."""
