"""How long trials will take: what they send, what that costs, and what ended trials say of it."""
