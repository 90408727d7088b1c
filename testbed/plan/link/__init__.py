"""An impaired link as commands."""
