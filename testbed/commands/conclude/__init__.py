"""Commands over stored results: results, query, compare, plot, report."""
