"""Energy of a run: events, their cost, and the breakdown."""
