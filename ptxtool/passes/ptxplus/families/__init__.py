"""Instruction selection for PTXPlus, a file for each family of PTX instructions."""
