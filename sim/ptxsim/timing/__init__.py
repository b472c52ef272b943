"""Runs with time: the machine's records, stages, memory, schedulers, sharing and residency."""
