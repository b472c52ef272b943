"""Sweeps: many runs from a specification, in processes or on a cluster, with their results in a store."""
