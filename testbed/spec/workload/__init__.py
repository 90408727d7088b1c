"""Where workloads and backgrounds can be, and the files of numbers that workloads name."""
