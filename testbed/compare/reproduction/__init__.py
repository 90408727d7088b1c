"""What publications printed, row by row, and what comes out here: rows, the runs behind them, and the table."""
