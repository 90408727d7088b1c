"""Computers over SSH: connections, the relay over them, Ansible playbooks."""
