"""A change of congestion control and its base: what differs, what runs on both, and the verdict."""
