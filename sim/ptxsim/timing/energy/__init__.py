"""Events of a run that cost energy."""
