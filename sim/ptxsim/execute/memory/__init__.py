"""Loads, stores and atomics of a warp's lanes, and marks on the global memory that they access."""
