"""One cell with one seed: orders, execution, evidence, verdict, result."""
