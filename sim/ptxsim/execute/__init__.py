"""Executing instructions: micro-operations over the 32 lanes of a warp, timed or not."""
