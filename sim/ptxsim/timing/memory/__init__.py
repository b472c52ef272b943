"""The memory system: coalescing, L1, interconnect, L2 slices and DRAM."""
