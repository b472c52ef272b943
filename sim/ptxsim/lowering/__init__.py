"""Lowering: a kernel's instructions become records and micro-operations. `ptxsim.lower.lower` is the way in."""
