"""Reproductions of publications: rows of printed results, the runs that they are judged by, their table, and the
command `testbed reproduce`. It uses the testbed through `testbed.api` only, as any other program may.
"""
