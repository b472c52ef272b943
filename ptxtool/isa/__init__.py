"""What the instruction set is: the instruction table, types, state spaces, special registers, condition codes."""
