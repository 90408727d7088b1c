"""Analysis of results: pure functions over arrays, each with the source of its formula."""
