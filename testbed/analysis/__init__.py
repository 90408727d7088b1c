"""From numbers to findings: pure functions over arrays, each with the source of its formula. No I/O."""
