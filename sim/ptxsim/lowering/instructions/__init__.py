"""Lowering rules, a file for each family of instructions."""
