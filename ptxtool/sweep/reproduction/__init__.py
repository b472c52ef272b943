"""The papers' experiments again: which runs they are, what comes of them, and how that compares with the papers."""
