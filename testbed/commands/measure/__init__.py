"""Commands that measure: run, reproduce."""
