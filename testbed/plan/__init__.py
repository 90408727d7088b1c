"""The model turned into commands, each with its undo. Pure, no I/O."""
