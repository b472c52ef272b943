"""Which registers to demote to shared memory, and what it costs."""
