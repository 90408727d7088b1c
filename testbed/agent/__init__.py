"""Carries out the steps of a trial where the network is: inside a lab kernel as its first process, or on the host.

Stands alone (standard library only, no other module of the testbed), because a lab kernel starts it with the host's
interpreter and nothing else: `python3 -ISB agent/__main__.py guest|host FOLDER TOOLS PROGRESS [serve]`.  It is the
first process of a guest, or of a process, mount and network namespace of its own on the host; when it goes, everything
goes with it.
FOLDER holds `steps.json` and gets everything that is written; TOOLS holds our compiled programs.  The steps find the
two at /run/trial and /run/tools.  PROGRESS is the file that gets a line for each step, as a sign of life.
"""
