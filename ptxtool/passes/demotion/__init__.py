"""Registers demoted to shared memory: RegDem."""
