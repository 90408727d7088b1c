"""Values as mappings in files: what a key is called, how it is read, written and described, said once, on the value."""
