"""The kernels of a timed run: one, or several that run at the same time."""
