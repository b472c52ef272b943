"""What workers that share a run share: their record, and what goes between their SMs and the memory side."""
