"""numba, as this package compiles with it. Imported when something is compiled, and never before (`base/jit.py`)."""
