"""The report of a run: what its network was, whether it can be trusted, what came out, and what happened inside.

`stored_run` reads a run, the other modules turn it into one value, and `page` writes that as one HTML file.
"""
