"""The networks between SMs and L2 slices: of flits, or of packets."""
