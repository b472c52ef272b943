"""The papers' experiments again: the runs, their exhibits, and how these compare with the papers."""
