"""The memory side: its cycle, and how it catches up with workers that share a run."""
