"""Decodes what observers wrote: netlink, TCP_INFO, captures."""
