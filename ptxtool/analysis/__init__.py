"""What can be computed about a kernel: pure functions of it, with frozen results and a readable `str`."""
