"""Matrix instructions: `mma` and its relatives, and the arithmetic of tensor cores."""
