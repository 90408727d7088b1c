"""What a topology needs, what this computer has, and what to type for the rest."""
