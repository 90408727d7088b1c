"""A sweep on other computers, with Dask: where they are, what travels, what a worker does, who hands out the trials."""
