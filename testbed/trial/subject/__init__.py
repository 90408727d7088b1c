"""What a trial looks at: a module for each thing, with what asks for it, reads it and judges it."""
