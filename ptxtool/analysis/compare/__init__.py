"""Differences of two kernels: aligned instructions, corresponding registers, figures."""
