"""Checks that prove again what a pass did, from the modules before and after, without trusting the pass."""
