"""Other programs, run as subprocesses."""
