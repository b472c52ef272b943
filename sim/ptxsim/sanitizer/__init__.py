"""Checks of a run without time, as a sanitizer makes them: memory, initialisation, races, barriers.

`prepare.py` makes the records that compiled code works on, `inspect.py` is that code, `reports.py` says what it found.
"""
