"""Whether the operands of an instruction fit a form of the instruction table, and the wording where not."""
