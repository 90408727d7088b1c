"""Scripts for Mininet, which run unchanged in a lab kernel."""
