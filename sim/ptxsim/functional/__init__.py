"""Runs without time: the loop over CTAs and warps, its barriers, tracing."""
