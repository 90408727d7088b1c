"""Executes the steps of a trial where the network is: as the first process of a lab kernel, or on the host.

Stands alone (standard library only, no other module of the testbed), because a lab kernel starts it with the host's
interpreter and nothing else: `python3 -ISB agent/__main__.py guest|host FOLDER TOOLS PROGRESS [serve]`.  It is the
first process of a guest, or of a process, mount and network namespace of its own on the host; when it ends, everything
in them ends.
FOLDER holds `steps.json` and receives all output; TOOLS holds our compiled programs.  The steps see the two as
/run/trial and /run/tools.  The agent writes a line for each step to the file PROGRESS, as a sign of life.
"""
