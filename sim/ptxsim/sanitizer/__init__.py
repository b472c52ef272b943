"""The checks of a run without time: memory accesses, initialisation, races, barriers.

`prepare.py` builds the records that compiled code works on, `inspect.py` is that code, `reports.py` turns its findings
into diagnostics.
"""
