"""Commands that measure: run, merge, audit."""
