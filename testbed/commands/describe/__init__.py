"""Commands that read files and run nothing: check, plan, schema."""
