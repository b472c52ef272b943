"""A second implementation of every instruction, in plain Python, written from the manual."""
