"""Laws that hold at each moment of a workload, judged from what was seen while it ran, not from looks around it."""
