"""What a user can ask for, as frozen values. Pure, no I/O."""
