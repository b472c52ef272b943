"""Passes for sharing: where a warp first needs what is shared, and where it releases it."""
