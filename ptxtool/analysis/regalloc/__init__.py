"""Register allocation: live ranges, linear scan, spilling, rematerialisation, physical registers."""
