"""Kernels written in Python: numba.cuda and Triton."""
