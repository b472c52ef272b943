"""Differences between two kernels: aligned instructions, corresponding registers, figures."""
