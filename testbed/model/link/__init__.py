"""Links as values: what an emulator does to packets."""
