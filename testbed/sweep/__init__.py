"""Many trials: their queue, repetitions, estimate, store and tables."""
