"""OpenFlow controllers: what starts one, our own apps, and the alias under which apps written for Ryu run.

All this runs in the process of a controller, beside its switches, and is imported by nothing else.
"""
