"""Whole applications: a process of its own, with the simulator for its GPU."""
