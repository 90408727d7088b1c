"""Networks that stay up, for people to work in: who keeps them up, who talks with them, and how they are doing."""
