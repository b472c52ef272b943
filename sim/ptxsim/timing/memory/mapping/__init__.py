"""Which slice, set, bank and row an address belongs to."""
