"""The launches of a timed run, in compiled code: when they begin and end, and which of them an SM serves."""
